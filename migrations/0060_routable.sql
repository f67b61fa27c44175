-- The rules for SQL that a database of several machines can route, kept on one machine too.

-- A policy is a comparison without a query of its own.
do $$
declare
  one regclass;
begin
  for one in
    select polrelid::regclass from pg_policy
    where pg_get_expr(polqual, polrelid) like '%SELECT%'
  loop
    execute format('alter policy tenant_wall on %s using (tenant_id = current_tenant())', one);
  end loop;
end
$$;

-- When a worker next has to look at the jobs of a workspace, by the clock of the machine: null
-- where nothing waits. One look at this table shows where there is work, and no row of a workspace.
-- Without a wall, for that look. The role that serves calls has no right to it.
create table workspace_jobs (
  tenant_id bigint not null primary key references workspaces (tenant_id),
  next_job_at timestamptz
);
create index workspace_jobs_next on workspace_jobs (next_job_at) where next_job_at is not null;
grant select, insert, update on workspace_jobs to billwright_worker;
insert into workspace_jobs (tenant_id, next_job_at)
select tenant_id, next_job_at from workspaces where next_job_at is not null;
alter table workspaces drop column next_job_at;

create or replace function note_job() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  ahead interval;
  look_at timestamptz := '-infinity';
begin
  -- A sandbox is ahead of the machine: there the job is due sooner than its own date says. What was
  -- asked for at once is due whatever the clocks of two machines show.
  if not new.is_immediate then
    select make_interval(secs => clock_offset_ms / 1000.0) into ahead
    from tenants where tenant_id = require_tenant();
    look_at := new.due_at - ahead;
  end if;
  insert into workspace_jobs as w (tenant_id, next_job_at) values (require_tenant(), look_at)
  on conflict (tenant_id) do update
    set next_job_at = least(w.next_job_at, excluded.next_job_at);
  -- A workspace with a new job is counted at the next opportunity, also if the job has ended by
  -- then.
  insert into operation_counts (tenant_id, kind, state, amount, counted_at)
  values (require_tenant(), 'job', 'Scheduled', 0, clock_timestamp())
  on conflict do nothing;
  perform pg_notify('billwright_jobs', '');
  return null;
end
$$;

create or replace function note_moved_clock() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
begin
  update workspace_jobs set next_job_at = '-infinity'
  where tenant_id = require_tenant() and next_job_at is not null;
  perform pg_notify('billwright_jobs', '');
  perform pg_notify('billwright_clocks', require_tenant()::text);
  return null;
end
$$;

-- Triggers: none compares the name of its table, none joins a transition table to another table.
create function advance_own_access_epoch() returns trigger
language plpgsql
as $$
begin
  new.access_epoch := old.access_epoch + 1;
  return new;
end
$$;
drop trigger tenants_access_epoch on tenants;
create trigger tenants_access_epoch
  before update on tenants
  for each row execute function advance_own_access_epoch();

create or replace function advance_access_epoch() returns trigger
language plpgsql
as $$
begin
  update tenants set access_epoch = access_epoch + 1 where tenant_id = new.tenant_id;
  return null;
end
$$;

create or replace function check_journals_balance() returns trigger
language plpgsql
as $$
declare
  tenant bigint;
  journal_ids bigint[];
  broken bigint;
begin
  select min(tenant_id), array_agg(distinct journal_id) into tenant, journal_ids from new_rows;
  select journal_id into broken
  from journal_lines
  where tenant_id = tenant and journal_id = any(journal_ids)
  group by journal_id
  having sum(amount) <> 0
  limit 1;
  if broken is not null then
    raise exception 'journal % does not balance', broken
      using errcode = 'check_violation', constraint = 'journal_lines_balance';
  end if;
  return null;
end
$$;

create or replace function count_meters() returns trigger
language plpgsql
as $$
declare
  changed record;
begin
  if tg_op = 'INSERT' then
    insert into row_blocks as b (tenant_id, kind, block, live_rows, all_rows)
    select tenant_id, 'meter', meter_id / 1000, count(*) filter (where status = 'Active'), count(*)
    from new_rows
    group by tenant_id, meter_id / 1000
    order by tenant_id, meter_id / 1000
    on conflict (tenant_id, kind, block) do update
      set live_rows = b.live_rows + excluded.live_rows, all_rows = b.all_rows + excluded.all_rows;
    return null;
  end if;
  for changed in
    select tenant_id, meter_id / 1000 as block, sum(step) as delta
    from (
      select tenant_id, meter_id, 1 as step from new_rows where status = 'Active'
      union all
      select tenant_id, meter_id, -1 from old_rows where status = 'Active'
    ) steps
    group by 1, 2
    having sum(step) <> 0
    order by 1, 2
  loop
    update row_blocks set live_rows = live_rows + changed.delta
    where tenant_id = changed.tenant_id and kind = 'meter' and block = changed.block;
  end loop;
  return null;
