// Starting and ending the program: killed, stopped, started twice, with its port taken.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Client } from '../../sdk/client.ts';
import {
  assertNothingRuns,
  demoClient,
  finish,
  isLinux,
  kill,
  openPlace,
  type Program,
  postmasterPid,
  processesIn,
  query,
  takePort,
  until,
  workersIn,
} from '../support/program.ts';

const place = await openPlace('file');

type Running = { program: Program; base: string };

let running: Running | undefined;

/** The program that an earlier test has left running, or one that is started now. */
async function takeRunning(): Promise<Running> {
  const taken = running ?? (await startReady());
  running = undefined;
  return taken;
}

async function startReady(): Promise<Running> {
  const program = place.run(['start']);
  return { program, base: await program.ready() };
}

async function makeParty(client: Client, name: string): Promise<void> {
  await client.makeUsers({ userType: 'customer', users: [{ name }] });
}

/** Changes when a cluster is made anew, and at nothing else. */
async function systemIdentifier(): Promise<string> {
  const [row] = await query(
    place.dataFolder,
    'select system_identifier::text as id from pg_control_system()',
  );
  return row.id;
}

test('the program killed with -9 three times starts again on the same data', async () => {
  let identifier: string | undefined;
  for (let round = 1; round <= 3; round += 1) {
    const program = place.run(['start']);
    const client = await demoClient(await program.ready());
    identifier ??= await systemIdentifier();
    assert.equal(await systemIdentifier(), identifier, 'the data folder was made anew');
    const { headers } = await client.listUsers({ page: { pageNumber: 0, size: 1 } });
    assert.equal(headers.get('x-total-count'), String(round - 1));
    await makeParty(client, `Round ${round}`);
    const postmaster = postmasterPid(place.dataFolder);
    await program.end('SIGKILL');
    // Once PostgreSQL lives on without its program, once it dies with it, once it dies later.
    if (round === 2) kill(postmaster);
    if (round === 3) await until(() => workersIn(place.folder).length === 0, 'the worker ended');
    if (round === 3) kill(postmaster);
  }
  const last = await startReady();
  running = last;
  const client = await demoClient(last.base);
  const { data } = await client.listUsers();
  assert.deepEqual(
    data.users.map((user) => user.name),
    ['Round 1', 'Round 2', 'Round 3'],
  );
  assert.equal(await systemIdentifier(), identifier);
});

