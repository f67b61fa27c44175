-- A payment takes less of the processor: checks of journals, lines and entries that looked at the
-- same rows are made together, and what they ask keeps its plans.

-- A function in SQL is parsed anew for the condition of each trigger at each statement.
create or replace function is_program() returns boolean
language plpgsql stable parallel safe
as $$
begin
  return current_user in ('billwright_api', 'billwright_worker');
end
$$;

-- The tenant of a journal exists, and the program posts in no month that is closed.
create function check_journals() returns trigger
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
declare
  tenants_named bigint[];
  first_day date;
begin
  select array_agg(distinct tenant_id), min(posting_date) into tenants_named, first_day
  from new_rows;
  if tenants_named is null then
    return null;
  end if;
  if cardinality(tenants_named) <> (
    select count(*) from tenants where tenant_id = any(tenants_named)
  ) then
    raise exception 'a journal names a tenant that does not exist'
      using errcode = 'foreign_key_violation', constraint = 'journals_tenant_fkey';
  end if;
  if is_program() then
    -- The walls between workspaces leave it no other tenant than its own.
    perform lock_months(tenants_named[1], false);
    if exists (
      select from ledger_months
      where tenant_id = tenants_named[1] and is_closed
        and month >= date_trunc('month', first_day)
    ) then
      raise exception 'a journal is posted in a month that is closed'
        using errcode = 'check_violation', constraint = 'journals_month_open';
    end if;
  end if;
  return null;
end
$$;
drop trigger journals_month on journals;
drop trigger journals_tenant on journals;
drop function check_journals_month();
drop function check_journals_tenant();
create trigger journals_checked
  after insert on journals
  referencing new table as new_rows
  for each statement execute function check_journals();

-- Lines name a journal and accounts that exist, and balance. The journal of the program's lines is
-- of the same transaction: a journal is written once. All rows of a statement are checked at once,
-- which costs a fraction of a foreign key checked for each row. Journals are never deleted alone.
alter table journal_lines drop constraint journal_lines_tenant_id_journal_id_fkey;
create or replace function check_journals_balance() returns trigger
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
declare
  tenant bigint;
  journal_ids bigint[];
  account_ids bigint[];
  found_journals bigint;
  own_journals bigint;
  broken bigint;
begin
  select min(tenant_id), array_agg(distinct journal_id), array_agg(distinct ledger_account_id)
  into tenant, journal_ids, account_ids from new_rows;
  if tenant is null then
    return null;
  end if;
  select count(*), count(*) filter (where written_in = pg_current_xact_id())
  into found_journals, own_journals
  from journals where tenant_id = tenant and journal_id = any(journal_ids);
  if found_journals < cardinality(journal_ids) then
    raise exception 'a journal line names a journal that does not exist'
      using errcode = 'foreign_key_violation', constraint = 'journal_lines_journal_fkey';
  end if;
  if cardinality(account_ids) <> (
    select count(*) from ledger_accounts
    where tenant_id = tenant and ledger_account_id = any(account_ids)
  ) then
    raise exception 'a journal line names a ledger account that does not exist'
      using errcode = 'foreign_key_violation', constraint = 'journal_lines_ledger_account_fkey';
  end if;
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
  if own_journals < cardinality(journal_ids) and is_program() then
    raise exception 'lines and entries are written together with their journal'
      using errcode = 'check_violation', constraint = 'journals_written_once';
  end if;
  return null;
end
$$;
drop trigger journal_lines_written_once on journal_lines;

-- Balances follow from entries, in the order of keys so that two postings do not wait for each
-- other. The journal of an entry must exist: this is checked here for all rows of a statement at
-- once, which costs a fraction of a foreign key checked for each row. The tenant needs no foreign
-- key, because the journal has one. A subscription has its open items on receivable or on payable.
-- The program's entries are of the transaction that wrote their journal.
create or replace function keep_balances() returns trigger
language plpgsql
-- A call of one payment keeps its plans: making them anew took longer than the statements.
set plan_cache_mode = force_generic_plan
as $$
declare
  tenant bigint;
  journal_ids bigint[];
  found_journals bigint;
  own_journals bigint;
  has_deposits boolean;
  has_party_money boolean;
  subscription_ids bigint[];
  party_ids bigint[];
  amounts bigint[];
  owed_amounts bigint[];
