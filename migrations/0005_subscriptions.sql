-- Subscriptions, their balances and their counts.

create table subscriptions (
  tenant_id bigint not null references tenants (tenant_id),
  subscription_id bigint not null,
  subscription_number text not null check (subscription_number <> ''),
  reference_number text check (reference_number <> ''),
  context_id bigint not null,
  plan_id bigint not null,
  batch_id bigint not null,
  account_id bigint not null,
  party_id bigint not null,
  status text not null check (status in ('Pending', 'Active', 'Disconnected', 'Closed')),
  next_change_date date,
  connection_date date not null,
  disconnection_kind text
    check (disconnection_kind in ('Temporary', 'Permanent', 'CustomerRequest')),
  billed_through date,
  is_metered boolean not null default false,
  has_quantities boolean not null default false,
  description text,
  payment_method text
    check (payment_method in ('Cash', 'Bank', 'Card', 'DirectDebit', 'Wallet', 'Online')),
  project_name text,
  address jsonb check (jsonb_typeof(address) = 'object'),
  city text generated always as (lower(address ->> 'city')) stored,
  block text generated always as (lower(address ->> 'block')) stored,
  society text generated always as (lower(address ->> 'society')) stored,
  plan_history jsonb not null check (jsonb_array_length(plan_history) > 0),
  status_history jsonb not null check (jsonb_array_length(status_history) > 0),
  connection_inputs jsonb not null default '[]' check (jsonb_typeof(connection_inputs) = 'array'),
  quantities jsonb not null default '[]' check (jsonb_typeof(quantities) = 'array'),
  variants jsonb not null default '[]' check (jsonb_typeof(variants) = 'array'),
  add_ons jsonb not null default '[]' check (jsonb_typeof(add_ons) = 'array'),
  users jsonb not null check (jsonb_typeof(users) = 'array'),
  transfers jsonb not null default '[]' check (jsonb_typeof(transfers) = 'array'),
  documents jsonb not null default '[]' check (jsonb_typeof(documents) = 'array'),
  search_text text not null,
  created_at timestamptz not null,
  created_by text not null,
  modified_at timestamptz not null,
  modified_by text not null,
  ts bigint not null,
  -- The text of a date is cut by hand: a cast may depend on the session, a stored column may not.
  transferred_on date generated always as (
    case when transfers <> '[]' then make_date(
      substr(transfers -> -1 ->> 'transferDate', 1, 4)::integer,
      substr(transfers -> -1 ->> 'transferDate', 6, 2)::integer,
      substr(transfers -> -1 ->> 'transferDate', 9, 2)::integer
    ) end
  ) stored,
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
)
-- Posting updates each subscription once. With room left for the new version of every row on its
-- page no index has to be touched, which is five sixths of the cost.
with (fillfactor = 50);
comment on table subscriptions is
  'One supply or service that is billed. Its histories are JSON in the same row, with dates as '
  'YYYY-MM-DD, so that a bill run reads one row for each bill. A fromDate is the first day on '
  'which an item applies, a toDate the first on which it no longer does.';
comment on column subscriptions.plan_id is 'The newest of plan_history.';
comment on column subscriptions.party_id is 'The owner.';
comment on column subscriptions.status is 'As of today.';
comment on column subscriptions.next_change_date is
  'The day of the next change in status_history; the daily job waits for it.';
comment on column subscriptions.connection_date is 'The first day of service.';
comment on column subscriptions.billed_through is
  'The last billed day. Null after a bulk load: the first term sets it.';
comment on column subscriptions.is_metered is 'True if a metered input is bound to a meter.';
comment on column subscriptions.has_quantities is
  'True if the subscription has quantities of its own.';
comment on column subscriptions.city is
  'City, block and society of the address, for filters: a plain comparison can use an index under '
  'row-level security.';
comment on column subscriptions.plan_history is
  '[{planId, fromDate}], the first from the connection date.';
comment on column subscriptions.status_history is
  '[{status, fromDate, kind?, reason?}]. The kind of Pending is what it waits for: Date, '
  'Documents, Deposit or Request.';
comment on column subscriptions.connection_inputs is '[{name, value}]';
comment on column subscriptions.quantities is '[{name, value, fromDate}]';
comment on column subscriptions.variants is
  '[{name, value, fromDate?, toDate?, reason?, createdAt, createdBy}]';
comment on column subscriptions.add_ons is '[{planId, quantity, fromDate, toDate?}]';
comment on column subscriptions.users is '[{partyId, role, fromDate, toDate?}]';
comment on column subscriptions.transfers is
  '[{transferId, transferDate, fromPartyId, toPartyId, readings, balanceHandling, amountMoved, '
  'reason, createdAt, createdBy}]';
comment on column subscriptions.documents is
  'Names of the documents that the customer has handed in.';
comment on column subscriptions.search_text is 'Number, reference and project, one a line.';
comment on column subscriptions.transferred_on is
  'The day of the newest transfer. A term that bills accounts or parties finds by it the few '
  'subscriptions that had another owner on its days.';
create unique index subscriptions_reference_key on subscriptions (tenant_id, reference_number)
  where reference_number is not null;
-- Each ends with the id, so that a page deep in a list is found in the index alone, also if the
-- list is filtered by context and status as well.
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
create index subscriptions_transferred on subscriptions (tenant_id, transferred_on)
  where transferred_on is not null;
call wall_off('subscriptions');
grant select, insert, update on subscriptions to billwright_api, billwright_worker;
grant select on subscriptions to billwright_search;

