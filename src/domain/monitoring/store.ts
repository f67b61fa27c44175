// Counts for operators: jobs and deliveries by state, and the workers that live.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

/** More of one state in one workspace are not counted: the figure then says "at least". */
const countedMax = 100_000;
/** What has ended is counted for this long. */
const recentMinutes = 60;

/** Workspaces whose counts may have changed, as a worker sees them in the registry. */
export async function listWorkspacesToCount(tx: Tx): Promise<number[]> {
  const { rows } = await sql<{ tenant_id: number }>`
    select tenant_id from workspace_jobs where next_job_at is not null
    union
    select tenant_id from operation_counts
    union
    select tenant_id from workspace_webhooks
    order by tenant_id
  `.execute(tx);
  return rows.map((row) => row.tenant_id);
}

/** `webhook`: messages to webhooks. `event`: what webhooks have not read yet. */
type Kind = 'job' | 'delivery' | 'webhook' | 'event';

export type Counted = {
  kind: Kind;
  state: string;
  amount: number;
  oldestAt: Temporal.Instant | null;
};

type CountedRow = {
  kind: Kind;
  state: string;
  amount: number;
  oldest_at: Temporal.Instant | null;
};

export type CountingTime = { now: Temporal.Instant; clockOffsetMs: number };

/**
 * Each figure is read from an index and ends at countedMax rows. Times of a workspace are those of
 * its own clock, which a sandbox has moved ahead.
 */
export async function countOperations(
  tx: Tx,
  tenantId: number,
  { now, clockOffsetMs }: CountingTime,
): Promise<Counted[]> {
  const localNow = now.add({ milliseconds: clockOffsetMs });
  const since = localNow.subtract({ minutes: recentMinutes });
  const { rows } = await sql<CountedRow>`
    select 'job' as kind,
      case when status = 'Scheduled' and due_at <= ${localNow} then 'Due' else status end as state,
      count(*)::integer as amount, min(coalesce(started_at, due_at)) as oldest_at
    from (
      select status, due_at, started_at from jobs
      where tenant_id = ${tenantId} and status in ('Scheduled', 'Running')
      order by due_at limit ${countedMax}
    ) open_jobs
    group by state
    union all
    select 'job', status, count(*)::integer, null::timestamptz
    from (
      select status from jobs
      where tenant_id = ${tenantId} and finished_at >= ${since} and finished_at is not null
      order by finished_at desc limit ${countedMax}
    ) ended_jobs
    group by status
    union all
    select 'delivery', waiting.status, waiting.amount, waiting.oldest_at
    from unnest(array['Queued', 'Sending', 'Uncertain']) as wanted (status)
    cross join lateral (
      select wanted.status, count(*)::integer as amount, min(created_at) as oldest_at
      from (
        select created_at from deliveries
        where tenant_id = ${tenantId} and status = wanted.status
        order by delivery_id limit ${countedMax}
      ) open_deliveries
    ) waiting
    where waiting.amount > 0
    union all
    select 'delivery', status, count(*)::integer, null::timestamptz
    from (
      select status from deliveries
      where tenant_id = ${tenantId} and status in ('Sent', 'Delivered', 'Failed')
        and modified_at >= ${since}
      order by modified_at desc limit ${countedMax}
    ) ended_deliveries
    group by status
  `.execute(tx);
  return [...counted(rows, clockOffsetMs), ...(await countMessages(tx, tenantId, now))];
}

/** Messages to webhooks, and events without any. Their times are the machine's everywhere. */
async function countMessages(tx: Tx, tenantId: number, now: Temporal.Instant): Promise<Counted[]> {
  const since = now.subtract({ minutes: recentMinutes });
  const { rows } = await sql<CountedRow>`
    select 'webhook' as kind, 'Waiting' as state, count(*)::integer as amount,
      min(created_at) as oldest_at
    from (
      select created_at from webhook_messages
      where tenant_id = ${tenantId} and next_attempt_at is not null
      order by webhook_id, next_attempt_at limit ${countedMax}
    ) open_messages
    having count(*) > 0
    union all
    select 'webhook', status, count(*)::integer, null::timestamptz
    from (
      select status from webhook_messages
      where tenant_id = ${tenantId} and ended_at >= ${since}
      order by ended_at desc limit ${countedMax}
    ) ended_messages
    group by status
    union all
    select 'event', 'Unread', max(unread.amount)::integer, min(unread.oldest_at)
    from webhooks h cross join lateral (
      select count(*) as amount, min(at) as oldest_at from (
        select e.at from events e
        where e.tenant_id = ${tenantId}
          and (e.written_in, e.event_id) > (h.read_in, h.read_event_id)
        order by e.written_in, e.event_id limit ${countedMax}
      ) later
    ) unread
    where h.tenant_id = ${tenantId} and h.status = 'Active'
    having max(unread.amount) > 0
  `.execute(tx);
  return counted(rows, 0);
}

function counted(rows: readonly CountedRow[], clockOffsetMs: number): Counted[] {
  return rows.map(({ kind, state, amount, oldest_at: oldest }) => ({
    kind,
    state,
    amount,
    oldestAt: oldest?.subtract({ milliseconds: clockOffsetMs }) ?? null,
  }));
}

/** Takes the place of what was counted before; a workspace without any figures has no row. */
export async function storeCounts(
  tx: Tx,
  tenantId: number,
  counts: readonly Counted[],
): Promise<void> {
  await sql`delete from operation_counts where tenant_id = ${tenantId}`.execute(tx);
  if (counts.length === 0) return;
  // A job that is asked for just now may have left its mark already.
  await sql`
    insert into operation_counts (tenant_id, kind, state, amount, oldest_at, counted_at)
    select own.tenant_id, r.kind, r.state, r.amount, r.oldest_at, clock_timestamp()
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(
      counts.map(({ oldestAt, ...one }) => ({ ...one, oldest_at: oldestAt?.toString() ?? null })),
    )}::jsonb) as r (kind text, state text, amount integer, oldest_at timestamptz)
    on conflict (tenant_id, kind, state) do update
    set amount = excluded.amount, oldest_at = excluded.oldest_at, counted_at = excluded.counted_at
  `.execute(tx);
}

/** Stores the heartbeat of a worker, and deletes workers without one for an hour. */
export async function noteWorker(tx: Tx, worker: string): Promise<void> {
  await sql`
    insert into workers (worker) values (${worker})
    on conflict (worker) do update set seen_at = now()
  `.execute(tx);
  await sql`
    delete from workers where seen_at < clock_timestamp() - interval '1 hour'
  `.execute(tx);
}

export async function deleteWorker(tx: Tx, worker: string): Promise<void> {
  await sql`delete from workers where worker = ${worker}`.execute(tx);
}

export type Watched = {
  operations: {
    kind: Kind;
    state: string;
    amount: number;
    oldest_seconds: number | null;
    counted_seconds: number;
  }[];
  workers: { worker: string; seen_seconds: number }[];
};

/** Sums over all workspaces, as the role that serves calls may see them. */
export async function watchOperations(tx: Tx): Promise<Watched> {
  const operations = await sql<Watched['operations'][number]>`
    select kind, state, amount, oldest_seconds, counted_seconds from watch_operations()
  `.execute(tx);
  const workers = await sql<Watched['workers'][number]>`
    select worker, seen_seconds from watch_workers()
  `.execute(tx);
  return { operations: operations.rows, workers: workers.rows };
}
