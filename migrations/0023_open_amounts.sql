-- What is open by due date and by party, kept beside bills and open items: aging over a million open
-- bills reads a few thousand rows. Triggers append changes, and a task of the worker folds them.
-- Readers add both, so that they are exact at any moment and no posting waits for another.

create table open_changes (
  tenant_id bigint not null,
  change_id uuid not null default uuidv7(),
  context_id bigint not null,
  due_date date not null,
  owed numeric not null,
  items bigint not null,
  party_ids bigint[] not null default '{}',
  party_items smallint[] not null default '{}',
  primary key (tenant_id, change_id),
  check (cardinality(party_ids) = cardinality(party_items))
);
comment on table open_changes is
  'What a statement changed of what is receivable and open, by pricing context and due date. Rows '
  'are appended by triggers, and folded into open_totals and open_parties.';
comment on column open_changes.context_id is '0 for what a party owes without a subscription.';
comment on column open_changes.owed is
  'In minor units, of items above zero. Credits that are open are few, and are read themselves.';
comment on column open_changes.items is 'How many more items are open, credits among them.';
comment on column open_changes.party_ids is
  'Parties with more or fewer open items; the same places of party_items say how many.';
call wall_off('open_changes');
-- Only the functions below write these tables.
grant select on open_changes to billwright_api, billwright_worker;

create table open_totals (
  tenant_id bigint not null,
  context_id bigint not null,
  due_date date not null,
  owed numeric not null,
  items bigint not null,
  primary key (tenant_id, context_id, due_date)
);
comment on table open_totals is
  'What is receivable and open by pricing context and due date, without the changes that are not '
  'folded yet.';
call wall_off('open_totals');
grant select on open_totals to billwright_api, billwright_worker;

create table open_parties (
  tenant_id bigint not null,
  party_id bigint not null,
  context_id bigint not null,
  items integer not null,
  primary key (tenant_id, party_id, context_id)
);
comment on table open_parties is
  'Parties with open items by pricing context, without the changes that are not folded yet.';
call wall_off('open_parties');
grant select on open_parties to billwright_api, billwright_worker;

create table open_party_counts (
  tenant_id bigint not null,
  context_id bigint not null,
  parties bigint not null,
  primary key (tenant_id, context_id)
);
comment on table open_party_counts is 'How many parties open_parties has, by pricing context.';
comment on column open_party_counts.context_id is '0 for all parties, each counted once.';
call wall_off('open_party_counts');
grant select on open_party_counts to billwright_api, billwright_worker;

-- A clerk's call of one payment keeps the plan of this trigger. Without the limit, which has as many
-- rows as there are, PostgreSQL expects ten rows where there is one, and plans each call anew: that
-- took several times as long as the statements themselves.
create function add_open_changes() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  -- Rows are looked up one by one: a join might read all bills of the workspace.
  tenant bigint := require_tenant();
  posted record;
  ids bigint[];
  opened bigint[];
  settled bigint[];
