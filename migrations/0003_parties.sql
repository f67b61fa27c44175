-- Parties, their billing accounts, and the groups that collect accounts.

create table parties (
  tenant_id bigint not null references tenants (tenant_id),
  party_id bigint not null,
  party_number bigint not null,
  kind text not null check (kind in ('Customer', 'Employee', 'Vendor')),
  name text not null check (name <> ''),
  email text,
  country text check (country ~ '^[A-Z]{2}$'),
  contacts jsonb not null default '[]' check (jsonb_typeof(contacts) = 'array'),
  identity_number text,
  tax_number text,
  address jsonb,
  language text,
  competencies jsonb not null default '[]' check (jsonb_typeof(competencies) = 'array'),
  portal_status text not null default 'NONE'
    check (portal_status in ('NONE', 'INVITED', 'ACTIVE', 'LOCKED', 'INACTIVE')),
  archived boolean not null default false,
  search_text text not null,
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  modified_by text not null,
  ts bigint not null,
  delivery_channels text[] check (
    delivery_channels <@ '{Email,SMS,WhatsApp,Portal,Print,Webhook}'::text[]
    and cardinality(delivery_channels) > 0
  ),
  primary key (tenant_id, party_id),
  constraint parties_party_number_key unique (tenant_id, party_number)
);
comment on table parties is 'A person or a company: customer, employee or vendor.';
comment on column parties.search_text is 'The first line is the name.';
comment on column parties.delivery_channels is
  'The channels by which the party wants its bills. Null: those of the workspace.';
create index parties_search on parties using gin (tenant_id, search_text gin_trgm_ops);
create index parties_email on parties (tenant_id, lower(email)) where email is not null;
create index parties_contacts on parties using gin (tenant_id, contacts jsonb_path_ops);
-- Thousands that were imported at once have one time: their ids tell them apart.
create index parties_updated on parties (tenant_id, ts, party_id);
create index parties_name on parties (tenant_id, name, party_id);
call wall_off('parties');
grant select, insert, update on parties to billwright_api;
grant select on parties to billwright_worker, billwright_search;

alter table logins
  add foreign key (tenant_id, party_id) references parties (tenant_id, party_id);

-- Keeps row_blocks for parties. Statement-level, so that a bulk load pays once per block.
create function count_parties() returns trigger
language plpgsql
as $$
declare
  changed record;
begin
  if tg_op = 'INSERT' then
    insert into row_blocks as b (tenant_id, kind, block, live_rows, all_rows)
    select tenant_id, 'party', party_id / 1000, count(*) filter (where not archived), count(*)
    from new_rows
    group by tenant_id, party_id / 1000
    order by tenant_id, party_id / 1000
    on conflict (tenant_id, kind, block) do update
      set live_rows = b.live_rows + excluded.live_rows, all_rows = b.all_rows + excluded.all_rows;
    return null;
  end if;
  for changed in
    select tenant_id, party_id / 1000 as block, sum(step) as delta
    from (
      select tenant_id, party_id, 1 as step from new_rows where not archived
      union all
      select tenant_id, party_id, -1 from old_rows where not archived
    ) steps
    group by 1, 2
    having sum(step) <> 0
    order by 1, 2
  loop
    update row_blocks set live_rows = live_rows + changed.delta
    where tenant_id = changed.tenant_id and kind = 'party' and block = changed.block;
  end loop;
  return null;
end
$$;
create trigger parties_counted_on_insert
  after insert on parties
  referencing new table as new_rows
  for each statement execute function count_parties();
create trigger parties_counted_on_update
  after update on parties
  referencing old table as old_rows new table as new_rows
  for each statement execute function count_parties();

create table billing_groups (
  tenant_id bigint not null references tenants (tenant_id),
  billing_group_id bigint not null,
  name text not null check (name <> ''),
  description text,
  billing_period_id bigint,
  archived boolean not null default false,
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  modified_by text not null,
  ts bigint not null,
  primary key (tenant_id, billing_group_id),
  constraint billing_groups_period_fkey foreign key (tenant_id, billing_period_id)
    references billing_periods (tenant_id, period_id)
);
comment on table billing_groups is 'A group of billing accounts.';
create unique index billing_groups_name_key on billing_groups (tenant_id, lower(name));
call wall_off('billing_groups');
grant select, insert, update on billing_groups to billwright_api;
grant select on billing_groups to billwright_worker;

