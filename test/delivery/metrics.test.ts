// /metrics tells jobs, deliveries and workers, as sums over all workspaces.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainOpening, tenantTransact, transact } from '../../src/base/db/pool.ts';
import { sql } from '../../src/base/db/sql.ts';
import { createLog } from '../../src/base/log.ts';
import { countOperations, listWorkspacesToCount } from '../../src/domain/monitoring/store.ts';
import { countAll, startHeartbeat } from '../../src/worker/monitor.ts';
import { asWorker } from '../support/daily-work.ts';
import { send } from '../support/http.ts';
import { mailParties, openPostedTerm } from '../support/posted-term.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene({ ownDatabase: true });
const log = createLog({ level: 'silent' });

/** Long since over: no figure may look at them. */
const old = 3_000;

const recentJobs = [
  ['Scheduled', '2 hours', null],
  ['Scheduled', '-10 minutes', null],
  ['Running', '-3 minutes', null],
  ['Succeeded', '-20 minutes', '-20 minutes'],
  ['Failed', '-20 minutes', '-20 minutes'],
  ['Cancelled', '-20 minutes', '-20 minutes'],
  ['Succeeded', '-2 hours', '-2 hours'],
] as const;
const recentDeliveries = [
  ['Queued', 3],
  ['Sending', 1],
  ['Uncertain', 2],
  ['Sent', 7],
  ['Failed', 4],
  ['Delivered', 5],
] as const;

async function tenantOf(workspace: string): Promise<number> {
  const found = await scene.sql.query('select find_workspace($1)::int as id', [workspace]);
  await scene.sql.query("select set_config('app.tenant', $1, false)", [String(found.rows[0].id)]);
  return found.rows[0].id;
}

async function fill(workspace: string): Promise<number> {
  const client = await scene.workspace(workspace, { sandbox: true });
  await openPostedTerm(scene, client, mailParties(1));
  const id = await tenantOf(workspace);
  await scene.sql.query('delete from chunk_attempts');
  await scene.sql.query(
    `update jobs set finished_at = finished_at - interval '3 days' where tenant_id = $1`,
    [id],
  );
  for (const [index, [status, due, finished]] of recentJobs.entries()) {
    await scene.sql.query(
      `insert into jobs (tenant_id, job_id, operation, status, is_immediate, due_at, started_at,
         finished_at, requested_by, created_at)
       values ($1, $2, 'test', $3, false, now() + $4::interval,
         case when $3 = 'Scheduled' then null else now() + $4::interval end,
         now() + $5::interval, 'test', now())`,
      [id, 5_000 + index, status, due, finished],
    );
  }
  await scene.sql.query(
    `insert into jobs (tenant_id, job_id, operation, status, is_immediate, due_at, finished_at,
       requested_by, created_at)
     select $1, 10000 + n, 'test', 'Failed', true, now() - interval '2 days',
       now() - interval '2 days', 'test', now()
     from generate_series(1, ${old}) n`,
    [id],
  );
  const insert = `insert into deliveries (tenant_id, delivery_id, bill_id, term_id, job_id, channel,
      status, message_id, created_at, created_by, modified_at)
    select b.tenant_id, $2 + n, b.bill_id, b.term_id, 10000 + n, 'Email', $3, n::text,
      now() - $4::interval, 'test', now() - $4::interval
    from bills b, generate_series($5::int, $6) n where b.tenant_id = $1`;
  await scene.sql.query(insert, [id, 10_000, 'Sent', '2 days', 1, old - 100]);
  let next = old - 99;
  for (const [status, count] of recentDeliveries) {
    await scene.sql.query(insert, [id, 10_000, status, '5 minutes', next, next + count - 1]);
    next += count;
  }
  await scene.sql.query('analyze jobs, deliveries');
  return id;
}

async function figures(): Promise<Map<string, number>> {
  const { baseUrl } = await scene.anotherServer();
  const { status, text } = await send(new URL('/metrics', baseUrl), { verb: 'GET' });
  assert.equal(status, 200);
  const lines = text.split('\n').filter((line) => line.startsWith('billwright_'));
  return new Map(
    lines.map((line): [string, number] => {
      const end = line.lastIndexOf(' ');
      return [line.slice('billwright_'.length, end), Number(line.slice(end + 1))];
    }),
  );
}

const ids = [await fill('metrics-a'), await fill('metrics-b')];