end
$$;

create or replace function count_parties() returns trigger
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

create or replace function keep_balances() returns trigger
language plpgsql
as $$
declare
  tenant bigint;
  journal_ids bigint[];
  subscription_ids bigint[];
  party_ids bigint[];
  amounts bigint[];
begin
  select min(tenant_id), array_agg(distinct journal_id) into tenant, journal_ids from new_rows;
  if cardinality(journal_ids) <> (
    select count(*) from journals where tenant_id = tenant and journal_id = any(journal_ids)
  ) then
    raise exception 'a subledger entry names a journal that does not exist'
      using errcode = 'foreign_key_violation', constraint = 'subledger_entries_journal_fkey';
  end if;
  insert into subscription_balances as b
    (tenant_id, subscription_id, party_id, receivable, deposit, disputed)
  select tenant_id, subscription_id, party_id,
    coalesce(sum(amount) filter (where ledger_account_id in (2, 1000001)), 0),
    coalesce(-sum(amount) filter (where ledger_account_id = 4), 0),
    coalesce(sum(amount) filter (where ledger_account_id = 10), 0)
  from new_rows
  where subscription_id is not null and ledger_account_id in (2, 4, 10, 1000001)
  group by tenant_id, subscription_id, party_id
  order by tenant_id, subscription_id, party_id
  on conflict (tenant_id, subscription_id, party_id) do update
    set receivable = b.receivable + excluded.receivable,
      deposit = b.deposit + excluded.deposit,
      disputed = b.disputed + excluded.disputed;
  select array_agg(subscription_id), array_agg(party_id) into subscription_ids, party_ids
  from new_rows where subscription_id is not null and ledger_account_id in (4, 10);
  if exists (
    select from unnest(subscription_ids, party_ids) as n (subscription_id, party_id)
    join subscription_balances b on b.tenant_id = tenant
      and b.subscription_id = n.subscription_id and b.party_id = n.party_id
    where b.deposit < 0 or b.disputed < 0
  ) then
    raise exception 'more deposit is taken than is held'
      using errcode = 'check_violation', constraint = 'subscription_balances_not_negative';
  end if;
  select array_agg(party_id), array_agg(amount) into party_ids, amounts
  from (
    select party_id, sum(amount)::bigint as amount
    from new_rows
    where ledger_account_id = 3
    group by party_id
    having sum(amount) <> 0
    order by party_id
  ) moved;
  if party_ids is not null then
    update parties p
    set wallet_balance = p.wallet_balance - moved.amount
    from unnest(party_ids, amounts) as moved (party_id, amount)
    where p.tenant_id = tenant and p.party_id = moved.party_id;
  end if;
  return null;
end
$$;

create or replace function keep_bill_contents() returns trigger
language plpgsql
as $$
declare
  tenant bigint;
  bill_ids bigint[];
begin
  select min(tenant_id), array_agg(bill_id) into tenant, bill_ids from gone;
  if exists (select from bills where tenant_id = tenant and bill_id = any(bill_ids)) then
    raise exception 'a bill is not without its contents'
      using errcode = 'check_violation', constraint = 'bill_contents_kept';
  end if;
  return null;
end
$$;

-- SQL functions have their bodies as text.
create or replace function current_tenant() returns bigint
language sql stable parallel safe
as $$
  select nullif(current_setting('app.tenant', true), '')::bigint
$$;

create or replace function find_workspace(wanted text) returns bigint
language sql stable security definer
set search_path = public, pg_temp
as $$
  select tenant_id from workspaces where workspace = wanted
$$;