create table billing_accounts (
  tenant_id bigint not null references tenants (tenant_id),
  account_id bigint not null,
  party_id bigint not null,
  label text not null check (label <> ''),
  billing_group_id bigint,
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  modified_by text not null,
  ts bigint not null,
  primary key (tenant_id, account_id),
  -- Deferrable, so that it is checked after a statement and not after each row: two accounts can
  -- swap their labels.
  constraint billing_accounts_label_key unique (tenant_id, party_id, label) deferrable,
  foreign key (tenant_id, party_id) references parties (tenant_id, party_id),
  foreign key (tenant_id, billing_group_id)
    references billing_groups (tenant_id, billing_group_id)
);
comment on table billing_accounts is
  'What the subscriptions of a party are grouped in for billing.';
create index billing_accounts_label on billing_accounts (tenant_id, label);
create index billing_accounts_group on billing_accounts (tenant_id, billing_group_id, account_id)
  where billing_group_id is not null;
call wall_off('billing_accounts');
grant select, insert, update on billing_accounts to billwright_api;
grant select on billing_accounts to billwright_worker;

-- A function can only be given to a role that may create in its schema; this is taken back below.
grant create on schema public to billwright_search;

-- The search functions run without row-level security (see billwright_search) and each names the
-- tenant itself.
create function search_parties(
  pattern text, name_pattern text, wanted_kind text, with_archived boolean
) returns setof bigint
language sql stable security definer rows 100
set search_path = public, pg_temp
as $$
  select party_id
  from parties
  where tenant_id = require_tenant()
    and search_text like pattern
    and (name_pattern is null or split_part(search_text, E'\n', 1) like name_pattern)
    and (wanted_kind is null or kind = wanted_kind)
    and (with_archived or not archived);
$$;
alter function search_parties(text, text, text, boolean) owner to billwright_search;
revoke all on function search_parties(text, text, text, boolean) from public;
grant execute on function search_parties(text, text, text, boolean) to billwright_api;

-- For one or two letters, which the trigram index does not support: reading the whole index and
-- then the table takes longer than reading the table. The appended empty string keeps the index
-- out.
create function scan_parties(
  pattern text, name_pattern text, wanted_kind text, with_archived boolean
) returns setof bigint
language sql stable security definer rows 100000
set search_path = public, pg_temp
as $$
  select party_id
  from parties
  where tenant_id = require_tenant()
    and search_text || '' like pattern
    and (name_pattern is null or split_part(search_text, E'\n', 1) like name_pattern)
    and (wanted_kind is null or kind = wanted_kind)
    and (with_archived or not archived);
$$;
alter function scan_parties(text, text, text, boolean) owner to billwright_search;
revoke all on function scan_parties(text, text, text, boolean) from public;
grant execute on function scan_parties(text, text, text, boolean) to billwright_api;

create function find_parties_by_email(wanted text) returns setof bigint
language sql stable security definer rows 1
set search_path = public, pg_temp
as $$
  select party_id
  from parties
  where tenant_id = require_tenant()
    and lower(email) = lower(wanted);
$$;
alter function find_parties_by_email(text) owner to billwright_search;
revoke all on function find_parties_by_email(text) from public;
grant execute on function find_parties_by_email(text) to billwright_api;

create function find_parties_by_contact(wanted text) returns setof bigint
language sql stable security definer rows 5
set search_path = public, pg_temp
as $$
  select party_id
  from parties
  where tenant_id = require_tenant()
    and contacts @> jsonb_build_array(jsonb_build_object('contactValue', wanted));
$$;
alter function find_parties_by_contact(text) owner to billwright_search;
revoke all on function find_parties_by_contact(text) from public;
grant execute on function find_parties_by_contact(text) to billwright_api;

revoke create on schema public from billwright_search;
