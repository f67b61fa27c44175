import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

/**
 * Claims a daily job for one local date. False when it was done before: the key is what makes each
 * job run once a date, however many workers try.
 */
export async function claimDailyRun(
  tx: Tx,
  tenantId: number,
  run: { job: string; localDate: Temporal.PlainDate; at: Temporal.Instant },
): Promise<boolean> {
  const { count } = await sql`
    insert into daily_runs (tenant_id, job, local_date, finished_at, outcome)
    values (${tenantId}, ${run.job}, ${run.localDate}, ${run.at}, '{}')
    on conflict do nothing
  `.execute(tx);
  return count === 1;
}

/** The newest local date for which a job was done. */
export async function findLastDailyRun(
  tx: Tx,
  tenantId: number,
  job: string,
): Promise<Temporal.PlainDate | undefined> {
  const { rows } = await sql<{ local_date: string | null }>`
    select max(local_date) as local_date from daily_runs
    where tenant_id = ${tenantId} and job = ${job}
  `.execute(tx);
  const last = rows[0]?.local_date;
  return last ? Temporal.PlainDate.from(last) : undefined;
}
