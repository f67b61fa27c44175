// What income and expense accounts hold, which the year end carries forward.
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

type AccountAmount = { accountId: number; amount: number };

/** Balances that are not zero; a debit is above zero. */
export async function listResult(
  tx: Tx,
  tenantId: number,
  until: Temporal.PlainDate,
): Promise<AccountAmount[]> {
  const { rows } = await sql<AccountAmount>`
    select a.ledger_account_id as "accountId", sum(t.debit - t.credit)::bigint as amount
    from ledger_accounts a
    join ledger_day_totals t on t.tenant_id = ${tenantId}
      and t.ledger_account_id = a.ledger_account_id
      and t.posting_date <= ${until.toString()}::date
    where a.tenant_id = ${tenantId} and a.kind in ('Income', 'Expense')
    group by a.ledger_account_id
    having sum(t.debit - t.credit) <> 0
    order by a.ledger_account_id
  `.execute(tx);
  return rows;
}

/** Of one journal. */
export async function listJournalLines(
  tx: Tx,
  tenantId: number,
  journalId: number,
): Promise<AccountAmount[]> {
  const { rows } = await sql<AccountAmount>`
    select ledger_account_id as "accountId", amount from journal_lines
    where tenant_id = ${tenantId} and journal_id = ${journalId}
    order by line_number
  `.execute(tx);
  return rows;
}
