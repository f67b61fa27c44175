-- The day's totals of a journal find its date by its key. Joined to journals, a plan that was made
-- while the workspace had few of them read all of them again for every payment.

create or replace function add_ledger_totals()
returns trigger
language plpgsql
security definer
set search_path = public, pg_temp
-- By the primary key. The index by date has all columns too, and would be searched once for each
-- date in it.
set enable_indexonlyscan = off
as $function$
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
    sum(l.debit), sum(l.credit), sum(l.lines)
  from (
    select journal_id, ledger_account_id, sum(greatest(amount, 0)) as debit,
      sum(greatest(-amount, 0)) as credit, count(*) as lines
    from unnest(journal_ids, account_ids, amounts) as n (journal_id, ledger_account_id, amount)
    group by journal_id, ledger_account_id
  ) l
  cross join lateral (
    select tenant_id, posting_date from journals
    where tenant_id = require_tenant() and journal_id = l.journal_id
    limit 1
  ) j
  group by j.tenant_id, j.posting_date, l.ledger_account_id
  on conflict (tenant_id, posting_date, ledger_account_id, journal_id) do update
    set debit = t.debit + excluded.debit, credit = t.credit + excluded.credit,
      lines = t.lines + excluded.lines;
  return null;
end
$function$;
