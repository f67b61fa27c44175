-- What was debited and credited on each ledger account, by posting date: a trial balance adds up a
-- few rows a day instead of all journal lines ever written.
--
-- Every statement that inserts journal lines adds rows of its own, under the first journal it
-- wrote, so that no posting waits for another. Each night a job folds them into one row a day
-- and account, under journal 0. Readers add up both kinds.
create table ledger_day_totals (
  tenant_id bigint not null references tenants (tenant_id),
  posting_date date not null,
  ledger_account_id bigint not null,
  journal_id bigint not null,
  -- Minor units. Sums of many lines may be more than a bigint holds.
  debit numeric not null check (debit >= 0),
  credit numeric not null check (credit >= 0),
  lines bigint not null check (lines > 0),
  primary key (tenant_id, posting_date, ledger_account_id, journal_id)
);
call wall_off('ledger_day_totals');
-- They are written by the two functions below alone.
grant select on ledger_day_totals to billwright_api, billwright_worker;

create function add_ledger_totals() returns trigger
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  journal_ids bigint[];
  account_ids bigint[];
  amounts bigint[];
begin
  select array_agg(journal_id), array_agg(ledger_account_id), array_agg(amount)
  into journal_ids, account_ids, amounts
  from new_rows;
  insert into ledger_day_totals as t
    (tenant_id, posting_date, ledger_account_id, journal_id, debit, credit, lines)
  select j.tenant_id, j.posting_date, l.ledger_account_id, min(l.journal_id),
    sum(greatest(l.amount, 0)), sum(greatest(-l.amount, 0)), count(*)
  from unnest(journal_ids, account_ids, amounts) as l (journal_id, ledger_account_id, amount)
  join journals j on j.tenant_id = require_tenant() and j.journal_id = l.journal_id
  group by j.tenant_id, j.posting_date, l.ledger_account_id
  on conflict (tenant_id, posting_date, ledger_account_id, journal_id) do update
    set debit = t.debit + excluded.debit, credit = t.credit + excluded.credit,
      lines = t.lines + excluded.lines;
  return null;
end
$$;
revoke all on function add_ledger_totals() from public;
create trigger journal_lines_totals
  after insert on journal_lines
  referencing new table as new_rows
  for each statement execute function add_ledger_totals();

-- Folds so many additions at most, and returns how many it did.
create function fold_ledger_totals(rows_max integer) returns integer
language plpgsql security definer
set search_path = public, pg_temp
as $$
declare
  dates date[];
  account_ids bigint[];
  journal_ids bigint[];
  debits numeric[];
  credits numeric[];
  counts bigint[];
begin
  select array_agg(posting_date), array_agg(ledger_account_id), array_agg(journal_id),
    array_agg(debit), array_agg(credit), array_agg(lines)
  into dates, account_ids, journal_ids, debits, credits, counts
  from (
    select posting_date, ledger_account_id, journal_id, debit, credit, lines
    from ledger_day_totals
    where tenant_id = require_tenant() and journal_id > 0
    order by posting_date, ledger_account_id, journal_id
    limit rows_max
    for update skip locked
  ) added;
  if dates is null then
    return 0;
  end if;
  delete from ledger_day_totals t
  using unnest(dates, account_ids, journal_ids) as a (posting_date, ledger_account_id, journal_id)
  where t.tenant_id = require_tenant() and t.posting_date = a.posting_date
    and t.ledger_account_id = a.ledger_account_id and t.journal_id = a.journal_id;
  insert into ledger_day_totals as t
    (tenant_id, posting_date, ledger_account_id, journal_id, debit, credit, lines)
  select require_tenant(), a.posting_date, a.ledger_account_id, 0, sum(a.debit), sum(a.credit),
    sum(a.lines)
  from unnest(dates, account_ids, debits, credits, counts)
    as a (posting_date, ledger_account_id, debit, credit, lines)
  group by a.posting_date, a.ledger_account_id
  order by a.posting_date, a.ledger_account_id
  on conflict (tenant_id, posting_date, ledger_account_id, journal_id) do update
    set debit = t.debit + excluded.debit, credit = t.credit + excluded.credit,
      lines = t.lines + excluded.lines;
  return cardinality(dates);
end
$$;
revoke all on function fold_ledger_totals(integer) from public;
grant execute on function fold_ledger_totals(integer) to billwright_worker;

-- For the journals that exist.
do $$
declare
  one bigint;
begin
  for one in select tenant_id from workspaces order by tenant_id loop
    perform set_config('app.tenant', one::text, true);
    insert into ledger_day_totals
      (tenant_id, posting_date, ledger_account_id, journal_id, debit, credit, lines)
    select one, j.posting_date, l.ledger_account_id, 0, sum(greatest(l.amount, 0)),
      sum(greatest(-l.amount, 0)), count(*)
    from journals j
    join journal_lines l on l.tenant_id = one and l.journal_id = j.journal_id
    where j.tenant_id = one
    group by j.posting_date, l.ledger_account_id;
  end loop;
  perform set_config('app.tenant', '', true);
end
$$;
