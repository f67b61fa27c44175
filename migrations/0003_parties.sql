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
  -- What the party has paid and not yet used, in minor units.
  wallet_balance bigint not null default 0 check (wallet_balance >= 0),
  portal_status text not null default 'NONE'
    check (portal_status in ('NONE', 'INVITED', 'ACTIVE', 'LOCKED', 'INACTIVE')),
  archived boolean not null default false,
  search_text text not null,
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  modified_by text not null,
  ts bigint not null,
  primary key (tenant_id, party_id),
  constraint parties_party_number_key unique (tenant_id, party_number)
);
create index parties_search on parties using gin (tenant_id, search_text gin_trgm_ops);
create index parties_email on parties (tenant_id, lower(email)) where email is not null;
create index parties_contacts on parties using gin (tenant_id, contacts jsonb_path_ops);
create index parties_updated on parties (tenant_id, ts);
create index parties_wallet on parties (tenant_id, party_id) where wallet_balance <> 0;
create index parties_name on parties (tenant_id, name, party_id);
call wall_off('parties');
grant select, insert, update on parties to billwright_api;
grant select on parties to billwright_worker, billwright_search;

alter table logins
  add foreign key (tenant_id, party_id) references parties (tenant_id, party_id);
create index logins_party on logins (tenant_id, party_id) where party_id is not null;

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
create index billing_accounts_label on billing_accounts (tenant_id, label);
create index billing_accounts_group on billing_accounts (tenant_id, billing_group_id, account_id)
  where billing_group_id is not null;
call wall_off('billing_accounts');
grant select, insert, update on billing_accounts to billwright_api;
grant select on billing_accounts to billwright_worker;

-- What a party, its accounts and its groups show of subscriptions.
create table subscriptions (
  tenant_id bigint not null references tenants (tenant_id),
  subscription_id bigint not null,
  subscription_number text not null,
  reference_number text,
  context_code text not null,
  plan_code text not null,
  plan_label text not null,
  account_id bigint not null,
  party_id bigint not null,
  status text not null check (status in ('Pending', 'Active', 'Disconnected', 'Closed')),
  primary key (tenant_id, subscription_id),
  constraint subscriptions_number_key unique (tenant_id, subscription_number),
  foreign key (tenant_id, party_id) references parties (tenant_id, party_id),
  foreign key (tenant_id, account_id) references billing_accounts (tenant_id, account_id)
);
create index subscriptions_party on subscriptions (tenant_id, party_id, subscription_id);
create index subscriptions_account on subscriptions (tenant_id, account_id, subscription_id);
call wall_off('subscriptions');
grant select on subscriptions to billwright_api, billwright_worker;

-- What is owed on a subscription, in minor units.
create table subscription_balances (
  tenant_id bigint not null,
  subscription_id bigint not null,
  receivable bigint not null,
  primary key (tenant_id, subscription_id),
  foreign key (tenant_id, subscription_id) references subscriptions (tenant_id, subscription_id)
);
call wall_off('subscription_balances');
grant select on subscription_balances to billwright_api, billwright_worker;

-- Keeps row_blocks for parties. Statement-level, so that a bulk load pays once per block.
create function count_parties() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'INSERT' then
    insert into row_blocks as b (tenant_id, kind, block, live_rows, all_rows)
    select tenant_id, 'party', party_id / 1000, count(*) filter (where not archived), count(*)
    from new_rows
    group by tenant_id, party_id / 1000
    order by tenant_id, party_id / 1000
    on conflict (tenant_id, kind, block) do update
      set live_rows = b.live_rows + excluded.live_rows, all_rows = b.all_rows + excluded.all_rows;
  else
    update row_blocks b
    set live_rows = b.live_rows + changed.live_delta
    from (
      select n.tenant_id, n.party_id / 1000 as block,
        sum(case when n.archived then -1 else 1 end) as live_delta
      from new_rows n
      join old_rows o on o.tenant_id = n.tenant_id and o.party_id = n.party_id
      where n.archived <> o.archived
      group by n.tenant_id, n.party_id / 1000
    ) changed
    where b.tenant_id = changed.tenant_id and b.kind = 'party' and b.block = changed.block;
  end if;
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

-- The search functions run without row-level security (see billwright_search) and each names the
-- tenant itself. The first line of search_text is the name.
create function search_parties(
  pattern text, name_pattern text, wanted_kind text, with_archived boolean
) returns setof bigint
language sql stable security definer rows 100
set search_path = public, pg_temp
begin atomic
  select party_id
  from parties
  where tenant_id = require_tenant()
    and search_text like pattern
    and (name_pattern is null or split_part(search_text, E'\n', 1) like name_pattern)
    and (wanted_kind is null or kind = wanted_kind)
    and (with_archived or not archived);
end;

-- For one or two letters, of which the trigram index knows nothing: reading the whole index and
-- then the table takes longer than reading the table. The appended nothing keeps the index out.
create function scan_parties(
  pattern text, name_pattern text, wanted_kind text, with_archived boolean
) returns setof bigint
language sql stable security definer rows 100000
set search_path = public, pg_temp
begin atomic
  select party_id
  from parties
  where tenant_id = require_tenant()
    and search_text || '' like pattern
    and (name_pattern is null or split_part(search_text, E'\n', 1) like name_pattern)
    and (wanted_kind is null or kind = wanted_kind)
    and (with_archived or not archived);
end;

create function find_parties_by_email(wanted text) returns setof bigint
language sql stable security definer rows 1
set search_path = public, pg_temp
begin atomic
  select party_id
  from parties
  where tenant_id = require_tenant()
    and lower(email) = lower(wanted);
end;

create function find_parties_by_contact(wanted text) returns setof bigint
language sql stable security definer rows 5
set search_path = public, pg_temp
begin atomic
  select party_id
  from parties
  where tenant_id = require_tenant()
    and contacts @> jsonb_build_array(jsonb_build_object('contactValue', wanted));
end;

alter function search_parties(text, text, text, boolean) owner to billwright_search;
alter function scan_parties(text, text, text, boolean) owner to billwright_search;
alter function find_parties_by_email(text) owner to billwright_search;
alter function find_parties_by_contact(text) owner to billwright_search;
revoke all on function search_parties(text, text, text, boolean) from public;
revoke all on function scan_parties(text, text, text, boolean) from public;
revoke all on function find_parties_by_email(text) from public;
revoke all on function find_parties_by_contact(text) from public;
grant execute on function search_parties(text, text, text, boolean) to billwright_api;
grant execute on function scan_parties(text, text, text, boolean) to billwright_api;
grant execute on function find_parties_by_email(text) to billwright_api;
grant execute on function find_parties_by_contact(text) to billwright_api;
revoke create on schema public from billwright_search;
