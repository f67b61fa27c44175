import type { Tx } from '../../../base/db/pool.ts';
import { sql } from '../../../base/db/sql.ts';
import { ledgerAccounts } from '../../ledger/accounts.ts';
import { type Counts, runCheck } from './checks-store.ts';

/** The trial balance is made of sums by day and account: they are those of the journal lines. */
export function checkDayTotals(tx: Tx, tenantId: number): Promise<Counts> {
  return runCheck(tx, tenantId, {
    checked: sql`select count(*) from ledger_day_totals where tenant_id = ${tenantId}`,
    wrong: sql`
      select 'ledger account ' || coalesce(l.ledger_account_id, t.ledger_account_id) || ' on '
        || coalesce(l.posting_date, t.posting_date) as what
      from (
        select j.posting_date, l.ledger_account_id, count(*) as lines,
          coalesce(sum(l.amount) filter (where l.amount > 0), 0) as debit,
          coalesce(-sum(l.amount) filter (where l.amount < 0), 0) as credit
        from journals j
        join journal_lines l on l.tenant_id = ${tenantId} and l.journal_id = j.journal_id
        where j.tenant_id = ${tenantId}
        group by j.posting_date, l.ledger_account_id
      ) l
      full join (
        select posting_date, ledger_account_id, sum(lines) as lines, sum(debit) as debit,
          sum(credit) as credit
        from ledger_day_totals
        where tenant_id = ${tenantId}
        group by posting_date, ledger_account_id
      ) t on t.posting_date = l.posting_date and t.ledger_account_id = l.ledger_account_id
      where l.lines is distinct from t.lines or l.debit is distinct from t.debit
        or l.credit is distinct from t.credit`,
  });
}

/** Money on Suspense is that of bank lines whose payer is not known yet, and nothing else. */
export function checkSuspense(tx: Tx, tenantId: number): Promise<Counts> {
  return runCheck(tx, tenantId, {
    checked: sql`select count(*) from bank_lines where tenant_id = ${tenantId} and is_open
      and in_suspense`,
    wrong: sql`
      select 'Suspense is ' || booked.amount || ', bank lines that wait come to ' || waiting.amount
        as what
      from (
        select coalesce(sum(credit - debit), 0) as amount from ledger_day_totals
        where tenant_id = ${tenantId} and ledger_account_id = ${ledgerAccounts.suspense}
      ) booked
      cross join (
        select coalesce(sum(amount), 0) as amount from bank_lines
        where tenant_id = ${tenantId} and is_open and in_suspense
      ) waiting
      where booked.amount <> waiting.amount`,
  });
}
