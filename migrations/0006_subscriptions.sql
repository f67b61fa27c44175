-- Subscriptions: who takes which plan, from when and with what; the meters that measure it;
-- readings.

create extension if not exists btree_gist;

-- No operation could fill the first sketch of these tables; should somebody have done so by hand,
-- nothing is thrown away. Row-level security binds the owner too: each workspace is entered in
-- turn.
do $$
declare
  one bigint;
begin
  for one in select tenant_id from workspaces order by tenant_id loop
    perform set_config('app.tenant', one::text, true);
    if exists (select from subscriptions) then
      raise exception 'workspace % holds subscriptions that this program did not make', one;
    end if;
  end loop;
  perform set_config('app.tenant', '', true);
end
$$;
drop table subscription_balances;
drop table subscriptions;
drop table plan_subscriptions;
drop function count_plan_subscriptions();

-- One row is the whole subscription: its histories are JSON in the same row, dates as YYYY-MM-DD,
-- so that a bill run reads one row for each bill. A `fromDate` is the first day on which an item
-- holds, a `toDate` the first on which it no longer does.
create table subscriptions (
  tenant_id bigint not null references tenants (tenant_id),
  subscription_id bigint not null,
  subscription_number text not null check (subscription_number <> ''),
  reference_number text check (reference_number <> ''),
  context_id bigint not null,
  -- The newest of plan_history.
  plan_id bigint not null,
  batch_id bigint not null,
  account_id bigint not null,
  -- The owner.
  party_id bigint not null,
  -- As it is today.
  status text not null check (status in ('Pending', 'Active', 'Disconnected', 'Closed')),
  -- The day on which status_history changes it next; the daily job waits for it.
  next_change_date date,
  -- The first day of service.
  connection_date date not null,
  disconnection_kind text
    check (disconnection_kind in ('Temporary', 'Permanent', 'CustomerRequest')),
  -- The last billed day. Null after a bulk load: the first term sets it.
  billed_through date,
  -- Whether a metered input is bound to a meter, and whether it has quantities of its own.
  is_metered boolean not null default false,
  has_quantities boolean not null default false,
  description text,
  payment_method text
    check (payment_method in ('Cash', 'Bank', 'Card', 'DirectDebit', 'Wallet', 'Online')),
  project_name text,
  address jsonb check (jsonb_typeof(address) = 'object'),
  -- Of the address, for filters: a plain comparison may use an index under row-level security.
  city text generated always as (lower(address ->> 'city')) stored,
  block text generated always as (lower(address ->> 'block')) stored,
  society text generated always as (lower(address ->> 'society')) stored,
  -- [{planId, fromDate}], the first from the connection date.
  plan_history jsonb not null check (jsonb_array_length(plan_history) > 0),
  -- [{status, fromDate, kind?, reason?}]; the kind of Pending says what it waits for: Date,
  -- Documents, Deposit or Request.
  status_history jsonb not null check (jsonb_array_length(status_history) > 0),
  -- [{name, value}]
  connection_inputs jsonb not null default '[]' check (jsonb_typeof(connection_inputs) = 'array'),
  -- [{name, value, fromDate}]
  quantities jsonb not null default '[]' check (jsonb_typeof(quantities) = 'array'),
  -- [{name, value, fromDate?, toDate?, reason?, createdAt, createdBy}]
  variants jsonb not null default '[]' check (jsonb_typeof(variants) = 'array'),
  -- [{planId, quantity, fromDate, toDate?}]
  add_ons jsonb not null default '[]' check (jsonb_typeof(add_ons) = 'array'),
  -- [{partyId, role, fromDate, toDate?}]
  users jsonb not null check (jsonb_typeof(users) = 'array'),
  -- [{transferId, transferDate, fromPartyId, toPartyId, readings, balanceHandling, amountMoved,
  --   reason, createdAt, createdBy}]
  transfers jsonb not null default '[]' check (jsonb_typeof(transfers) = 'array'),
  -- Names of the documents that were handed in.
  documents jsonb not null default '[]' check (jsonb_typeof(documents) = 'array'),
  -- Number, reference and project, one a line.
  search_text text not null,
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  modified_by text not null,
  ts bigint not null,
  primary key (tenant_id, subscription_id),
  constraint subscriptions_number_key unique (tenant_id, subscription_number)
    include (subscription_id),
  constraint subscriptions_context_fkey foreign key (tenant_id, context_id)
    references pricing_contexts (tenant_id, context_id),
  constraint subscriptions_plan_fkey foreign key (tenant_id, plan_id)
    references plans (tenant_id, plan_id),
  constraint subscriptions_batch_fkey foreign key (tenant_id, batch_id)
    references batches (tenant_id, batch_id),
  constraint subscriptions_party_fkey foreign key (tenant_id, party_id)
    references parties (tenant_id, party_id),
  constraint subscriptions_account_fkey foreign key (tenant_id, account_id)
    references billing_accounts (tenant_id, account_id),
  constraint subscriptions_disconnection_has_kind
    check (status <> 'Disconnected' or disconnection_kind is not null)
);
create unique index subscriptions_reference_key on subscriptions (tenant_id, reference_number)
  where reference_number is not null;
