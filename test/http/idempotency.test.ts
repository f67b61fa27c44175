import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as Type from 'typebox';
import { operations } from '../../src/operations/catalogue.ts';
import { type Operation, operation } from '../../src/operations/operation.ts';
import { refuses } from '../support/client.ts';
import { type Answered, ask, exchange, requestText } from '../support/http.ts';
import { openScene } from '../support/scene.ts';

let failures = 0;
let gate: Promise<void> = Promise.resolve();

/** Makes a billing group, then does what the test has prepared. */
const stumble = operation({
  path: '/billing/test/stumble',
  method: 'Create',
  action: 'Stumble',
  access: 'authenticated',
  summary: 'For this test alone.',
  request: Type.Object({ name: Type.String() }),
  response: Type.Object({}),
  errors: [],
  example: { name: 'x' },
  async handle(call, body) {
    const add = operations.find(([name]) => name === 'addBillingGroup')?.[1] as Operation;
    const answer = await add.handle(call as never, body as never, undefined);
    await gate;
    if (failures > 0) {
      failures -= 1;
      throw new Error('stumbled');
    }
    return answer as never;
  },
});

const scene = await openScene({ operations: [...operations, ['stumble', stumble as Operation]] });
const another = await scene.anotherServer({
  operations: [...operations, ['stumble', stumble as Operation]],
});
const admin = await scene.workspace('keys');
const words = { apiVersion: 'v2', method: 'Create' };

type Options = { key?: string; baseUrl?: string; token?: string | null };

function stumbleOver(name: string, options: Options = {}): Promise<Answered> {
  return ask(options.baseUrl ?? scene.baseUrl, '/billing/test/stumble', {
    headers: {
      'X-Workspace': 'keys',
      Authorization: options.token ?? admin.token ?? '',
      ...(options.key === undefined ? {} : { 'Idempotency-Key': options.key }),
    },
    body: JSON.stringify({ ...words, action: 'Stumble', name }),
  });
}

async function groupsNamed(name: string): Promise<number> {
  const { data } = await admin.listBillingGroups();
  return data.filter((group) => group.name === name).length;
}

async function auditCount(): Promise<number> {
  const { rows } = await scene.sql.query('select count(*)::int as count from audit_entries');
  return rows[0].count;
}

test('the same key and body again answers the stored bytes and does nothing', async () => {
  const first = await stumbleOver('Twice', { key: 'k1' });
  const audited = await auditCount();
  const second = await stumbleOver('Twice', { key: 'k1' });
  assert.equal(first.envelope.success, true);
  assert.equal(second.text, first.text);
  assert.equal(second.headers.get('x-resource-id'), first.headers.get('x-resource-id'));
  assert.equal(second.headers.get('x-status-code'), '200');
  assert.equal(first.headers.get('idempotency-replayed'), null);
  assert.equal(second.headers.get('idempotency-replayed'), 'true');
  assert.notEqual(second.headers.get('x-request-id'), first.headers.get('x-request-id'));
  assert.equal(await groupsNamed('Twice'), 1);
  assert.equal(await auditCount(), audited);
});

test('a replayed answer has the present rate limit headers', async () => {
  const limited = await scene.anotherServer({
    operations: [...operations, ['stumble', stumble as Operation]],
    rateLimits: { token: { perSecond: 0.001, burst: 10 } },
  });
  const { baseUrl } = limited;
  const first = await stumbleOver('Allowance', { key: 'allowance', baseUrl });
  const second = await stumbleOver('Allowance', { key: 'allowance', baseUrl });
  assert.equal(first.headers.get('x-ratelimit-remaining'), '9');
  assert.equal(second.headers.get('x-ratelimit-remaining'), '8');
});

