// Payments since the last bill with the days on which they were made, for the bill to list.

import type { Tx } from '../../../base/db/pool.ts';
import { sql } from '../../../base/db/sql.ts';
import { type ContextType, isOwedByWorkspace } from '../../ledger/accounts.ts';

export type ReceiptRow = {
  subscription_id: number;
  /** YYYY-MM-DD. */
  paid_on: string;
  /** Minor units; below zero, a payment that was taken back. */
  amount: number;
};

/** A bill with more payments than this shows their sum only. */
const receiptsMax = 24;
/** Older payments are not looked at: they were received before the last bill, as a rule. */
const daysBack = 400;

/**
 * The newest payments of each subscription by the party that is billed, newest first. One payment
 * may settle several items: it is one row.
 */
export async function listReceipts(
  tx: Tx,
  tenantId: number,
  term: { context_type: ContextType; start_date: string },
  owned: readonly { subscription_id: number; party_id: number }[],
): Promise<ReceiptRow[]> {
  if (owned.length === 0) return [];
  const side = sql.raw(isOwedByWorkspace(term.context_type) ? '1' : '-1');
  const { rows } = await sql<ReceiptRow>`
    select n.subscription_id, p.paid_on, p.amount
    from unnest(
      ${owned.map((row) => row.subscription_id)}::bigint[],
      ${owned.map((row) => row.party_id)}::bigint[]
    ) as n (subscription_id, party_id)
    cross join lateral (
      select coalesce(e.value_date, e.posting_date) as paid_on,
        (sum(e.amount) * ${side})::bigint as amount, max(e.created_at) as received_at
      from subledger_entries e
      where e.tenant_id = ${tenantId} and e.subscription_id = n.subscription_id
        and e.posting_date >= ${term.start_date}::date - ${sql.lit(daysBack)}::integer
        and e.party_id = n.party_id and e.is_payment and e.ledger_account_id in (2, 1000001)
      group by e.journal_id, 1
      order by 3 desc, 1 desc
      limit ${sql.lit(receiptsMax)}
    ) p
    order by n.subscription_id, p.received_at desc, p.paid_on desc
  `.execute(tx);
  return rows;
}
