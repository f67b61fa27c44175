// Sums of the ledger by day and account, which triggers keep in step with the journal lines.

import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';

export type PostingDays = { from: Temporal.PlainDate | null; to: Temporal.PlainDate | null };

/** Minor units as text: sums may be more than a number holds. */
export type AccountTotals = {
  code: string;
  name: string;
  kind: string;
  debit: string;
  credit: string;
};

/** Every ledger account, with what was debited and credited on it by posting date. */
export async function listAccountTotals(
  tx: Tx,
  tenantId: number,
  days: PostingDays,
): Promise<AccountTotals[]> {
  const { rows } = await sql<AccountTotals>`
    select a.code, a.name, a.kind, coalesce(t.debit, 0)::text as debit,
      coalesce(t.credit, 0)::text as credit
    from ledger_accounts a
    left join (
      select ledger_account_id, sum(debit) as debit, sum(credit) as credit
      from ledger_day_totals
      where tenant_id = ${tenantId} and ${within(days)}
      group by ledger_account_id
    ) t on t.ledger_account_id = a.ledger_account_id
    where a.tenant_id = ${tenantId}
    order by a.ledger_account_id
  `.execute(tx);
  return rows;
}

export async function countJournalLines(
  tx: Tx,
  tenantId: number,
  days: PostingDays,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select coalesce(sum(lines), 0)::bigint as count from ledger_day_totals
    where tenant_id = ${tenantId} and ${within(days)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

function within({ from, to }: PostingDays): Sql {
  const conditions = [
    from ? sql`posting_date >= ${from.toString()}::date` : sql`true`,
    to ? sql`posting_date <= ${to.toString()}::date` : sql`true`,
  ];
  return sql.join(conditions, sql` and `);
}

/** Additions that one statement folds. */
const foldedAtOnce = 50_000;
/** Statements of one night; what is left then is folded the next one. */
const foldsMax = 200;

/**
 * The daily job of the ledger: what posting added is folded into one row a day and account, in the
 * workspace of the transaction.
 */
export async function foldLedgerTotals(tx: Tx, tenantId: number): Promise<{ folded: number }> {
  let folded = 0;
  for (let turn = 0; turn < foldsMax; turn += 1) {
    const { rows } = await sql<{ count: number }>`
      select fold_ledger_totals(${foldedAtOnce}) as count
      from tenants where tenant_id = ${tenantId}
    `.execute(tx);
    const count = rows[0]?.count ?? 0;
    folded += count;
    if (count < foldedAtOnce) break;
  }
  return { folded };
}