test('the same key with another body, or on another path, is refused', async () => {
  await stumbleOver('Reuse', { key: 'k2' });
  const { envelope } = await stumbleOver('Reuse 2', { key: 'k2' });
  assert.equal(envelope.error?.code, 'IDEMPOTENCY_KEY_REUSED');
  assert.equal(envelope.statusCode, 409);
  assert.equal(await groupsNamed('Reuse 2'), 0);
  await refuses(
    admin.addBillingGroup({ name: 'Reuse' }, { idempotencyKey: 'k2' }),
    'IDEMPOTENCY_KEY_REUSED',
  );
});

test('while a call runs, its key is in use on every server; afterwards the answer is there', async () => {
  let open: () => void = () => {};
  gate = new Promise((resolve) => {
    open = resolve;
  });
  const first = stumbleOver('Slow', { key: 'k3' });
  await untilRunning();
  for (const baseUrl of [scene.baseUrl, another.baseUrl]) {
    const { envelope } = await stumbleOver('Slow', { key: 'k3', baseUrl });
    assert.equal(envelope.error?.code, 'IDEMPOTENCY_KEY_IN_USE');
    assert.equal(envelope.statusCode, 409);
    assert.equal(envelope.error?.retryable, true);
    assert.equal(envelope.error?.retryAfter, 1);
  }
  open();
  const { text } = await first;
  assert.equal((await stumbleOver('Slow', { key: 'k3', baseUrl: another.baseUrl })).text, text);
  assert.equal(await groupsNamed('Slow'), 1);
});