-- Each ends with the id, so that a page deep in a list is found in the index alone, also where the
-- context and the status are asked for beside it.
create index subscriptions_party on subscriptions (tenant_id, party_id, subscription_id);
create index subscriptions_account on subscriptions (tenant_id, account_id, subscription_id);
create index subscriptions_plan on subscriptions (tenant_id, plan_id, subscription_id)
  include (status);
create index subscriptions_batch on subscriptions (tenant_id, batch_id, subscription_id)
  include (status);
create index subscriptions_context on subscriptions (tenant_id, context_id, subscription_id)
  include (status);
-- Most are Active; those are found by walking.
create index subscriptions_status on subscriptions (tenant_id, status, subscription_id)
  where status <> 'Active';
create index subscriptions_changing on subscriptions (tenant_id, next_change_date)
  where next_change_date is not null;
create index subscriptions_connected on subscriptions (tenant_id, connection_date, subscription_id)
  include (context_id, status);
create index subscriptions_updated on subscriptions (tenant_id, ts, subscription_id);
create index subscriptions_city on subscriptions (tenant_id, city, subscription_id)
  include (context_id, status) where city is not null;
create index subscriptions_block on subscriptions (tenant_id, block, subscription_id)
  include (context_id, status) where block is not null;
create index subscriptions_society on subscriptions (tenant_id, society, subscription_id)
  include (context_id, status) where society is not null;
create index subscriptions_search on subscriptions using gin (tenant_id, search_text gin_trgm_ops);
call wall_off('subscriptions');
grant select, insert, update on subscriptions to billwright_api, billwright_worker;
grant select on subscriptions to billwright_search;

-- A number is given once and for ever; a closed subscription stays closed.
create function check_subscription_step() returns trigger
language plpgsql
as $$
begin
  if new.subscription_number <> old.subscription_number or new.context_id <> old.context_id then
    raise exception 'the number and the context of a subscription never change'
      using errcode = 'check_violation', constraint = 'subscriptions_identity';
  end if;
  if (old.status, new.status) not in (
    ('Pending', 'Active'), ('Pending', 'Closed'), ('Active', 'Disconnected'),
    ('Disconnected', 'Active'), ('Disconnected', 'Closed')
  ) and old.status <> new.status then
    raise exception 'a subscription that is % does not become %', old.status, new.status
      using errcode = 'check_violation', constraint = 'subscriptions_status_step';
  end if;
  return new;
end
$$;
create trigger subscriptions_step
  before update on subscriptions
  for each row
  when (old.status is distinct from new.status
    or old.subscription_number is distinct from new.subscription_number
    or old.context_id is distinct from new.context_id)
  execute function check_subscription_step();

-- Custom fields that the context declares unique.
create table subscription_unique_inputs (
  tenant_id bigint not null,
  context_id bigint not null,
  name text not null,
  value text not null,
  subscription_id bigint not null,
  constraint subscription_unique_inputs_pkey primary key (tenant_id, context_id, name, value),
  foreign key (tenant_id, subscription_id) references subscriptions (tenant_id, subscription_id)
);
create index subscription_unique_inputs_subscription
  on subscription_unique_inputs (tenant_id, subscription_id);
call wall_off('subscription_unique_inputs');
grant select, insert, delete on subscription_unique_inputs to billwright_api, billwright_worker;

