import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

export type DailyRun = { job: string; localDate: Temporal.PlainDate };

/**
 * Claims a daily task for one local date. False if it was claimed before: the key makes sure that
 * each task runs once a date, however many workers try.
 */
export async function claimDailyRun(
  tx: Tx,
  tenantId: number,
  run: DailyRun & { at: Temporal.Instant },
): Promise<boolean> {
  const { count } = await sql`
    insert into daily_runs (tenant_id, job, local_date, finished_at, outcome)
    values (${tenantId}, ${run.job}, ${run.localDate}, ${run.at}, '{}')
    on conflict do nothing
  `.execute(tx);
  return count === 1;
}

/** Begins a job that works in chunks, unless another worker has begun it. */
export async function openDailyRun(tx: Tx, tenantId: number, run: DailyRun): Promise<void> {
  await sql`
    insert into daily_runs (tenant_id, job, local_date, outcome)
    values (${tenantId}, ${run.job}, ${run.localDate}, '{}')
    on conflict do nothing
  `.execute(tx);
}

/** The key of a row, by the names of its columns. */
export type RowKey = Readonly<Record<string, string | number>>;

/** What a chunk counted, and the last row that it did; null if no rows are left. */
export type ChunkDone = { next: RowKey | null; outcome: Record<string, number> };

export type ChunkedRun = {
  /** The last row that is done; null before the first chunk. */
  progress: RowKey | null;
  /** What the chunks before have counted. */
  outcome: Record<string, number>;
};

/** Waits for the chunk that another worker does. Undefined if the job is finished. */
export async function lockDailyRun(
  tx: Tx,
  tenantId: number,
  run: DailyRun,
): Promise<ChunkedRun | undefined> {
  const { rows } = await sql<ChunkedRun>`
    select progress, outcome from daily_runs
    where tenant_id = ${tenantId} and job = ${run.job} and local_date = ${run.localDate}
      and finished_at is null
    for update
  `.execute(tx);
  return rows[0];
}

/** Keeps how far a job has come, or that it is finished. */
export async function saveDailyRun(
  tx: Tx,
  tenantId: number,
  run: DailyRun,
  { progress, outcome, finishedAt }: ChunkedRun & { finishedAt: Temporal.Instant | null },
): Promise<void> {
  await sql`
    update daily_runs
    set progress = ${progress && JSON.stringify(progress)}::jsonb,
      outcome = ${JSON.stringify(outcome)}::jsonb, finished_at = ${finishedAt}
    where tenant_id = ${tenantId} and job = ${run.job} and local_date = ${run.localDate}
  `.execute(tx);
}

/** The newest local date for which a job was done. */
export async function findLastDailyRun(
  tx: Tx,
  tenantId: number,
  job: string,
): Promise<Temporal.PlainDate | undefined> {
  const { rows } = await sql<{ local_date: string | null }>`
    select max(local_date) as local_date from daily_runs
    where tenant_id = ${tenantId} and job = ${job} and finished_at is not null
  `.execute(tx);
  const last = rows[0]?.local_date;
  return last ? Temporal.PlainDate.from(last) : undefined;
}
