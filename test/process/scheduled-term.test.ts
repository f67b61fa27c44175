// A step of a bill run that is asked for a later time, while API and worker are killed and started
// again as processes: it begins on time and not before, once, and not at all when it is cancelled.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, createClient } from '../../sdk/client.ts';
import { environmentOf } from '../support/cluster.ts';
import { makeFlatOffer, makeFlatTerm } from '../support/flat-offer.ts';
import { openPlace, type Program, until } from '../support/program.ts';
import { adminPassword } from '../support/scene.ts';
import { openWorkspaceDatabase } from '../support/workspace-database.ts';

const timezone = 'Asia/Karachi';
const { cluster, databaseName, owner } = await openWorkspaceDatabase('later', { timezone });
const place = await openPlace();

type Running = { api: Program; worker: Program; client: Client };

async function start(): Promise<Running> {
  const env = environmentOf(cluster, databaseName);
  const api = place.run(['serve'], env);
  const worker = place.run(['work'], env);
  const baseUrl = await api.ready();
  await until(() => worker.output().includes('worker ready'), 'the worker is ready');
  const client = createClient({ baseUrl, headers: { 'X-Workspace': 'later' } });
  const username = 'admin@later.example';
  const { data } = await client.login({ username, password: adminPassword });
  client.useToken(data.accessToken);
  return { api, worker, client };
}

/** Asks for generation on a whole second, at least so far ahead. */
async function generateIn(client: Client, termID: number, seconds: number) {
  const at = Temporal.Now.instant()
    .add({ seconds })
    .round({ smallestUnit: 'second', roundingMode: 'ceil' });
  const sheduleTime = at.toZonedDateTimeISO(timezone).toPlainDateTime().toString().slice(0, 19);
  const { headers } = await client.generateBills({
    operation: 'schedule',
    data: { termID, sheduleTime },
  });
  return { at, jobID: Number(headers.get('x-job-id')) };
}

type Stored = {
  status: string;
  stage: string;
  runs: number;
  bills: number;
  late: number | null;
};

/** Job and term as they are stored, and by how many seconds it began after its time. */
async function stored(jobID: number): Promise<Stored> {
  const { rows } = await owner.query(
    `select j.status, t.stage, t.run_number as runs,
       extract(epoch from j.started_at - j.due_at)::float8 as late,
       (select count(*)::integer from bills b
         where b.tenant_id = t.tenant_id and b.term_id = t.term_id) as bills
     from jobs j join terms t using (tenant_id, term_id) where j.job_id = $1`,
    [jobID],
  );
  return rows[0];
}

const now = () => Temporal.Now.instant();
const isBefore = (at: Temporal.Instant) => Temporal.Instant.compare(now(), at) < 0;
const ended = (jobID: number) =>
  until(async () => {
    const found = await stored(jobID);
    return found.status === 'Succeeded' ? found : undefined;
  }, 'the job is done');

test('a step for later begins on time, once, though all processes were killed in between', async () => {
  const first = await start();
  await makeFlatOffer(first.client);
  const [kept, dropped] = [
    await makeFlatTerm(first.client, '01'),
    await makeFlatTerm(first.client, '02'),
  ];
  const soon = await generateIn(first.client, dropped, 3);
  const later = await generateIn(first.client, kept, 8);
  await first.client.cancelJob({ data: { jobID: soon.jobID } });
  const waiting = await stored(later.jobID);
  assert.deepEqual([waiting.status, waiting.stage, waiting.bills], ['Scheduled', 'Created', 0]);
  for (const program of [first.api, first.worker]) await program.end('SIGKILL');

  const second = await start();
  const readyAt = now();
  while (isBefore(later.at.subtract({ milliseconds: 300 }))) {
    const { status, runs } = await stored(later.jobID);
    if (isBefore(later.at)) assert.deepEqual([status, runs], ['Scheduled', 0], 'not before');
    await sleep(100);
  }
  const done = await ended(later.jobID);
  assert.deepEqual([done.stage, done.runs, done.bills], ['Generated', 1, 1]);
  assert.ok(done.late !== null && done.late >= 0, `${done.late} seconds early`);
  // As soon as a worker was there to do it.
  const secondsReady = Math.max(0, later.at.until(readyAt).total('seconds'));
  assert.ok(done.late < secondsReady + 5, `${done.late} seconds late`);
  const cancelled = await stored(soon.jobID);
  assert.deepEqual(
    [cancelled.status, cancelled.stage, cancelled.bills, cancelled.late],
    ['Cancelled', 'Created', 0, null],
  );

  // No worker runs at its time: the next worker does it at once.
  const third = await generateIn(second.client, dropped, 4);
  assert.deepEqual(await second.worker.end('SIGTERM'), { code: 0, signal: null });
  await until(() => !isBefore(third.at.add({ seconds: 1 })), 'its time is over');
  assert.equal((await stored(third.jobID)).status, 'Scheduled');
  const worker = place.run(['work'], environmentOf(cluster, databaseName));
  await until(() => worker.output().includes('worker ready'), 'the worker is ready');
  const caughtUp = await ended(third.jobID);
  assert.deepEqual([caughtUp.stage, caughtUp.runs, caughtUp.bills], ['Generated', 1, 1]);
});