test('/metrics has jobs and deliveries by state and age, of all workspaces together', async () => {
  const before = await figures();
  assert.equal(before.get('jobs{state="Due"}'), 0, 'nothing was counted yet');
  assert.equal(before.get('database_up'), 1);
  await asWorker(scene, (worker) => countAll(worker, scene.clock, log));
  const now = await figures();
  for (const state of ['Scheduled', 'Due', 'Running']) {
    assert.equal(now.get(`jobs{state="${state}"}`), 2, state);
  }
  for (const state of ['Succeeded', 'Failed', 'Cancelled']) {
    assert.equal(now.get(`jobs_ended{state="${state}"}`), 2, state);
  }
  for (const [state, count] of recentDeliveries) {
    const isOpen = ['Queued', 'Sending', 'Uncertain'].includes(state);
    const name = isOpen ? 'deliveries' : 'deliveries_ended';
    assert.equal(now.get(`${name}{state="${state}"}`), 2 * count, state);
  }
  const minutes = (name: string) => Math.floor((now.get(name) ?? 0) / 60);
  assert.equal(minutes('job_oldest_seconds{state="Due"}'), 10);
  assert.equal(minutes('job_oldest_seconds{state="Running"}'), 3);
  assert.equal(now.get('job_oldest_seconds{state="Scheduled"}'), 0);
  assert.equal(minutes('delivery_oldest_seconds{state="Queued"}'), 5);
  assert.ok((now.get('counted_seconds') ?? 99) < 60);
  const names = [...now.keys()].join();
  assert.doesNotMatch(names, /metrics-[ab]|tenant|workspace/, 'no figure names a workspace');
});

test('counting looks at open and recent rows alone, however many are over', async () => {
  const [tenantId = 0] = ids;
  const fetched = await asWorker(scene, (worker) =>
    tenantTransact(worker, tenantId, async (tx) => {
      await countOperations(tx, tenantId, { now: scene.clock.now(), clockOffsetMs: 0 });
      const { rows } = await sql<{ name: string; count: number }>`
        select relname as name, coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0) as count
        from pg_stat_xact_user_tables where relname in ('jobs', 'deliveries')
      `.execute(tx);
      return Object.fromEntries(rows.map((row) => [row.name, Number(row.count)]));
    }),
  );
  assert.ok((fetched.jobs ?? old) < 50, `${fetched.jobs} jobs`);
  assert.ok((fetched.deliveries ?? old) < 50, `${fetched.deliveries} deliveries`);
});

test('a workspace is counted from its first job until nothing of the last hour is left', async () => {
  const listed = () =>
    asWorker(scene, (worker) =>
      transact(worker, { opening: plainOpening }, (tx) => listWorkspacesToCount(tx)),
    );
  await scene.workspace('metrics-idle');
  const idle = await tenantOf('metrics-idle');
  assert.ok(!(await listed()).includes(idle));
  await scene.sql.query(
    `insert into jobs (tenant_id, job_id, operation, status, is_immediate, due_at, finished_at,
       requested_by, created_at)
     values ($1, 1, 'test', 'Succeeded', true, now(), now(), 'test', now())`,
    [idle],
  );
  await scene.sql.query('update workspace_jobs set next_job_at = null where tenant_id = $1', [
    idle,
  ]);
  assert.ok((await listed()).includes(idle), 'also if its job is over already');
  await asWorker(scene, (worker) => countAll(worker, scene.clock, log));
  assert.ok((await listed()).includes(idle));
  scene.clock.advance({ minutes: 61 });
  await asWorker(scene, (worker) => countAll(worker, scene.clock, log));
  scene.clock.advance({ minutes: -61 });
  assert.ok(!(await listed()).includes(idle));
});

test('/metrics has the heartbeats of workers, live and lost', async () => {
  await asWorker(scene, async (worker) => {
    const one = await startHeartbeat(worker, log, 'host/1');
    const two = await startHeartbeat(worker, log, 'host/2');
    await scene.sql.query(
      `update workers set seen_at = now() - interval '50 seconds' where worker = 'host/2'`,
    );
    const now = await figures();
    assert.equal(now.get('workers{state="live"}'), 1);
    assert.equal(now.get('workers{state="lost"}'), 1);
    assert.ok((now.get('worker_heartbeat_seconds{worker="host/1"}') ?? 99) < 20);
    assert.ok((now.get('worker_heartbeat_seconds{worker="host/2"}') ?? 0) >= 50);
    await two.stop();
    await one.stop();
    const after = await figures();
    assert.equal(after.get('workers{state="live"}'), 0);
    assert.equal(after.get('workers{state="lost"}'), 0);
  });
});