test('a second program on one data folder says so and ends; the first goes on', async () => {
  const { program: first, base } = await takeRunning();
  const client = await demoClient(base);
  const second = await finish(place.run(['start']));
  assert.equal(second.code, 1);
  assert.ok(
    second.output.includes(
      `billwright: the data folder ${place.dataFolder} is in use by process ${first.pid}`,
    ),
    second.output,
  );
  await makeParty(client, 'Undisturbed');
  const third = await finish(place.run(['migrate']));
  assert.equal(third.code, 0, 'a command that joins is welcome');
  await makeParty(client, 'Undisturbed still');
  running = { program: first, base };
});

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} in a stream of calls: all calls in flight are answered, exit code 0`, async (t) => {
    const { program, base } = await takeRunning();
    const client = await demoClient(base);
    const { data } = await client.login({
      username: 'admin@demo.example',
      password: 'billwright-demo',
    });
    const stream = callStream(t, base, data.accessToken, signal);
    await until(() => stream.counts.answered > 60, 'calls are being answered');
    const began = Date.now();
    program.signal(signal);
    assert.deepEqual(await program.exited, { code: 0, signal: null }, program.output());
    assert.ok(Date.now() - began < 10_000, `took ${Date.now() - began} ms`);
    await stream.ended;
    assert.equal(stream.counts.cut, 0, 'a call that was sent whole got no answer');
    await assertNothingRuns(place.folder);
    const pidFile = join(place.dataFolder, 'postgres', 'cluster', 'postmaster.pid');
    assert.equal(
      statSync(pidFile, { throwIfNoEntry: false }),
      undefined,
      'PostgreSQL ended cleanly',
    );
    if (signal === 'SIGTERM') await assertStored(stream.counts.answered, signal);
  });
}

async function assertStored(answered: number, prefix: string): Promise<void> {
  running = await startReady();
  const client = await demoClient(running.base);
  assert.doesNotMatch(running.program.output(), /recover/i);
  const { headers } = await client.listUsers({ name: prefix, page: { pageNumber: 0, size: 1 } });
  assert.equal(headers.get('x-total-count'), String(answered));
}

type Counts = { answered: number; cut: number };

/** Calls on connections that are kept alive, until the server takes no more connections. */
function callStream(t: TestContext, base: string, token: string, prefix: string) {
  const counts: Counts = { answered: 0, cut: 0 };
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  let isOpen = true;
  const one = async (connection: number) => {
    for (let i = 0; isOpen; i += 1) {
      const outcome = await createParty(base, agent, token, `${prefix} ${connection}-${i}`);
      if (outcome === 'refused') return;
      counts[outcome] += 1;
    }
  };
  const ended = Promise.all(Array.from({ length: 8 }, (_, i) => one(i)));
  t.after(async () => {
    isOpen = false;
    await ended;
    agent.destroy();
  });
  return { counts, ended };
}

/** refused: no connection, or one that was closed before the call was sent on it. */
async function createParty(
  base: string,
  agent: Agent,
  token: string,
  name: string,
): Promise<'answered' | 'cut' | 'refused'> {
  const sent = request(`${base}/billing/users/make-users`, {
    method: 'POST',
    agent,
    headers: {
      'Content-Type': 'application/json',
      'X-Workspace': 'demo',
      Authorization: token,
    },
  });
  const shape = { method: 'Create', action: 'Create Parties', apiVersion: 'v2' };
  sent.end(JSON.stringify({ ...shape, userType: 'customer', users: [{ name }] }));
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response) text += chunk;
    assert.equal(response.statusCode, 200, text);
    assert.equal(response.headers['x-status-code'], '200', text);
    assert.equal(JSON.parse(text).success, true);
    return 'answered';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ECONNREFUSED') return 'refused';
    // A kept connection that the server closed as the call was being sent: HTTP lets it do so.
    if (code === 'ECONNRESET' && sent.reusedSocket) return 'refused';
    if (code === 'EPIPE') return 'refused';
    if (error instanceof assert.AssertionError) throw error;
    return 'cut';
  }
}

test('a port that is taken is reported in a sentence, and PostgreSQL is not left running', async () => {
  const taken = await takePort();
  const { code, output } = await finish(place.run(['start'], { PORT: String(taken.port) }));
  await taken.free();
  assert.equal(code, 1);
  assert.match(
    output,
    /^billwright: Port \d+ on 127\.0\.0\.1 is taken by another program\. .+PORT/m,
  );
  assert.doesNotMatch(output, /\n\s+at /, 'no stack');
  await assertNothingRuns(place.folder);
});

test('a command that is broken off leaves no PostgreSQL running', async () => {
  const large = ['demo', '--workspace', 'large', '--subscriptions', '1000000'];
  const program = place.run(large);
  const isMaking = () =>
    query(place.dataFolder, "select 1 from workspaces where workspace = 'large'").then(
      (rows) => rows.length > 0,
      () => false,
    );
  await until(isMaking, 'the workspace is being filled');
  program.signal('SIGINT');
  const { code, output } = await finish(program);
  assert.equal(code, 1);
  assert.match(output, /^billwright: stopped by SIGINT$/m);
  await assertNothingRuns(place.folder);
});

async function startWithWorker(): Promise<{ program: Program; worker: number }> {
  const program = place.run(['start']);
  await program.ready();
  const worker = await until(() => workersIn(place.folder)[0], 'the worker runs');
  await until(() => program.output().includes('worker ready'), 'the worker is ready');
  return { program, worker };
}

test('a worker killed with -9 is replaced, and ends if its program is killed', {
  skip: !isLinux,
}, async () => {
  const { program, worker } = await startWithWorker();
  kill(worker);
  const next = await until(
    () => workersIn(place.folder).find((pid) => pid !== worker),
    'another worker runs',
  );
  const isReady = () => program.output().match(/worker ready/g)?.length === 2;
  await until(isReady, 'it is ready');
  assert.match(program.output(), /the worker ended and is started again/);
  assert.deepEqual(workersIn(place.folder), [next]);
  await program.end('SIGKILL');
  await until(() => workersIn(place.folder).length === 0, 'the worker ended', 15_000);
});

test('a worker that has hardly begun ends, too, when its program is killed', {
  skip: !isLinux,
}, async () => {
  const program = place.run(['start']);
  await program.ready();
  await until(() => workersIn(place.folder)[0], 'the worker starts');
  await program.end('SIGKILL');
  await until(() => workersIn(place.folder).length === 0, 'the young worker ended', 15_000);
  // A worker that had come so far as to use PostgreSQL stops it as it leaves; another leaves it.
  for (const { pid } of processesIn(place.folder, 'postgres')) kill(pid);
  await assertNothingRuns(place.folder);
});

test('a program that is stopped while it starts leaves nothing behind', async () => {
  const program = place.run(['start']);
  await until(() => processesIn(place.folder, 'postgres').length > 0, 'PostgreSQL starts');
  assert.deepEqual(await program.end('SIGTERM'), { code: 0, signal: null }, program.output());
  await assertNothingRuns(place.folder);
});

test('a program that is stopped while PostgreSQL is away leaves nothing behind', async () => {
  const program = place.run(['start']);
  await program.ready();
  const postmaster = postmasterPid(place.dataFolder);
  kill(postmaster);
  const exit = await program.end('SIGTERM');
  assert.equal(exit.signal, null, program.output());
  await assertNothingRuns(place.folder);
  assert.ok(readFileSync(join(place.dataFolder, 'postgres', 'cluster', 'PG_VERSION'), 'utf8'));
});