create or replace function search_parties(
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

create or replace function scan_parties(
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

create or replace function find_parties_by_email(wanted text) returns setof bigint
language sql stable security definer rows 1
set search_path = public, pg_temp
as $$
  select party_id
  from parties
  where tenant_id = require_tenant()
    and lower(email) = lower(wanted);
$$;

create or replace function find_parties_by_contact(wanted text) returns setof bigint
language sql stable security definer rows 5
set search_path = public, pg_temp
as $$
  select party_id
  from parties
  where tenant_id = require_tenant()
    and contacts @> jsonb_build_array(jsonb_build_object('contactValue', wanted));
$$;

create or replace procedure add_default_templates(wanted_tenant bigint, at timestamptz, by_name text)
language sql
as $$
  insert into templates (tenant_id, template_id, kind, version,
    created_at, created_by, modified_at, modified_by, ts)
  values
    (wanted_tenant, 1, 'Invoice', 1, at, by_name, at, by_name, floor(extract(epoch from at) * 1000)),
    (wanted_tenant, 2, 'Email', 1, at, by_name, at, by_name, floor(extract(epoch from at) * 1000));
  insert into template_versions (tenant_id, template_id, version, name, language, subject, body,
    created_at, created_by)
  values
    (wanted_tenant, 1, 1, 'Bill', 'en', null,
      E'Please quote the reference {{bill.billRefNo}} with your payment.\n'
      || E'Payments that came in after this bill was drawn up are shown on the next one.\n',
      at, by_name),
    (wanted_tenant, 2, 1, 'Bill by e-mail', 'en', 'Your bill {{bill.billNumber}}',
      E'Dear {{bill.partyName}},\n\nyour bill {{bill.billNumber}} of {{bill.termLabel}} is attached. '
      || E'Please pay {{bill.payableWithinDueDate}} {{bill.currency}} by {{bill.dueDate}}.\n',
      at, by_name);
  insert into counters (tenant_id, series, last_number) values (wanted_tenant, 'template', 2);
$$;

create or replace function search_meters(pattern text, wanted_status text) returns setof bigint
language sql stable security definer rows 100
set search_path = public, pg_temp
as $$
  select meter_id
  from meters
  where tenant_id = require_tenant()
    and search_text like pattern
    and (wanted_status is null or status = wanted_status);
$$;

create or replace function scan_meters(pattern text, wanted_status text) returns setof bigint
language sql stable security definer rows 100000
set search_path = public, pg_temp
as $$
  select meter_id
  from meters
  where tenant_id = require_tenant()
    and search_text || '' like pattern
    and (wanted_status is null or status = wanted_status);
$$;

create or replace function recount_plan_subscriptions(wanted_tenant bigint, wanted_plan bigint, delta bigint)
returns void
language sql
as $$
  insert into plan_subscriptions (tenant_id, plan_id, subscriptions)
  values (wanted_tenant, wanted_plan, 0)
  on conflict do nothing;
  update plan_subscriptions set subscriptions = subscriptions + delta
  where tenant_id = wanted_tenant and plan_id = wanted_plan;
$$;

create or replace function search_subscriptions(pattern text) returns setof bigint
language sql stable security definer rows 100
set search_path = public, pg_temp
as $$
  select subscription_id
  from subscriptions
  where tenant_id = require_tenant() and search_text like pattern
  union
  select s.subscription_id
  from parties p
  join subscriptions s on s.tenant_id = require_tenant() and s.party_id = p.party_id
  where p.tenant_id = require_tenant()
    and p.search_text like pattern
    and split_part(p.search_text, E'\n', 1) like pattern
  union
  select a.subscription_id
  from meters m
  join meter_assignments a
    on a.tenant_id = require_tenant() and a.meter_id = m.meter_id and a.remove_date is null
  where m.tenant_id = require_tenant()
    and m.search_text like pattern
    and m.number::text like pattern;
$$;

create or replace function scan_subscriptions(pattern text) returns setof bigint
language sql stable security definer rows 100000
set search_path = public, pg_temp
as $$
  select s.subscription_id
  from subscriptions s
  join parties p on p.tenant_id = require_tenant() and p.party_id = s.party_id
  where s.tenant_id = require_tenant()
    and (s.search_text || '' like pattern
      or split_part(p.search_text, E'\n', 1) like pattern)
  union
  select a.subscription_id
  from meters m
  join meter_assignments a
    on a.tenant_id = require_tenant() and a.meter_id = m.meter_id and a.remove_date is null
  where m.tenant_id = require_tenant()
    and m.number::text like pattern;
$$;

create or replace procedure add_chart_of_accounts(wanted_tenant bigint)
language sql
as $$
  insert into ledger_accounts (tenant_id, ledger_account_id, code, name, kind, is_control)
  values
    (wanted_tenant, 1, 'CASH', 'Cash and bank', 'Asset', false),
    (wanted_tenant, 2, 'RECEIVABLE', 'Receivable', 'Asset', true),
    (wanted_tenant, 3, 'ADVANCE', 'Advance', 'Liability', true),
    (wanted_tenant, 4, 'DEPOSIT', 'Security Deposit', 'Liability', true),
    (wanted_tenant, 5, 'TAX', 'Tax payable', 'Liability', false),
    (wanted_tenant, 6, 'INCOME', 'Income', 'Income', false),
    (wanted_tenant, 7, 'ROUNDING', 'Rounding', 'Income', false),
    (wanted_tenant, 8, 'OPENING', 'Opening balances', 'Equity', false),
    (wanted_tenant, 9, 'BAD_DEBT', 'Bad debts', 'Expense', false),
    (wanted_tenant, 10, 'DISPUTED', 'Disputed', 'Asset', true),
    (wanted_tenant, 1000001, 'PAYABLE', 'Payable', 'Liability', true),
    (wanted_tenant, 1000002, 'EXPENSE', 'Expense', 'Expense', false);
  insert into counters (tenant_id, series, last_number)
  values (wanted_tenant, 'ledger-account', 10);
$$;

create or replace function is_active_between(status_history jsonb, first_day date, last_day date)
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

create or replace function is_program() returns boolean
language sql stable parallel safe
as $$
  select current_user in ('billwright_api', 'billwright_worker')
$$;