-- What the ledger's entries on a subscription add up to, in minor units, for each party that has
-- owned it: who moves out may still owe. The balance of a subscription is that of its owner.
create table subscription_balances (
  tenant_id bigint not null,
  subscription_id bigint not null,
  party_id bigint not null,
  -- Above zero: the customer owes it.
  receivable bigint not null default 0,
  -- Held for the customer; never below zero, nor is what is disputed. The trigger that keeps
  -- balances checks that: a check here would look at what is added, not at what comes out.
  deposit bigint not null default 0,
  disputed bigint not null default 0,
  primary key (tenant_id, subscription_id, party_id),
  foreign key (tenant_id, subscription_id) references subscriptions (tenant_id, subscription_id)
);
create index subscription_balances_party on subscription_balances (tenant_id, party_id);
call wall_off('subscription_balances');
grant select, insert, update on subscription_balances to billwright_api, billwright_worker;

-- Subscriptions counted in blocks of 1,000 ids by what most lists are narrowed by and no index
-- narrows well: totals, and the place of a page deep in a list, come from these few rows. Plans and
-- batches are left out: they would make the rows many, and each has an index of its own.
create table subscription_counts (
  tenant_id bigint not null references tenants (tenant_id),
  block bigint not null,
  context_id bigint not null,
  status text not null,
  is_metered boolean not null,
  has_quantities boolean not null,
  subscriptions integer not null check (subscriptions >= 0),
  primary key (tenant_id, block, context_id, status, is_metered, has_quantities)
);
call wall_off('subscription_counts');
grant select, insert, update on subscription_counts to billwright_api, billwright_worker;

-- How many Active and Disconnected subscriptions each plan has, as base plan or as add-on.
create table plan_subscriptions (
  tenant_id bigint not null references tenants (tenant_id),
  plan_id bigint not null,
  subscriptions bigint not null check (subscriptions >= 0),
  primary key (tenant_id, plan_id)
);
call wall_off('plan_subscriptions');
grant select, insert, update on plan_subscriptions to billwright_api, billwright_worker;

-- Statement-level, so that a bulk load pays once per block, and in the order of the keys, so that
-- two of them do not wait for each other. Rows of no change are left out: most updates of a
-- subscription touch nothing that is counted.
create function count_subscriptions() returns trigger
language plpgsql
as $$
begin
  insert into subscription_counts as c (tenant_id, block, context_id, status, is_metered,
    has_quantities, subscriptions)
  select tenant_id, subscription_id / 1000, context_id, status, is_metered, has_quantities, count(*)
  from new_rows
  group by 1, 2, 3, 4, 5, 6
  order by 1, 2, 3, 4, 5, 6
  on conflict (tenant_id, block, context_id, status, is_metered, has_quantities)
    do update set subscriptions = c.subscriptions + excluded.subscriptions;
  insert into plan_subscriptions as p (tenant_id, plan_id, subscriptions)
  select tenant_id, plan_id, count(*)
  from (
    select tenant_id, plan_id from new_rows where status in ('Active', 'Disconnected')
    union all
    select n.tenant_id, (a ->> 'planId')::bigint
    from new_rows n, jsonb_array_elements(n.add_ons) a
    where n.status in ('Active', 'Disconnected') and a ->> 'toDate' is null
  ) taken
  group by 1, 2
  order by 1, 2
  on conflict (tenant_id, plan_id) do update
    set subscriptions = p.subscriptions + excluded.subscriptions;
  return null;
end
$$;

-- What is the same before and after cancels out, without a look at which rows belong together.
create function recount_subscriptions() returns trigger
language plpgsql
as $$
declare
  changed record;
begin
  for changed in
    select tenant_id, subscription_id / 1000 as block, context_id, status, is_metered,
      has_quantities, sum(step)::bigint as delta
    from (
      select tenant_id, subscription_id, context_id, status, is_metered, has_quantities,
        1 as step from new_rows
      union all
      select tenant_id, subscription_id, context_id, status, is_metered, has_quantities, -1
      from old_rows
    ) steps
    group by 1, 2, 3, 4, 5, 6
    having sum(step) <> 0
    order by 1, 2, 3, 4, 5, 6
  loop
    insert into subscription_counts as c (tenant_id, block, context_id, status, is_metered,
      has_quantities, subscriptions)
    values (changed.tenant_id, changed.block, changed.context_id, changed.status,
      changed.is_metered, changed.has_quantities, greatest(changed.delta, 0))
    on conflict (tenant_id, block, context_id, status, is_metered, has_quantities)
      do update set subscriptions = c.subscriptions + changed.delta;
  end loop;
  perform recount_plan_subscriptions(deltas.tenant_id, deltas.plan_id, deltas.delta)
  from (
    select tenant_id, plan_id, sum(step)::bigint as delta
    from (
      select tenant_id, plan_id, 1 as step
      from new_rows where status in ('Active', 'Disconnected')
      union all
      select tenant_id, plan_id, -1 from old_rows where status in ('Active', 'Disconnected')
      union all
      select n.tenant_id, (a ->> 'planId')::bigint, 1
      from new_rows n, jsonb_array_elements(n.add_ons) a
      where n.add_ons <> '[]' and n.status in ('Active', 'Disconnected') and a ->> 'toDate' is null
      union all
      select o.tenant_id, (a ->> 'planId')::bigint, -1
      from old_rows o, jsonb_array_elements(o.add_ons) a
      where o.add_ons <> '[]' and o.status in ('Active', 'Disconnected') and a ->> 'toDate' is null
    ) steps
    group by 1, 2
    having sum(step) <> 0
    order by 1, 2
  ) deltas;
  return null;
