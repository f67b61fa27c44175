// What operators see: /health, /ready, /metrics, and a database that turns read-only or cuts off.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BillingError, type Client } from '../../sdk/client.ts';
import {
  demoClient,
  kill,
  openPlace,
  postmasterPid,
  query,
  until,
  workersIn,
} from '../support/program.ts';

const place = await openPlace();

const newParty = (client: Client, name: string) =>
  client.makeUsers({ userType: 'customer', users: [{ name }] });

test('/health and /ready answer 200, and /ready 503 while the database is away', async () => {
  const program = place.run(['start']);
  const base = await program.ready();
  const health = await fetch(`${base}/health`);
  assert.deepEqual([health.status, await health.json()], [200, { status: 'up' }]);
  const ready = await fetch(`${base}/ready`);
  assert.deepEqual([ready.status, await ready.json()], [200, { status: 'ready' }]);
  kill(postmasterPid(place.dataFolder));
  const statuses = new Set<number>();
  // Without a pause: PostgreSQL is soon back.
  const deadline = Date.now() + 60_000;
  while (!statuses.has(503) && Date.now() < deadline) {
    statuses.add((await fetch(`${base}/ready`)).status);
    assert.equal((await fetch(`${base}/health`)).status, 200, 'it lives all the while');
  }
  assert.ok(statuses.has(503), '/ready notices');
  await until(async () => (await fetch(`${base}/ready`)).status === 200, '/ready is back');
  assert.deepEqual(
    [...statuses].filter((status) => status !== 200 && status !== 503),
    [],
  );
  assert.deepEqual(await program.end('SIGTERM'), { code: 0, signal: null });
});

test('/metrics counts calls by operation and status code, in the form of Prometheus', async () => {
  const program = place.run(['start']);
  const base = await program.ready();
  const client = await demoClient(base);
  await newParty(client, 'Counted 1');
  await newParty(client, 'Counted 2');
  await assert.rejects(client.getUsers({ partyNumber: 1 }), BillingError);
  await fetch(`${base}/billing/nowhere`, { method: 'POST', headers: { 'X-Workspace': 'demo' } });
  const answer = await fetch(`${base}/metrics`);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  const text = await answer.text();
  const count = (operation: string, status: number) =>
    new RegExp(
      `^billwright_call_seconds_count\\{operation="${operation}",status_code="${status}"\\} (\\d+)`,
      'm',
    ).exec(text)?.[1];
  assert.equal(count('/billing/users/make-users Create Parties', 200), '2');
  assert.equal(count('/billing/users/get-users Retrieve Parties', 404), '1');
  assert.equal(count('unknown', 404), '1', 'paths that callers make up are not labels');
  assert.match(text, /^billwright_database_connections\{state="open"\} [1-9]/m);
  assert.match(text, /^process_resident_memory_bytes \d+/m);
  assert.match(text, /^billwright_database_up 1$/m);
  await until(
    async () =>
      /^billwright_workers\{state="live"\} 1$/m.test(await (await fetch(`${base}/metrics`)).text()),
    'the worker is counted by its heartbeat',
  );
  await program.end('SIGTERM');
});

test('a database that turns read-only, or ends every connection, is survived without a restart', async () => {
  const program = place.run(['start']);
  const client = await demoClient(await program.ready());
  await until(() => program.output().includes('worker ready'), 'the worker is ready');
  const [worker] = workersIn(place.folder);
  await query(place.dataFolder, 'alter system set default_transaction_read_only = on');
  await query(place.dataFolder, 'select pg_reload_conf()');
  const refused = await until(async () => {
    const error = await newParty(client, 'Too early').catch((reason) => reason);
    return error instanceof BillingError ? error : undefined;
  }, 'the database is read-only');
  assert.deepEqual([refused.code, refused.statusCode], ['UNAVAILABLE', 503]);
  assert.equal(refused.error.retryable, true);
  await client.listUsers();
  await query(place.dataFolder, 'alter system reset default_transaction_read_only');
  await query(place.dataFolder, 'select pg_reload_conf()');
  await until(
    () =>
      newParty(client, 'Back again').then(
        () => true,
        () => false,
      ),
    'it is writable again',
  );
  await query(
    place.dataFolder,
    `select pg_terminate_backend(pid) from pg_stat_activity
     where application_name in ('billwright api', 'billwright worker', 'billwright queue')`,
  );
  await until(
    () =>
      newParty(client, 'After the cut').then(
        () => true,
        () => false,
      ),
    'calls are answered again',
    10_000,
  );
  assert.deepEqual(workersIn(place.folder), worker ? [worker] : [], 'the worker is the same');
  assert.deepEqual(await program.end('SIGTERM'), { code: 0, signal: null });
});
