-- Payment gateways: what notifies of payments, and where their money arrives.

create table gateways (
  tenant_id bigint not null references tenants (tenant_id),
  adapter text not null check (adapter ~ '^[a-z][a-z0-9-]{0,39}$'),
  bank_account_id bigint not null,
  secret bytea not null,
  status text not null default 'Active' check (status in ('Active', 'Paused')),
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  modified_by text not null,
  ts bigint not null,
  primary key (tenant_id, adapter),
  constraint gateways_account_fkey foreign key (tenant_id, bank_account_id)
    references bank_accounts (tenant_id, bank_account_id)
);
comment on table gateways is
  'A payment gateway whose signed notices the workspace accepts. Each notice becomes a line of a '
  'bank file of the day.';
comment on column gateways.adapter is 'The name of the adapter that reads its notices.';
comment on column gateways.bank_account_id is 'The bank account to which the gateway pays out.';
comment on column gateways.secret is
  'Encrypted with the key of the installation, which is not in the database.';
create index gateways_account on gateways (tenant_id, bank_account_id);
call wall_off('gateways');
grant select, insert, update on gateways to billwright_api;

alter table bank_files
  drop constraint bank_files_format_check,
  add constraint bank_files_format_check check (format in ('CSV', 'CAMT', 'MT940', 'GATEWAY'));