end
$$;

create function recount_plan_subscriptions(wanted_tenant bigint, wanted_plan bigint, delta bigint)
returns void
language sql
begin atomic
  insert into plan_subscriptions (tenant_id, plan_id, subscriptions)
  values (wanted_tenant, wanted_plan, 0)
  on conflict do nothing;
  update plan_subscriptions set subscriptions = subscriptions + delta
  where tenant_id = wanted_tenant and plan_id = wanted_plan;
end;

create trigger subscriptions_counted_on_insert
  after insert on subscriptions
  referencing new table as new_rows
  for each statement execute function count_subscriptions();
create trigger subscriptions_counted_on_update
  after update on subscriptions
  referencing old table as old_rows new table as new_rows
  for each statement execute function recount_subscriptions();

-- Where a meter hangs, and when. A meter is in one place at a time: two assignments of it share no
-- day, and at most one of them is open.
create table meter_assignments (
  tenant_id bigint not null references tenants (tenant_id),
  assignment_id bigint not null,
  meter_id bigint not null,
  subscription_id bigint not null,
  install_date date not null,
  -- The multiplier factor it has there: the meter's own may change once it hangs nowhere.
  mf integer not null check (mf >= 1),
  -- The first day on which it no longer hangs there.
  remove_date date,
  removal_reason text,
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  modified_by text not null,
  ts bigint not null,
  primary key (tenant_id, assignment_id),
  foreign key (tenant_id, meter_id) references meters (tenant_id, meter_id),
  foreign key (tenant_id, subscription_id) references subscriptions (tenant_id, subscription_id),
  check (remove_date >= install_date),
  constraint meter_assignments_one_place exclude using gist (
    tenant_id with =, meter_id with =, daterange(install_date, remove_date) with &&
  )
);
create unique index meter_assignments_open_key on meter_assignments (tenant_id, meter_id)
  where remove_date is null;
-- The places of a meter, the last one first.
create index meter_assignments_meter on meter_assignments (tenant_id, meter_id, install_date);
create index meter_assignments_subscription
  on meter_assignments (tenant_id, subscription_id, assignment_id);
call wall_off('meter_assignments');
grant select, insert, update on meter_assignments to billwright_api, billwright_worker;
-- A job that ends a subscription takes its meters down.
grant update on meters to billwright_worker;

-- Which register of the meter measures which metered input of the context while it hangs there.
create table assignment_registers (
  tenant_id bigint not null,
  assignment_id bigint not null,
  -- Of meter_registers.
  position smallint not null,
  subscription_id bigint not null,
  -- Null: the register is read but measures nothing that is billed.
  input text,
  primary key (tenant_id, assignment_id, position),
  foreign key (tenant_id, assignment_id) references meter_assignments (tenant_id, assignment_id)
);
create index assignment_registers_subscription
  on assignment_registers (tenant_id, subscription_id, assignment_id, position);
call wall_off('assignment_registers');
grant select, insert, update on assignment_registers to billwright_api, billwright_worker;

