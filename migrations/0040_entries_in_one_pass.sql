-- The triggers on subledger entries do less for each row. What an entry settles, and what is then
-- open by due date and party, comes from one update of each bill and item, in the order of their
-- ids. So a payment that settles several bills need not lock them first. Balances follow after
-- bills and items, in the one order in which everything locks them.

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
  if party_ids <> '{}' then
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

-- What entries open that settle nothing: bills that a term posts, items that begin, and bills that
-- are unposted and so take back what they opened. What entries settle, keep_open_items() adds.
create or replace function add_open_changes() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  -- Rows are looked up one by one: a join might read all bills of the workspace.
  tenant constant bigint := require_tenant();
  posted record;
  ids bigint[];
  opened bigint[];
  settled_now bigint[];
begin
  if not exists (select from new_rows where effect is null and ledger_account_id = 2) then
    return null;
  end if;
  -- Bills that a term opens: a chunk of it has one journal and one due date.
  for posted in
    select b.journal_id, b.due_date, sum(greatest(b.amount, 0)) as owed, count(*) as items,
      array_agg(b.party_id) as party_ids
    from (
      select journal_id, due_date, party_id, sum(amount) as amount
      from new_rows
      where kind = 'Bill' and ledger_account_id = 2
      group by journal_id, due_date, party_id, bill_id
      having sum(amount) <> 0
    ) b
    group by b.journal_id, b.due_date
  loop
    insert into open_changes (tenant_id, context_id, due_date, owed, items, party_ids, party_items)
    select j.tenant_id, t.context_id, posted.due_date, posted.owed, posted.items,
      posted.party_ids, array_fill(1::smallint, array[posted.items::integer])
    from journals j
    join terms t on t.tenant_id = require_tenant() and t.term_id = j.term_id
    where j.tenant_id = require_tenant() and j.journal_id = posted.journal_id;
  end loop;
  select array_agg(b.bill_id), array_agg(b.opened) into ids, opened
  from (
    select bill_id, sum(amount)::bigint as opened
    from new_rows
    where effect is null and ledger_account_id = 2 and kind <> 'Bill' and item_id is null
      and bill_id is not null
    group by bill_id
    having sum(amount) <> 0
  ) b;
  if ids is not null then
    -- Before it was taken back, what is open of the bill was that and what it opened.
    insert into open_changes (tenant_id, context_id, due_date, owed, items, party_ids, party_items)
    select c.tenant_id, c.context_id, c.due_date,
      coalesce(sum(c.opened) filter (where c.bill_amount > 0), 0), sum(c.items),
      coalesce(array_agg(c.party_id) filter (where c.items <> 0), '{}'),
      coalesce(array_agg(c.items) filter (where c.items <> 0), '{}')
    from (
      select b.tenant_id, b.context_id, b.due_date, b.party_id, b.bill_amount, n.opened,
        ((b.open_now + n.opened <> 0)::integer - (b.open_now <> 0)::integer)::smallint as items
      from (
        select * from unnest(ids, opened) as u (bill_id, opened)
        limit cardinality(ids)
      ) n
      cross join lateral (
        select a.tenant_id, a.context_id, a.due_date, a.party_id, a.bill_amount,
          a.bill_amount - a.paid_amount - a.credited - a.written_off - a.transferred - a.disputed
            as open_now
        from bills a where a.tenant_id = tenant and a.bill_id = n.bill_id offset 0
      ) b
    ) c
    group by c.tenant_id, c.context_id, c.due_date;
  end if;
  select array_agg(i.item_id), array_agg(i.opened), array_agg(i.settled)
  into ids, opened, settled_now
  from (
    select item_id, (sum(amount) filter (where effect is null))::bigint as opened,
      coalesce(sum(settled), 0)::bigint as settled
    from new_rows
    where ledger_account_id = 2 and item_id is not null
    group by item_id
    having sum(amount) filter (where effect is null) <> 0
  ) i;
  if ids is not null then
    -- What the same entries settle of an item comes after its beginning.
    insert into open_changes (tenant_id, context_id, due_date, owed, items, party_ids, party_items)
    select c.tenant_id, c.context_id, c.due_date,
      coalesce(sum(c.opened) filter (where c.amount > 0), 0), sum(c.items),
      coalesce(array_agg(c.party_id) filter (where c.items <> 0), '{}'),
      coalesce(array_agg(c.items) filter (where c.items <> 0), '{}')
    from (
      select i.tenant_id, coalesce((
          select s.context_id from subscriptions s
          where s.tenant_id = tenant and s.subscription_id = i.subscription_id
        ), 0) as context_id, i.due_date, i.party_id, i.amount, n.opened,
        ((i.open_now <> 0)::integer - (i.open_now - n.opened <> 0)::integer)::smallint as items
      from (
        select * from unnest(ids, opened, settled_now) as u (item_id, opened, settled)
        limit cardinality(ids)
      ) n
      cross join lateral (
        select a.tenant_id, a.subscription_id, a.due_date, a.party_id, a.amount,
          a.amount - a.paid_amount - a.credited - a.written_off - a.transferred - a.disputed
            + n.settled as open_now
        from open_items a where a.tenant_id = tenant and a.item_id = n.item_id offset 0
      ) i
    ) c
    group by c.tenant_id, c.context_id, c.due_date;
  end if;
  return null;
end
$$;

-- Balances follow from entries, in the order of keys so that two postings do not wait for each
-- other. The journal of an entry must exist: this is checked here for all rows of a statement at
-- once, which costs a fraction of a foreign key checked for each row. The tenant needs no foreign
-- key, because the journal has one. A subscription has its open items on receivable or on payable.
create or replace function keep_balances() returns trigger
language plpgsql
-- A call of one payment keeps its plans: making them anew took longer than the statements.
set plan_cache_mode = force_generic_plan
as $$
declare
  tenant bigint;
  journal_ids bigint[];
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
  if cardinality(journal_ids) <> (
    select count(*) from journals where tenant_id = tenant and journal_id = any(journal_ids)
  ) then
    raise exception 'a subledger entry names a journal that does not exist'
      using errcode = 'foreign_key_violation', constraint = 'subledger_entries_journal_fkey';
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
drop trigger subledger_entries_balances on subledger_entries;
drop trigger subledger_entries_open_totals on subledger_entries;
create trigger subledger_entries_running_balances
  after insert on subledger_entries
  referencing new table as new_rows
  for each statement execute function keep_balances();
create trigger subledger_entries_totals_opened
  after insert on subledger_entries
  referencing new table as new_rows
  for each statement execute function add_open_changes();
