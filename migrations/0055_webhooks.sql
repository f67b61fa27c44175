-- Webhooks: addresses of receivers, and the messages that take events to them.

create table webhooks (
  tenant_id bigint not null references tenants (tenant_id),
  webhook_id bigint not null,
  url text not null check (url ~ '^https?://' and length(url) <= 2000),
  description text,
  types text[] not null default '{}',
  status text not null default 'Active' check (status in ('Active', 'Paused', 'Disabled')),
  reason text,
  secret bytea not null,
  old_secret bytea,
  old_secret_until timestamptz,
  read_in xid8 not null default pg_current_xact_id(),
  read_event_id bigint not null default 9007199254740991,
  last_sequence bigint not null default 0,
  failures integer not null default 0 check (failures >= 0),
  last_success_at timestamptz,
  last_failure_at timestamptz,
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  modified_by text not null,
  ts bigint not null,
  primary key (tenant_id, webhook_id),
  check ((old_secret is null) = (old_secret_until is null))
);
comment on table webhooks is
  'An address to which events of the workspace are sent, with what signs them. Events before it was '
  'made are not sent to it.';
comment on column webhooks.types is 'The types of events that it receives; empty for all.';
comment on column webhooks.status is
  'Paused: by an administrator. Disabled: the receiver answered 410 Gone. Both keep their place.';
comment on column webhooks.secret is
  'Encrypted with the key of the installation, which is not in the database.';
comment on column webhooks.old_secret is
  'The secret before the last change. Messages are signed with both until old_secret_until.';
comment on column webhooks.read_in is
  'With read_event_id the last event of which messages were made, in the order of events.';
comment on column webhooks.last_sequence is 'The sequence of the newest message.';
comment on column webhooks.failures is 'Batches of attempts that failed since the last success.';
call wall_off('webhooks');
grant select, insert on webhooks to billwright_api;
grant update (url, description, types, status, reason, secret, old_secret, old_secret_until,
  last_sequence, modified_at, modified_by, ts) on webhooks to billwright_api;
grant select on webhooks to billwright_worker;
grant update (status, reason, read_in, read_event_id, last_sequence, failures, last_success_at,
  last_failure_at, modified_at, modified_by, ts) on webhooks to billwright_worker;

create table webhook_messages (
  tenant_id bigint not null,
  webhook_id bigint not null,
  sequence bigint not null check (sequence > 0),
  event_id bigint not null,
  item integer not null default 0 check (item >= 0),
  type text not null,
  status text not null default 'Queued'
    check (status in ('Queued', 'Sending', 'Delivered', 'Dead')),
  attempts integer not null default 0,
  failures smallint not null default 0,
  next_attempt_at timestamptz,
  created_at timestamptz not null,
  ended_at timestamptz,
  primary key (tenant_id, webhook_id, sequence),
  constraint webhook_messages_once unique (tenant_id, webhook_id, event_id, item),
  foreign key (tenant_id, webhook_id) references webhooks (tenant_id, webhook_id),
  check ((status in ('Queued', 'Sending')) = (next_attempt_at is not null)),
  check ((status in ('Delivered', 'Dead')) = (ended_at is not null))
);
comment on table webhook_messages is
  'An event, or one thing of an event about many, on its way to a webhook.';
comment on column webhook_messages.sequence is
  'Counts the messages of a webhook in the order of events, without gaps.';
comment on column webhook_messages.item is
  'Which thing of an event about many, from 1; 0 for an event about one.';
comment on column webhook_messages.attempts is
  'How often it was sent. Only the worker that counted last may record the outcome.';
comment on column webhook_messages.failures is
  'Attempts that failed in this round. Redelivery begins a new round.';
comment on column webhook_messages.next_attempt_at is
  'When it is sent, or sent again if the worker that sends it now is not heard of until then.';
create index webhook_messages_due
  on webhook_messages (tenant_id, webhook_id, next_attempt_at, sequence)
  where next_attempt_at is not null;
create index webhook_messages_ended on webhook_messages (tenant_id, ended_at)
  where ended_at is not null;
create index webhook_messages_status
  on webhook_messages (tenant_id, status, webhook_id, sequence);
create index webhook_messages_event on webhook_messages (tenant_id, event_id);
call wall_off('webhook_messages');
grant select, insert on webhook_messages to billwright_api, billwright_worker;
grant update (status, failures, next_attempt_at, ended_at) on webhook_messages to billwright_api;
grant update (status, attempts, failures, next_attempt_at, ended_at) on webhook_messages
  to billwright_worker;
grant delete on webhook_messages to billwright_worker;

create table webhook_attempts (
  tenant_id bigint not null,
  webhook_id bigint not null,
  sequence bigint not null,
  attempt integer not null check (attempt > 0),
  started_at timestamptz not null,
  ended_at timestamptz,
  outcome text check (outcome in ('Delivered', 'Failed', 'Refused')),
  http_status smallint,
  detail text,
  primary key (tenant_id, webhook_id, sequence, attempt),
  foreign key (tenant_id, webhook_id, sequence)
    references webhook_messages (tenant_id, webhook_id, sequence) on delete cascade,
  check ((outcome is null) = (ended_at is null))
);
comment on table webhook_attempts is
  'One attempt to send a message. It is written before the message is sent.';
comment on column webhook_attempts.outcome is
  'Null while it is sent, and for ever if the worker ended meanwhile. Refused: the target is not '
  'allowed, and nothing was sent.';
call wall_off('webhook_attempts');
grant select on webhook_attempts to billwright_api;
grant select, insert, delete on webhook_attempts to billwright_worker;
grant update (ended_at, outcome, http_status, detail) on webhook_attempts to billwright_worker;

create table workspace_webhooks (
  tenant_id bigint not null primary key references workspaces (tenant_id)
);
comment on table workspace_webhooks is
  'Workspaces that have a webhook, so that workers look at no other. It has no wall and no data of '
  'a workspace; the API role has no right to it.';
grant select on workspace_webhooks to billwright_worker;

create function note_webhook() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
begin
  insert into workspace_webhooks (tenant_id)
  select w.tenant_id from workspaces w where w.tenant_id = require_tenant()
  on conflict do nothing;
  return null;
end
$$;
revoke all on function note_webhook() from public;
create trigger webhooks_noted
  after insert on webhooks
  for each statement execute function note_webhook();

-- Active webhooks with a message that is due, or with events of which no messages were made yet.
create function webhooks_with_work(at timestamptz)
returns table (tenant_id bigint, webhook_id bigint, failures integer)
language plpgsql
as $$
declare
  found bigint;
begin
  for found in
    select w.tenant_id from workspace_webhooks w order by w.tenant_id
  loop
    perform set_config('app.tenant', found::text, true);
    return query
      select h.tenant_id, h.webhook_id, h.failures
      from webhooks h
      where h.tenant_id = found and h.status = 'Active' and (
        exists (
          select from webhook_messages m
          where m.tenant_id = found and m.webhook_id = h.webhook_id and m.next_attempt_at <= at
        )
        or exists (
          select from events e
          where e.tenant_id = found and (e.written_in, e.event_id) > (h.read_in, h.read_event_id)
            and e.written_in < pg_snapshot_xmin(pg_current_snapshot())
        )
      );
  end loop;
end
$$;

alter table operation_counts
  drop constraint operation_counts_kind_check,
  add constraint operation_counts_kind_check check (kind in ('job', 'delivery', 'webhook'));
