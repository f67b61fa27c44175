-- A clerk's call of one payment keeps the plans of these triggers. Without the limit, which has as many
-- rows as there are, PostgreSQL expects ten rows where there is one, and plans each call anew: that
-- took several times as long as the statements themselves.

create or replace function add_open_changes() returns trigger
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
          select * from bills a where a.tenant_id = tenant and a.bill_id = n.bill_id offset 0
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
          select * from open_items a where a.tenant_id = tenant and a.item_id = n.item_id offset 0
        ) i
      ) o
    ) c
    where c.changed <> 0 or c.items <> 0
    group by c.tenant_id, c.context_id, c.due_date;
  end if;
  return null;
end
$$;

create or replace function check_named_parties() returns trigger
language plpgsql
as $$
declare
  tenant bigint;
  party_ids bigint[];
begin
  select min(tenant_id), array_agg(distinct party_id) into tenant, party_ids from new_rows;
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