begin
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
  select array_agg(b.bill_id), array_agg(b.opened), array_agg(b.settled)
  into ids, opened, settled
  from (
    select bill_id, coalesce(sum(amount) filter (where effect is null), 0)::bigint as opened,
      coalesce(sum(new_rows.settled), 0)::bigint as settled
    from new_rows
    where ledger_account_id = 2 and kind <> 'Bill' and item_id is null and bill_id is not null
    group by bill_id
  ) b;
  if ids is not null then
    -- Settled, or opened again. A bill that is unposted takes back what it opened.
    insert into open_changes (tenant_id, context_id, due_date, owed, items, party_ids, party_items)
    select c.tenant_id, c.context_id, c.due_date,
      coalesce(sum(c.changed) filter (where c.bill_amount > 0), 0), sum(c.items),
      coalesce(array_agg(c.party_id) filter (where c.items <> 0), '{}'),
      coalesce(array_agg(c.items) filter (where c.items <> 0), '{}')
    from (
      select o.tenant_id, o.context_id, o.due_date, o.party_id, o.bill_amount, o.changed,
        ((o.open_now + o.opened <> 0)::integer
          - (o.open_now + o.opened - o.changed <> 0)::integer)::smallint as items
      from (
        select b.tenant_id, b.context_id, b.due_date, b.party_id, b.bill_amount, n.opened,
          n.opened - n.settled as changed,
          b.bill_amount - b.paid_amount - b.credited - b.written_off - b.transferred - b.disputed
            as open_now
        from (
          select * from unnest(ids, opened, settled) as u (bill_id, opened, settled)
          limit cardinality(ids)
        ) n
        cross join lateral (
          select a.tenant_id, a.context_id, a.due_date, a.party_id, a.bill_amount, a.paid_amount,
            a.credited, a.written_off, a.transferred, a.disputed
          from bills a where a.tenant_id = tenant and a.bill_id = n.bill_id offset 0
        ) b
      ) o
    ) c
    where c.changed <> 0 or c.items <> 0
    group by c.tenant_id, c.context_id, c.due_date;
  end if;
  select array_agg(i.item_id), array_agg(i.opened), array_agg(i.settled)
  into ids, opened, settled
  from (
    select item_id, coalesce(sum(amount) filter (where effect is null), 0)::bigint as opened,
      coalesce(sum(new_rows.settled), 0)::bigint as settled
    from new_rows
    where ledger_account_id = 2 and item_id is not null
    group by item_id
  ) i;
  if ids is not null then
    -- Begun, settled, or opened again.
    insert into open_changes (tenant_id, context_id, due_date, owed, items, party_ids, party_items)
    select c.tenant_id, c.context_id, c.due_date,
      coalesce(sum(c.changed) filter (where c.amount > 0), 0), sum(c.items),
      coalesce(array_agg(c.party_id) filter (where c.items <> 0), '{}'),
      coalesce(array_agg(c.items) filter (where c.items <> 0), '{}')
    from (
      select o.tenant_id, o.context_id, o.due_date, o.party_id, o.amount, o.changed,
        ((o.open_now <> 0)::integer - (o.open_now - o.changed <> 0)::integer)::smallint as items
      from (
        select i.tenant_id, coalesce((
            select s.context_id from subscriptions s
            where s.tenant_id = tenant and s.subscription_id = i.subscription_id
          ), 0) as context_id, i.due_date, i.party_id,
          i.amount, n.opened - n.settled as changed,
          i.amount - i.paid_amount - i.credited - i.written_off - i.transferred - i.disputed
            as open_now
        from (
          select * from unnest(ids, opened, settled) as u (item_id, opened, settled)
          limit cardinality(ids)
        ) n
        cross join lateral (
          select a.tenant_id, a.subscription_id, a.due_date, a.party_id, a.amount, a.paid_amount,
            a.credited, a.written_off, a.transferred, a.disputed
          from open_items a where a.tenant_id = tenant and a.item_id = n.item_id offset 0
        ) i
      ) o
    ) c
    where c.changed <> 0 or c.items <> 0
    group by c.tenant_id, c.context_id, c.due_date;
  end if;
  return null;
end
$$;
revoke all on function add_open_changes() from public;
-- By its name it runs after subledger_entries_open_items, which keeps the sums of bills and items.
create trigger subledger_entries_open_totals
  after insert on subledger_entries
  referencing new table as new_rows
  for each statement execute function add_open_changes();

-- A bill that is posted and not published is due with its term, whose due date may change.
create function move_open_bill() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  open_amount bigint := new.bill_amount - new.paid_amount - new.credited - new.written_off
    - new.transferred - new.disputed;
begin
  if exists (
    select from pricing_contexts
    where tenant_id = require_tenant() and context_id = new.context_id
      and context_type = 'Sale'
  ) then
    insert into open_changes (tenant_id, context_id, due_date, owed, items)
    values
      (new.tenant_id, new.context_id, old.due_date, -greatest(open_amount, 0), -1),
      (new.tenant_id, new.context_id, new.due_date, greatest(open_amount, 0), 1);
  end if;
  return null;