-- The number of a subscription never changes; a closed subscription stays closed.
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
-- Before the update, although it changes nothing: a table with generated columns is updated at half
-- the speed without such a trigger, because PostgreSQL then reads their definitions again for every
-- row.
create trigger subscriptions_step
  before update on subscriptions
  for each row
  when (old.status is distinct from new.status
    or old.subscription_number is distinct from new.subscription_number
    or old.context_id is distinct from new.context_id)
  execute function check_subscription_step();

-- True if a subscription was Active on any of the days from the first to the last, both inclusive.
create function is_active_between(status_history jsonb, first_day date, last_day date)
returns boolean
language sql immutable parallel safe
as $$
  select exists (
  select
  from (
    select h ->> 'status' as status, (h ->> 'fromDate')::date as from_date,
      lead((h ->> 'fromDate')::date) over (order by (h ->> 'fromDate')::date, number) as next_date
    from jsonb_array_elements(status_history) with ordinality as e (h, number)
  ) runs
  where status = 'Active'
    and greatest(from_date, first_day) <= least(coalesce(next_date - 1, last_day), last_day)
)
$$;

create table subscription_unique_inputs (
  tenant_id bigint not null,
  context_id bigint not null,
  name text not null,
  value text not null,
  subscription_id bigint not null,
  constraint subscription_unique_inputs_pkey primary key (tenant_id, context_id, name, value),
  foreign key (tenant_id, subscription_id) references subscriptions (tenant_id, subscription_id)
);
comment on table subscription_unique_inputs is
  'The value of a custom field that the pricing context declares unique.';
create index subscription_unique_inputs_subscription
  on subscription_unique_inputs (tenant_id, subscription_id);
call wall_off('subscription_unique_inputs');
grant select, insert, delete on subscription_unique_inputs to billwright_api, billwright_worker;

create table subscription_balances (
  tenant_id bigint not null,
  subscription_id bigint not null,
  party_id bigint not null,
  receivable bigint not null default 0,
  deposit bigint not null default 0,
  disputed bigint not null default 0,
  received bigint not null default 0,
  primary key (tenant_id, subscription_id, party_id),
  foreign key (tenant_id, subscription_id) references subscriptions (tenant_id, subscription_id)
)
-- As for subscriptions.
with (fillfactor = 50);
comment on table subscription_balances is
  'The sum of the ledger entries on a subscription, in minor units, for one party that owns or '
  'owned it: a former owner may still owe. The balance of a subscription is that of its owner.';
comment on column subscription_balances.receivable is
  'Above zero, the party owes it; below zero, the workspace does.';
comment on column subscription_balances.deposit is
  'Held for the party. Neither this nor disputed is ever below zero: the trigger keep_balances() '
  'checks that, because a check here would look at the amount added and not at the result.';
comment on column subscription_balances.received is
  'All payments so far, less what was taken back. A bill keeps the value of when it was made: the '
  'next bill shows the difference as payments received.';
create index subscription_balances_party on subscription_balances (tenant_id, party_id);
call wall_off('subscription_balances');
grant select, insert, update on subscription_balances to billwright_api, billwright_worker;

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
comment on table subscription_counts is
  'The count of subscriptions in a block of 1,000 ids, by the filters that most lists use and no '
  'index narrows well. Plans and batches have indexes of their own and are left out.';
call wall_off('subscription_counts');
grant select, insert, update on subscription_counts to billwright_api, billwright_worker;

create table plan_subscriptions (
  tenant_id bigint not null references tenants (tenant_id),
  plan_id bigint not null,
  subscriptions bigint not null check (subscriptions >= 0),
  primary key (tenant_id, plan_id)
);
comment on table plan_subscriptions is
  'The count of Active and Disconnected subscriptions of a plan, as base plan or as add-on.';
call wall_off('plan_subscriptions');
grant select, insert, update on plan_subscriptions to billwright_api, billwright_worker;

-- Statement-level, so that a bulk load pays once per block, and in the order of the keys, so that
-- two of them do not wait for each other.
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
create trigger subscriptions_counted_on_insert
  after insert on subscriptions
  referencing new table as new_rows
  for each statement execute function count_subscriptions();

-- Most updates of subscriptions change nothing that is counted: above all the last billed day, of
-- all subscriptions of a term. One look at all rows shows that. Equal rows before and after cancel
-- out by aggregation and not by a join, so that the cached plan suits one row and thousands.
create function recount_subscriptions() returns trigger
language plpgsql
as $$
declare
  changed record;
begin
  if not exists (
    select from (
      select tenant_id, subscription_id, context_id, status, is_metered, has_quantities, plan_id,
        add_ons, 1 as step from new_rows
      union all
      select tenant_id, subscription_id, context_id, status, is_metered, has_quantities, plan_id,
        add_ons, -1 from old_rows
    ) steps
    group by tenant_id, subscription_id / 1000, context_id, status, is_metered, has_quantities,
      plan_id, add_ons
    having sum(step) <> 0
  ) then
    return null;
  end if;
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
create trigger subscriptions_counted_on_update
  after update on subscriptions
  referencing old table as old_rows new table as new_rows
  for each statement execute function recount_subscriptions();

create function recount_plan_subscriptions(wanted_tenant bigint, wanted_plan bigint, delta bigint)
returns void
language sql
as $$
  insert into plan_subscriptions (tenant_id, plan_id, subscriptions)
  values (wanted_tenant, wanted_plan, 0)
  on conflict do nothing;
  update plan_subscriptions set subscriptions = subscriptions + delta
  where tenant_id = wanted_tenant and plan_id = wanted_plan;
$$;
