// One workspace asks for the dearest things a call can do; the calls of another go on as before.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestClient } from '../support/client.ts';
import { adminPassword, openScene } from '../support/scene.ts';

const scene = await openScene({ ownDatabase: true, apiConnections: 4 });
const busy = await scene.workspace('busy');
const other = await scene.workspace('other');

/** Far more than a call takes by itself, far less than the work beside it. */
const slowestMs = 1_000;
const medianMs = 100;

async function slowestBeside(work: Promise<unknown>): Promise<number> {
  return Math.max(...(await timesBeside(work)));
}

/** Milliseconds of calls of another workspace while the work lasts. */
async function timesBeside(work: Promise<unknown>): Promise<number[]> {
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  const times: number[] = [];
  do {
    const startedMs = performance.now();
    await other.getSettings();
    times.push(performance.now() - startedMs);
    await new Promise((resolve) => setTimeout(resolve, 10));
  } while (!isOver);
  await over;
  return times;
}

type Outcome = { ok: number; RATE_LIMITED: number };

async function outcomesOf(calls: readonly Promise<unknown>[]): Promise<Outcome> {
  const outcome: Record<string, number> = { ok: 0, RATE_LIMITED: 0 };
  for (const one of await Promise.allSettled(calls)) {
    const key = one.status === 'fulfilled' ? 'ok' : (one.reason.code ?? String(one.reason));
    outcome[key] = (outcome[key] ?? 0) + 1;
  }
  return outcome as Outcome;
}

const names = Array.from({ length: 8 }, (_, index) => index);

function manyLogins(client: TestClient, prefix: string): Promise<unknown> {
  const logins = names.map((index) => ({
    username: `${prefix}-${index}`,
    name: 'A clerk',
    password: adminPassword,
    roles: ['Auditor' as const],
  }));
  return client.makeLogins({ logins });
}

function manyClients(client: TestClient, prefix: string): Promise<unknown> {
  const clients = names.map((index) => ({
    clientID: `${prefix}-${index}`,
    clientSecret: 'a secret of at least thirty-two characters',
    roles: ['Auditor' as const],
  }));
  return client.makeClients({ clients });
}

test('logins and clients made in bulk delay no call of another workspace', async () => {
  const calls = names.map((index) =>
    index % 2 === 0 ? manyLogins(busy, `bulk${index}`) : manyClients(busy, `bulk${index}`),
  );
  const outcomes = outcomesOf(calls);
  const slowest = await slowestBeside(outcomes);
  assert.ok(slowest < slowestMs, `the slowest call took ${Math.round(slowest)} ms`);
  const { ok, RATE_LIMITED: refused, ...rest } = await outcomes;
  assert.deepEqual(rest, {});
  assert.ok(ok >= 1, `${ok} calls succeeded`);
  assert.equal(ok + refused, names.length);
});

test('new passwords and secrets delay no call of another workspace', async () => {
  await manyLogins(busy, 'single');
  await manyClients(busy, 'single');
  const calls = names.flatMap((index) => [
    busy.updateLogin({ data: { username: `single-${index}`, password: 'a password that is new' } }),
    busy.updateClient({
      data: {
        clientID: `single-${index}`,
        clientSecret: 'another secret of thirty-two characters',
      },
    }),
  ]);
  const outcomes = outcomesOf(calls);
  const slowest = await slowestBeside(outcomes);
  assert.ok(slowest < slowestMs / 2, `the slowest call took ${Math.round(slowest)} ms`);
  assert.deepEqual(await outcomes, { ok: names.length * 2, RATE_LIMITED: 0 });
});

test('calls that wait for a lock leave connections to another workspace', async () => {
  await scene.sql.query('begin; lock table billing_groups');
  const writes = [1, 2, 3, 4].map((index) => busy.addBillingGroup({ name: `Waiting ${index}` }));
  const reads = [1, 2, 3, 4].map(() => busy.listBillingGroups());
  const outcomes = outcomesOf([...writes, ...reads]);
  const wait = new Promise((resolve) => setTimeout(resolve, slowestMs));
  const slowest = await slowestBeside(wait);
  await scene.sql.query('rollback');
  assert.ok(slowest < slowestMs / 2, `the slowest call took ${Math.round(slowest)} ms`);
  assert.deepEqual(await outcomes, { ok: 8, RATE_LIMITED: 0 });
});

test('whole lists of one workspace delay no call of another', async () => {
  await scene.sql.query(
    `insert into parties (tenant_id, party_id, party_number, kind, name, search_text, created_at,
       created_by, modified_at, modified_by, ts)
     select find_workspace('busy'), n, 100000 + n, 'Customer', 'Party ' || n, 'party ' || n, now(),
       'test', now(), 'test', 1
     from generate_series(1, 5000) n`,
  );
  const lists = Promise.all(Array.from({ length: 16 }, wholeList));
  const times = (await timesBeside(lists)).sort((a, b) => a - b);
  const median = times[Math.floor(times.length / 2)] ?? 0;
  for (const text of await lists) assert.match(text, /^\{"success":true.*Party 4999/s);
  assert.ok(median < medianMs, `half of the calls took ${Math.round(median)} ms and more`);
});

async function wholeList(): Promise<string> {
  const answer = await fetch(`${scene.baseUrl}/billing/users/list-users`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Workspace': 'busy',
      Authorization: busy.token ?? '',
    },
    body: '{"method":"Retrieve","action":"List Parties","apiVersion":"v2"}',
  });
  return answer.text();
}