end
$$;
revoke all on function move_open_bill() from public;
create trigger bills_open_moved
  after update of due_date on bills
  for each row
  when (old.due_date <> new.due_date and old.status in ('Posted', 'Published')
    and new.status in ('Posted', 'Published') and not new.is_settled)
  execute function move_open_bill();

-- Of these parties, those with open items: by pricing context, and under 0 all of them.
create function count_open_parties(wanted bigint[])
returns table (context_id bigint, parties bigint)
language sql stable
as $$
  select 0::bigint, count(*)
  from (
    select p.party_id from open_parties p
    where p.tenant_id = require_tenant() and p.party_id = any(wanted)
    group by p.party_id having sum(p.items) > 0
  ) owing
  union all
  select p.context_id, count(*) from open_parties p
  where p.tenant_id = require_tenant() and p.party_id = any(wanted) and p.context_id > 0
    and p.items > 0
  group by p.context_id
$$;
revoke all on function count_open_parties(bigint[]) from public;

-- Adds to the counts, or with -1 takes from them, what these parties count for now.
create function add_party_counts(wanted bigint[], side integer) returns void
language sql
as $$
  insert into open_party_counts as c (tenant_id, context_id, parties)
  select own.tenant_id, n.context_id, side * n.parties
  from (select tenant_id from tenants where tenant_id = require_tenant()) own
  cross join count_open_parties(wanted) n
  on conflict (tenant_id, context_id) do update set parties = c.parties + excluded.parties
$$;
revoke all on function add_party_counts(bigint[], integer) from public;

-- Folds at most so many changes, and returns how many it folded: of a workspace by one at a time.
create function fold_open_changes(rows_max integer) returns integer
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  change_ids uuid[];
  touched bigint[];
begin
  if not pg_try_advisory_xact_lock(hashtextextended('open changes', require_tenant())) then
    return 0;
  end if;
  change_ids := array(
    select c.change_id from open_changes c
    where c.tenant_id = require_tenant()
    order by c.change_id
    limit rows_max
  );
  if cardinality(change_ids) = 0 then
    return 0;
  end if;
  insert into open_totals as t (tenant_id, context_id, due_date, owed, items)
  select c.tenant_id, c.context_id, c.due_date, sum(c.owed), sum(c.items)
  from open_changes c
  where c.tenant_id = require_tenant() and c.change_id = any(change_ids)
  group by c.tenant_id, c.context_id, c.due_date
  on conflict (tenant_id, context_id, due_date) do update
    set owed = t.owed + excluded.owed, items = t.items + excluded.items;
  delete from open_totals t where t.tenant_id = require_tenant() and t.owed = 0 and t.items = 0;
  touched := array(
    select distinct u.party_id
    from open_changes c
    cross join lateral unnest(c.party_ids) as u (party_id)
    where c.tenant_id = require_tenant() and c.change_id = any(change_ids)
  );
  perform add_party_counts(touched, -1);
  insert into open_parties as p (tenant_id, party_id, context_id, items)
  select c.tenant_id, u.party_id, c.context_id, sum(u.items)
  from open_changes c
  cross join lateral unnest(c.party_ids, c.party_items) as u (party_id, items)
  where c.tenant_id = require_tenant() and c.change_id = any(change_ids)
  group by c.tenant_id, u.party_id, c.context_id
  on conflict (tenant_id, party_id, context_id) do update set items = p.items + excluded.items;
  delete from open_parties p
  where p.tenant_id = require_tenant() and p.party_id = any(touched) and p.items = 0;
  perform add_party_counts(touched, 1);
  delete from open_changes c
  where c.tenant_id = require_tenant() and c.change_id = any(change_ids);
  return cardinality(change_ids);
end
$$;
revoke all on function fold_open_changes(integer) from public;
grant execute on function fold_open_changes(integer) to billwright_worker;

-- Credits that are open: few among all.
create index bills_credits on bills (tenant_id, party_id)
  where bill_amount < 0 and not is_settled;
create index open_items_credits on open_items (tenant_id, party_id)
  where amount < 0 and not is_settled;