-- What was read. Locked and Billed are not states of the row: a term that takes a reading names it,
-- and what a term names can neither be changed nor rejected.
create table readings (
  tenant_id bigint not null,
  reading_id bigint not null,
  assignment_id bigint not null,
  position smallint not null,
  reading_date date not null,
  reading_time time,
  value numeric not null check (value >= 0),
  reading_type text not null check (reading_type in (
    'Actual', 'Customer', 'Estimated', 'Installation', 'Removal', 'Final', 'Check', 'Automatic'
  )),
  status text not null check (status in ('Accepted', 'Review', 'Rejected')),
  rejected_id bigint generated always as (case when status = 'Rejected' then reading_id end) stored,
  -- The register passed its highest value since the reading before.
  rollover boolean not null default false,
  -- Since the reading before, with the multiplier factor; null where there is none.
  consumption numeric,
  days integer,
  -- Why it is under review: High, Low, Decreased.
  flags text[] not null default '{}',
  source text,
  remark text,
  image_url text,
  external_reference text,
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  modified_by text not null,
  primary key (tenant_id, reading_id),
  foreign key (tenant_id, assignment_id, position)
    references assignment_registers (tenant_id, assignment_id, position)
);
-- Finds the readings of a register in the order of days, and refuses the same one twice, unless it
-- was rejected.
create unique index readings_register_key on readings (
  tenant_id, assignment_id, position, reading_date, reading_type, reading_time, rejected_id
) nulls not distinct;
create index readings_review on readings (tenant_id, reading_id) where status = 'Review';
-- Readings come in the order of their days. A tree by day would, besides, look to the planner like
-- a way to find the readings of one register on a day, among a hundred thousand of that day.
create index readings_date on readings using brin (tenant_id, reading_date)
  with (autosummarize = on);
create unique index readings_external_key on readings (tenant_id, external_reference)
  where external_reference is not null and status <> 'Rejected';
call wall_off('readings');
grant select, insert, update on readings to billwright_api, billwright_worker;

-- Keeps row_blocks for readings: a list of all of them knows its total and its pages by these.
create function count_readings() returns trigger
language plpgsql
as $$
begin
  insert into row_blocks as b (tenant_id, kind, block, live_rows, all_rows)
  select tenant_id, 'reading', reading_id / 1000, count(*), count(*)
  from new_rows
  group by tenant_id, reading_id / 1000
  order by tenant_id, reading_id / 1000
  on conflict (tenant_id, kind, block) do update
    set live_rows = b.live_rows + excluded.live_rows, all_rows = b.all_rows + excluded.all_rows;
  return null;
end
$$;
create trigger readings_counted_on_insert
  after insert on readings
  referencing new table as new_rows
  for each statement execute function count_readings();

-- As for parties: outside row-level security, where the trigram indexes can be used, and naming the
-- tenant themselves. A name and a meter's number are searched where they stand, so that nothing
-- found here is older than they are.
grant select on meter_assignments to billwright_search;
grant create on schema public to billwright_search;

create function search_subscriptions(pattern text) returns setof bigint
language sql stable security definer rows 100
set search_path = public, pg_temp
begin atomic
  select subscription_id
  from subscriptions
  where tenant_id = require_tenant() and search_text like pattern
  union
  select s.subscription_id
  from parties p
  join subscriptions s on s.tenant_id = p.tenant_id and s.party_id = p.party_id
  where p.tenant_id = require_tenant()
    and p.search_text like pattern
    and split_part(p.search_text, E'\n', 1) like pattern
  union
  select a.subscription_id
  from meters m
  join meter_assignments a
    on a.tenant_id = m.tenant_id and a.meter_id = m.meter_id and a.remove_date is null
  where m.tenant_id = require_tenant()
    and m.search_text like pattern
    and m.number::text like pattern;
end;

-- For one or two letters, of which the trigram index knows nothing.
create function scan_subscriptions(pattern text) returns setof bigint
language sql stable security definer rows 100000
set search_path = public, pg_temp
begin atomic
  select s.subscription_id
  from subscriptions s
  join parties p on p.tenant_id = s.tenant_id and p.party_id = s.party_id
  where s.tenant_id = require_tenant()
    and (s.search_text || '' like pattern
      or split_part(p.search_text, E'\n', 1) like pattern)
  union
  select a.subscription_id
  from meters m
  join meter_assignments a
    on a.tenant_id = m.tenant_id and a.meter_id = m.meter_id and a.remove_date is null
  where m.tenant_id = require_tenant()
    and m.number::text like pattern;
end;

alter function search_subscriptions(text) owner to billwright_search;
alter function scan_subscriptions(text) owner to billwright_search;
revoke all on function search_subscriptions(text) from public;
revoke all on function scan_subscriptions(text) from public;
grant execute on function search_subscriptions(text) to billwright_api;
grant execute on function scan_subscriptions(text) to billwright_api;
revoke create on schema public from billwright_search;
