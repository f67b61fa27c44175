// Counts and sums of a term's bills for the run board: those that the last run kept, corrected by
// the few bills that have changed since. Each correction is read from an index of its own.

import type { Tx } from '../../../base/db/pool.ts';
import { sql } from '../../../base/db/sql.ts';

export type BoardBillsRow = {
  term_id: number;
  /** When the newest finished run ended; null before the first. */
  run_at: Temporal.Instant | null;
  subscriptions: number;
  /** Drafts that are neither in error nor on hold, or posted bills. */
  ready: number;
  errors: number;
  held: number;
  cancelled: number;
  /** Minor units as text: of all bills that count, and of those on hold. */
  current_charges: string;
  held_charges: string;
};

/** By term. */
export async function findBoardBills(
  tx: Tx,
  tenantId: number,
  termIds: readonly number[],
): Promise<Map<number, BoardBillsRow>> {
  if (termIds.length === 0) return new Map();
  const { rows } = await sql<BoardBillsRow>`
    select t.term_id, r.finished_at as run_at,
      coalesce((r.totals ->> 'subscriptions')::integer, 0) as subscriptions,
      greatest(0, coalesce((r.totals ->> 'bills')::integer, 0)
        + coalesce((r.totals ->> 'errors')::integer, 0)
        - e.errors - e.held - c.since_run - g.count)::integer as ready,
      e.errors::integer as errors, e.held::integer as held, c.count::integer as cancelled,
      (coalesce((r.totals ->> 'currentCharges')::numeric, 0) - c.charges - g.charges
        - case when t.status = 'Open' then 0 else e.charges end)::text as current_charges,
      e.charges::text as held_charges
    from terms t
    left join lateral (
      select n.run_number, n.finished_at, n.totals from bill_runs n
      where n.tenant_id = ${tenantId} and n.term_id = t.term_id and n.totals is not null
      order by n.run_number desc
      limit 1
    ) r on true
    cross join lateral (
      select count(*) filter (where b.review_status = 'Error') as errors,
        count(*) filter (where b.review_status = 'Hold') as held,
        coalesce(sum(b.current_charges) filter (where b.review_status = 'Hold'), 0) as charges
      from bills b
      where b.tenant_id = ${tenantId} and b.term_id = t.term_id and b.review_status is not null
      offset 0
    ) e
    cross join lateral (
      select count(*) as count, count(*) filter (where b.modified_at >= r.finished_at) as since_run,
        coalesce(sum(b.current_charges) filter (where b.modified_at >= r.finished_at), 0)
          as charges
      from bills b
      where b.tenant_id = ${tenantId} and b.term_id = t.term_id and b.cancelled_id is not null
      offset 0
    ) c
    cross join lateral (
      select count(*) as count, coalesce(sum(o.current_charges), 0) as charges
      from superseded_bills o
      where o.tenant_id = ${tenantId} and o.term_id = t.term_id and o.last_run = r.run_number
        and t.run_number = r.run_number
      offset 0
    ) g
    where t.tenant_id = ${tenantId} and t.term_id = any(${[...termIds]}::bigint[])
  `.execute(tx);
  return new Map(rows.map((row) => [row.term_id, row]));
}