begin
  select min(tenant_id), array_agg(distinct journal_id), bool_or(ledger_account_id in (4, 10)),
    bool_or(ledger_account_id = 3 or subscription_id is null)
  into tenant, journal_ids, has_deposits, has_party_money
  from new_rows;
  if tenant is null then
    return null;
  end if;
  select count(*), count(*) filter (where written_in = pg_current_xact_id())
  into found_journals, own_journals
  from journals where tenant_id = tenant and journal_id = any(journal_ids);
  if found_journals < cardinality(journal_ids) then
    raise exception 'a subledger entry names a journal that does not exist'
      using errcode = 'foreign_key_violation', constraint = 'subledger_entries_journal_fkey';
  end if;
  if own_journals < cardinality(journal_ids) and is_program() then
    raise exception 'lines and entries are written together with their journal'
      using errcode = 'check_violation', constraint = 'journals_written_once';
  end if;
  insert into subscription_balances as b
    (tenant_id, subscription_id, party_id, receivable, deposit, disputed, received)
  select tenant_id, subscription_id, party_id,
    coalesce(sum(amount) filter (where ledger_account_id in (2, 1000001)), 0),
    coalesce(-sum(amount) filter (where ledger_account_id = 4), 0),
    coalesce(sum(amount) filter (where ledger_account_id = 10), 0),
    coalesce(-sum(amount) filter (where is_payment and ledger_account_id in (2, 1000001)), 0)
  from new_rows
  where subscription_id is not null and ledger_account_id in (2, 4, 10, 1000001)
  group by tenant_id, subscription_id, party_id
  order by tenant_id, subscription_id, party_id
  on conflict (tenant_id, subscription_id, party_id) do update
    set receivable = b.receivable + excluded.receivable,
      deposit = b.deposit + excluded.deposit,
      disputed = b.disputed + excluded.disputed,
      received = b.received + excluded.received;
  if has_deposits then
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
  end if;
  if has_party_money then
    select array_agg(party_id), array_agg(paid_ahead), array_agg(owed)
    into party_ids, amounts, owed_amounts
    from (
      select party_id, coalesce(-sum(amount) filter (where ledger_account_id = 3), 0)::bigint
          as paid_ahead,
        coalesce(sum(amount) filter (where ledger_account_id <> 3), 0)::bigint as owed
      from new_rows
      where ledger_account_id = 3 or subscription_id is null
      group by party_id
      order by party_id
    ) moved;
    insert into party_wallets (tenant_id, party_id)
    select tenant, moved.party_id from unnest(party_ids) as moved (party_id)
    on conflict (tenant_id, party_id) do nothing;
    update party_wallets w
    set balance = w.balance + moved.paid_ahead, receivable = w.receivable + moved.owed
    from unnest(party_ids, amounts, owed_amounts) as moved (party_id, paid_ahead, owed)
    where w.tenant_id = tenant and w.party_id = moved.party_id;
  end if;
  return null;
end
$$;

-- Triggers run in the order of their names: bills and items, then balances, then what is opened.
drop trigger subledger_entries_written_once on subledger_entries;
drop function check_journals_open();

-- What an entry settles, as before, with less work where it is one bill: other items are looked for
-- only where there are any, and a few changes of what is open are written as they are.
create or replace function keep_open_items() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
-- Each bill and item is looked up by its key: for a chunk of a few hundred payments PostgreSQL would
-- read all bills of the workspace instead. A call of one payment keeps its plans.
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  tenant constant bigint := require_tenant();
  at timestamptz;
  author text;
  bill_ids bigint[];
  item_ids bigint[];
  subscription_ids bigint[];
  paid bigint[];
  credits bigint[];
  written bigint[];
  moved bigint[];
  doubtful bigint[];
  receivable bigint[];
  has_items boolean;
  one_context bigint;
  one record;
  combined_ids bigint[] := '{}';
  -- What changed of what is receivable and open.
  context_ids bigint[] := '{}';
  item_subscriptions bigint[] := '{}';
  due_dates date[] := '{}';
  owed bigint[] := '{}';
  party_ids bigint[] := '{}';
  items smallint[] := '{}';
