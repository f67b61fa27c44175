-- Refunds and write-offs that wait for a second person.

create table approvals (
  tenant_id bigint not null references tenants (tenant_id),
  approval_id bigint not null,
  kind text not null check (kind in ('Refund', 'DepositRefund', 'Adjustments')),
  reference text not null,
  amount bigint not null check (amount > 0),
  request jsonb not null,
  status text not null default 'Waiting' check (status in ('Waiting', 'Approved', 'Rejected')),
  requested_at timestamptz not null,
  requested_by text not null,
  decided_at timestamptz,
  decided_by text,
  reason text,
  primary key (tenant_id, approval_id),
  check ((status = 'Waiting') = (decided_by is null)),
  check (decided_by <> requested_by)
);
comment on table approvals is
  'A refund or write-off above the approval limit of the workspace. It is booked when a second '
  'person approves it.';
comment on column approvals.reference is 'Of the refund, or of the first adjustment of the call.';
comment on column approvals.request is 'The call that waits, as it was sent.';
create unique index approvals_waiting on approvals (tenant_id, kind, reference)
  where status = 'Waiting';
call wall_off('approvals');
grant select, insert on approvals to billwright_api;
grant select on approvals to billwright_worker;
grant update (status, decided_at, decided_by, reason) on approvals to billwright_api;

alter table tenants add column approval_limit bigint check (approval_limit >= 0);
comment on column tenants.approval_limit is
  'Refunds and write-offs above it need a second person. In minor units; null if none do.';