/** Until a transaction waits for its handler: the group is inserted and not committed. */
async function untilRunning(): Promise<void> {
  for (let attempt = 0; attempt < 6_000; attempt += 1) {
    const { rows } = await scene.sql.query(
      `select 1 from pg_stat_activity where datname = current_database()
       and state = 'idle in transaction' and application_name = 'test api'`,
    );
    if (rows.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail('no call is running');
}

test('forty calls with one key on two servers at once have one effect and one answer', async () => {
  const calls = Array.from({ length: 40 }, (_, i) =>
    stumbleOver('Race', { key: 'k4', baseUrl: i % 2 ? scene.baseUrl : another.baseUrl }),
  );
  const answers = await Promise.all(calls);
  const done = answers.filter((answer) => answer.envelope.success);
  assert.ok(done.length >= 1);
  assert.equal(new Set(done.map((answer) => answer.text)).size, 1);
  for (const { envelope } of answers.filter((answer) => !answer.envelope.success)) {
    assert.equal(envelope.error?.code, 'IDEMPOTENCY_KEY_IN_USE');
  }
  assert.equal(await groupsNamed('Race'), 1);
});

test('a call that ended in 500 changed nothing, is not stored and runs again', async () => {
  failures = 1;
  const failed = await stumbleOver('Again', { key: 'k5' });
  assert.equal(failed.envelope.statusCode, 500);
  assert.equal(await groupsNamed('Again'), 0);
  failures = 20;
  while (failures > 0) {
    const { envelope } = await stumbleOver('Again', { key: 'k5' });
    assert.equal(envelope.statusCode, 500, 'the key of the call before is free at once');
  }
  const { envelope } = await stumbleOver('Again', { key: 'k5' });
  assert.equal(envelope.success, true);
  assert.equal(await groupsNamed('Again'), 1);
});

test('a refusal by rule is stored and replayed, even when the call would succeed by now', async () => {
  await admin.addBillingGroup({ name: 'Taken' });
  const first = await stumbleOver('taken', { key: 'k6' });
  assert.equal(first.envelope.error?.code, 'DUPLICATE');
  await scene.enter(admin);
  await scene.sql.query("update billing_groups set name = 'Freed' where name = 'Taken'");
  const second = await stumbleOver('taken', { key: 'k6' });
  assert.equal(second.text, first.text);
  assert.equal(second.headers.get('x-status-code'), '409');
  assert.equal((await stumbleOver('taken', { key: 'k6b' })).envelope.success, true);
});

test('after 24 hours the key is free', async () => {
  const first = await stumbleOver('Day', { key: 'k7' });
  scene.clock.advance({ hours: 23, minutes: 59 });
  const login = { username: 'admin@keys.example', password: 'correct horse battery' };
  let token = (await scene.visitor('keys').login(login)).data.accessToken;
  assert.equal((await stumbleOver('Day', { key: 'k7', token })).text, first.text);
  scene.clock.advance({ minutes: 2 });
  token = (await scene.visitor('keys').login(login)).data.accessToken;
  const later = await stumbleOver('Day', { key: 'k7', token });
  assert.equal(later.envelope.error?.code, 'DUPLICATE');
  scene.clock.advance({ hours: -24, minutes: -1 });
});

test('keys of other logins and of other workspaces are other keys', async () => {
  const operator = await scene.loginAs(admin, ['Billing Operator']);
  const first = await stumbleOver('Mine', { key: 'shared' });
  const second = await stumbleOver('Yours', { key: 'shared', token: operator.token });
  assert.equal(first.envelope.success, true);
  assert.equal(second.envelope.success, true);
  const elsewhere = await scene.workspace('keys-b');
  await elsewhere.addBillingGroup({ name: 'Mine' }, { idempotencyKey: 'shared' });
});

test('a key may have 255 characters and no more, and none is no key', async () => {
  await admin.addBillingGroup({ name: 'Long key' }, { idempotencyKey: 'k'.repeat(255) });
  const over = admin.addBillingGroup({ name: 'Longer' }, { idempotencyKey: 'k'.repeat(256) });
  await refuses(over, 'FIELD_TOO_LONG', { field: 'Idempotency-Key' });
  const headers = { 'Idempotency-Key': '' };
  await refuses(admin.addBillingGroup({ name: 'Empty' }, { headers }), 'FIELD_TOO_LONG');
});

test('a caller that lost the answer repeats the call and finds it done once', async () => {
  const body = JSON.stringify({ ...words, action: 'Stumble', name: 'Lost answer' });
  await exchange(scene.baseUrl, async (socket) => {
    const headers = {
      'X-Workspace': 'keys',
      Authorization: admin.token ?? '',
      'Idempotency-Key': 'lost',
      'Content-Type': 'application/json',
      'Content-Length': body.length,
    };
    socket.write(requestText('/billing/test/stumble', headers, body));
    while ((await groupsNamed('Lost answer')) === 0) await new Promise(setImmediate);
    socket.destroy();
  }).catch(() => {});
  const { envelope } = await stumbleOver('Lost answer', { key: 'lost' });
  assert.equal(envelope.success, true);
  assert.equal(await groupsNamed('Lost answer'), 1);
});

test('a retrieval pays no attention to a key', async () => {
  const options = { idempotencyKey: 'read' };
  const before = await admin.listBillingGroups({}, options);
  await admin.addBillingGroup({ name: 'After the read' });
  const after = await admin.listBillingGroups({}, options);
  assert.equal(after.data.length, before.data.length + 1);
});

test('a replayed answer names the same fields as ignored', async () => {
  const skills = [{ name: 'Welding', level: 'A' }];
  const once = () =>
    ask(scene.baseUrl, '/billing/users/make-users', {
      headers: {
        'X-Workspace': 'keys',
        Authorization: admin.token ?? '',
        'Idempotency-Key': 'two-kinds',
      },
      body: JSON.stringify({
        ...words,
        action: 'Create Parties',
        userType: 'customer',
        users: [{ name: 'Noor', country: 'PK', competencies: skills }],
        extra: 1,
      }),
    });
  const [first, second] = [await once(), await once()];
  assert.equal(first.headers.get('x-ignored-fields'), 'extra,users[0].competencies');
  assert.equal(second.headers.get('idempotency-replayed'), 'true');
  assert.equal(second.headers.get('x-ignored-fields'), 'extra,users[0].competencies');
});