begin
  select max(s.at), max(s.author), array_agg(s.bill_id), array_agg(s.paid), array_agg(s.credited),
    array_agg(s.written_off), array_agg(s.transferred), array_agg(s.disputed),
    array_agg(s.receivable)
  into at, author, bill_ids, paid, credits, written, moved, doubtful, receivable
  from (
    select bill_id, max(created_at) as at, max(created_by) as author,
      coalesce(sum(settled) filter (where effect = 'paid'), 0)::bigint as paid,
      coalesce(sum(settled) filter (where effect = 'credited'), 0)::bigint as credited,
      coalesce(sum(settled) filter (where effect = 'written_off'), 0)::bigint as written_off,
      coalesce(sum(settled) filter (where effect = 'transferred'), 0)::bigint as transferred,
      coalesce(sum(settled) filter (where effect = 'disputed'), 0)::bigint as disputed,
      coalesce(sum(settled) filter (where ledger_account_id = 2), 0)::bigint as receivable
    from new_rows
    where effect is not null and item_id is null
    group by bill_id
    order by bill_id
  ) s;
  if bill_ids is not null then
    for one in
      update bills b
      set paid_amount = b.paid_amount + n.paid, credited = b.credited + n.credited,
        written_off = b.written_off + n.written_off, transferred = b.transferred + n.transferred,
        disputed = b.disputed + n.disputed, modified_at = at, modified_by = author,
        ts = greatest(b.ts + 1, (extract(epoch from at) * 1000)::bigint)
      from unnest(bill_ids, paid, credits, written, moved, doubtful, receivable)
        as n (bill_id, paid, credited, written_off, transferred, disputed, receivable)
      where b.tenant_id = tenant and b.bill_id = n.bill_id
      returning b.bill_id, b.subscription_id, b.context_id, b.due_date, b.party_id, b.bill_amount,
        n.receivable, b.bill_amount - b.paid_amount - b.credited - b.written_off - b.transferred
          - b.disputed as open_now
    loop
      if one.subscription_id is null then
        combined_ids := combined_ids || one.bill_id;
      end if;
      if one.receivable <> 0 then
        context_ids := context_ids || one.context_id;
        item_subscriptions := item_subscriptions || null::bigint;
        due_dates := due_dates || one.due_date;
        owed := owed || case when one.bill_amount > 0 then -one.receivable else 0 end;
        party_ids := party_ids || one.party_id;
        items := items || ((one.open_now <> 0)::integer
          - (one.open_now + one.receivable <> 0)::integer)::smallint;
      end if;
    end loop;
  end if;
  if combined_ids <> '{}' then
    select array_agg(s.bill_id), array_agg(s.subscription_id), array_agg(s.paid),
      array_agg(s.credited), array_agg(s.written_off), array_agg(s.transferred),
      array_agg(s.disputed)
    into bill_ids, subscription_ids, paid, credits, written, moved, doubtful
    from (
      select bill_id, subscription_id,
        coalesce(sum(settled) filter (where effect = 'paid'), 0)::bigint as paid,
        coalesce(sum(settled) filter (where effect = 'credited'), 0)::bigint as credited,
        coalesce(sum(settled) filter (where effect = 'written_off'), 0)::bigint as written_off,
        coalesce(sum(settled) filter (where effect = 'transferred'), 0)::bigint as transferred,
        coalesce(sum(settled) filter (where effect = 'disputed'), 0)::bigint as disputed
      from new_rows
      where effect is not null and item_id is null and bill_id = any(combined_ids)
      group by bill_id, subscription_id
      order by bill_id, subscription_id
    ) s;
    update bill_parts p
    set paid_amount = p.paid_amount + n.paid, credited = p.credited + n.credited,
      written_off = p.written_off + n.written_off, transferred = p.transferred + n.transferred,
      disputed = p.disputed + n.disputed
    from unnest(bill_ids, subscription_ids, paid, credits, written, moved, doubtful)
      as n (bill_id, subscription_id, paid, credited, written_off, transferred, disputed)
    where p.tenant_id = tenant and p.bill_id = n.bill_id
      and p.subscription_id = n.subscription_id;
  end if;
  has_items := exists (select from new_rows where effect is not null and item_id is not null);
  if has_items then
    select array_agg(s.item_id), array_agg(s.paid), array_agg(s.credited), array_agg(s.written_off),
      array_agg(s.transferred), array_agg(s.disputed), array_agg(s.receivable)
    into item_ids, paid, credits, written, moved, doubtful, receivable
    from (
      select item_id, coalesce(sum(settled) filter (where effect = 'paid'), 0)::bigint as paid,
        coalesce(sum(settled) filter (where effect = 'credited'), 0)::bigint as credited,
        coalesce(sum(settled) filter (where effect = 'written_off'), 0)::bigint as written_off,
        coalesce(sum(settled) filter (where effect = 'transferred'), 0)::bigint as transferred,
        coalesce(sum(settled) filter (where effect = 'disputed'), 0)::bigint as disputed,
        coalesce(sum(settled) filter (where ledger_account_id = 2), 0)::bigint as receivable
      from new_rows
      where effect is not null and item_id is not null
      group by item_id
      order by item_id
    ) s;
  end if;
  if item_ids is not null then
    for one in
      update open_items i
      set paid_amount = i.paid_amount + n.paid, credited = i.credited + n.credited,
        written_off = i.written_off + n.written_off, transferred = i.transferred + n.transferred,
        disputed = i.disputed + n.disputed
      from unnest(item_ids, paid, credits, written, moved, doubtful, receivable)
        as n (item_id, paid, credited, written_off, transferred, disputed, receivable)
      where i.tenant_id = tenant and i.item_id = n.item_id
      returning i.subscription_id, i.due_date, i.party_id, i.amount, n.receivable,
        i.amount - i.paid_amount - i.credited - i.written_off - i.transferred - i.disputed
          as open_now
    loop
      if one.receivable <> 0 then
        context_ids := context_ids || case when one.subscription_id is null then 0 end::bigint;
        item_subscriptions := item_subscriptions || one.subscription_id;
        due_dates := due_dates || one.due_date;
        owed := owed || case when one.amount > 0 then -one.receivable else 0 end;
        party_ids := party_ids || one.party_id;
        items := items || ((one.open_now <> 0)::integer
          - (one.open_now + one.receivable <> 0)::integer)::smallint;
      end if;
    end loop;
  end if;
  if cardinality(party_ids) <= 4 then
    for place in 1..cardinality(party_ids) loop
      one_context := context_ids[place];
      if one_context is null then
        select s.context_id into one_context from subscriptions s
        where s.tenant_id = tenant and s.subscription_id = item_subscriptions[place];
        one_context := coalesce(one_context, 0);
      end if;
      insert into open_changes
        (tenant_id, context_id, due_date, owed, items, party_ids, party_items)
      values (tenant, one_context, due_dates[place], owed[place], items[place],
        case when items[place] <> 0 then array[party_ids[place]] else '{}' end,
        case when items[place] <> 0 then array[items[place]] else '{}' end);
    end loop;
  else
    insert into open_changes (tenant_id, context_id, due_date, owed, items, party_ids, party_items)
    select own.tenant_id, c.context_id, c.due_date, sum(c.owed), sum(c.items),
      coalesce(array_agg(c.party_id) filter (where c.items <> 0), '{}'),
      coalesce(array_agg(c.items) filter (where c.items <> 0), '{}')
    from (select tenant_id from tenants where tenant_id = require_tenant()) own
    cross join (
      select coalesce(u.context_id, (
          select s.context_id from subscriptions s
          where s.tenant_id = tenant and s.subscription_id = u.subscription_id
        ), 0) as context_id, u.due_date, u.owed, u.party_id, u.items
      from unnest(context_ids, item_subscriptions, due_dates, owed, party_ids, items)
        as u (context_id, subscription_id, due_date, owed, party_id, items)
    ) c
    group by own.tenant_id, c.context_id, c.due_date;
  end if;
  return null;
end
$$;

-- A wallet that is there already names no party anew.
create or replace function check_named_parties() returns trigger
language plpgsql
as $$
declare
  tenant bigint;
  party_ids bigint[];
begin
  select min(tenant_id), array_agg(distinct party_id) into tenant, party_ids from new_rows;
  if party_ids is null then
    return null;
  end if;
  if cardinality(party_ids) <> (
    select count(*)
    from (select unnest(party_ids) as party_id limit cardinality(party_ids)) n
    cross join lateral (
      select from parties p where p.tenant_id = tenant and p.party_id = n.party_id offset 0
    ) found
  ) then
    raise exception 'a row names a party that does not exist'
      using errcode = 'foreign_key_violation', constraint = tg_argv[0];
  end if;
  return null;
end
$$;
