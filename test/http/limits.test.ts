import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import * as Type from 'typebox';
import { jsonLimits } from '../../src/base/json/scan.ts';
import { bodyBytesMax } from '../../src/http/body.ts';
import { defaultRateLimits } from '../../src/http/rate-limit.ts';
import { operations } from '../../src/operations/catalogue.ts';
import { limits } from '../../src/operations/fields.ts';
import { type Operation, operation } from '../../src/operations/operation.ts';
import { type Answered, ask, type Envelope } from '../support/http.ts';
import { openScene } from '../support/scene.ts';
import { root } from '../support/source.ts';

const crash = operation({
  path: '/billing/test/crash',
  method: 'Create',
  action: 'Crash',
  access: 'authenticated',
  summary: 'For this test alone.',
  request: Type.Object({ how: Type.String() }),
  response: Type.Object({}),
  errors: [],
  example: { how: 'throw' },
  async handle(call, body) {
    call.audit({ subject: 'crash', subjectId: 1, before: null, after: {} });
    if (body.how === 'throw') throw new Error('the secret plan of table logins');
    // An answer that cannot be written as JSON.
    return { message: 'done', data: { amount: 1n } as object };
  },
});

const withCrash = [...operations, ['crash', crash as Operation]] as const;
const scene = await openScene({ operations: withCrash });
const admin = await scene.workspace('limits');
await scene.workspace('limits-b');

function list(baseUrl: string, token = admin.token): Promise<Answered> {
  return ask(baseUrl, '/billing/users/list-users', {
    headers: { 'X-Workspace': 'limits', Authorization: token ?? '' },
    body: '{"method":"Retrieve","action":"List Parties","apiVersion":"v2"}',
  });
}

for (const how of ['throw', 'answer']) {
  test(`a crash (${how}) gives the caller only its requestID, and the log all details`, async () => {
    const { envelope, headers, text } = await ask(scene.baseUrl, '/billing/test/crash', {
      headers: { 'X-Workspace': 'limits', Authorization: admin.token ?? '' },
      body: JSON.stringify({ method: 'Create', action: 'Crash', apiVersion: 'v2', how }),
    });
    const requestID = headers.get('x-request-id');
    assert.deepEqual(envelope, {
      success: false,
      statusCode: 500,
      message: 'Internal error',
      error: {
        code: 'INTERNAL_ERROR',
        type: 'internal',
        field: null,
        message: 'Internal error',
        retryable: false,
        retryAfter: null,
        requestID,
        details: [],
      },
      data: {},
    });
    assert.doesNotMatch(text, /secret plan|BigInt|stack|\.ts/);
    const line = scene.logged.find((one) => one.includes(requestID ?? '') && /"err"/.test(one));
    assert.match(line ?? '', how === 'throw' ? /secret plan of table logins/ : /BigInt/);
    assert.match(line ?? '', /limits\.test\.ts|envelope\.ts/);
    const { rows } = await scene.sql.query("select 1 from audit_entries where subject = 'crash'");
    assert.equal(rows.length, 0);
    assert.equal((await list(scene.baseUrl)).envelope.success, true);
  });
}

test('a token has its burst, then 429 with the seconds to wait, then its rate', async () => {
  await scene.clock.whileStopped(async () => {
    const rateLimits = { token: { perSecond: 0.5, burst: 3 } };
    const { baseUrl } = await scene.anotherServer({ operations: withCrash, rateLimits });
    for (const remaining of ['2', '1', '0']) {
      const { envelope, headers } = await list(baseUrl);
      assert.equal(envelope.success, true);
      assert.equal(headers.get('x-ratelimit-limit'), '3');
      assert.equal(headers.get('x-ratelimit-remaining'), remaining);
      assert.match(headers.get('x-ratelimit-reset') ?? '', /^[1-6]$/);
      assert.equal(headers.get('retry-after'), null);
    }
    const { envelope, headers } = await list(baseUrl);
    assert.equal(envelope.statusCode, 429);
    assert.equal(envelope.error?.code, 'RATE_LIMITED');
    assert.equal(envelope.error?.type, 'limit');
    assert.equal(envelope.error?.retryable, true);
    assert.equal(envelope.error?.retryAfter, 2);
    assert.equal(headers.get('retry-after'), '2');
    assert.equal(headers.get('x-ratelimit-limit'), '3');
    assert.equal(headers.get('x-ratelimit-remaining'), '0');
    scene.clock.advance({ seconds: 2 });
    assert.equal((await list(baseUrl)).envelope.success, true);
    assert.equal((await list(baseUrl)).envelope.statusCode, 429);
    scene.clock.advance({ seconds: -600 });
    assert.equal((await list(baseUrl)).envelope.statusCode, 429, 'a clock set back gives nothing');
    scene.clock.advance({ seconds: 600 });
  });
});

test('one token over its limit leaves another alone; a workspace has a limit over all', async () => {
  const operator = await scene.loginAs(admin, ['Billing Operator']);
  const rateLimits = {
    token: { perSecond: 0.001, burst: 2 },
    tenant: { perSecond: 0.001, burst: 3 },
  };
  const { baseUrl } = await scene.anotherServer({ operations: withCrash, rateLimits });
  const codes = [];
  for (const token of [admin.token, admin.token, admin.token, operator.token, operator.token]) {
    codes.push((await list(baseUrl, token)).envelope.statusCode);
  }
  assert.deepEqual(codes, [200, 200, 429, 200, 429]);
  const stranger = scene.visitor('limits-b');
  const login = { username: 'admin@limits-b.example', password: 'correct horse battery' };
  const { accessToken } = (await stranger.login(login)).data;
  const { envelope } = await ask(baseUrl, '/billing/users/list-users', {
    headers: { 'X-Workspace': 'limits-b', Authorization: accessToken },
    body: '{"method":"Retrieve","action":"List Parties","apiVersion":"v2"}',
  });
  assert.equal(envelope.success, true);
});

test('a stranger cannot use up the limit of a workspace', async () => {
  const rateLimits = { tenant: { perSecond: 0.001, burst: 2 } };
  const { baseUrl } = await scene.anotherServer({ operations: withCrash, rateLimits });
  for (let i = 0; i < 10; i += 1) {
    const { envelope } = await list(baseUrl, `1.${'B'.repeat(43)}`);
    assert.equal(envelope.error?.code, 'TOKEN_INVALID');
  }
  assert.equal((await list(baseUrl)).envelope.success, true);
});

function invented(i: number): string {
  return `1.${String(i).padStart(43, 'C')}`;
}

test('600 invented tokens meet a limit per address, and tokens in use there go on working', async () => {
  await scene.clock.whileStopped(async () => {
    const { wrongToken } = defaultRateLimits;
    const { baseUrl, visitor } = await scene.anotherServer({ rateLimits: { wrongToken } });
    const fresh = visitor('limits');
    await list(baseUrl, admin.token);
    const codes: string[] = [];
    for (let i = 0; i < 600; i += 1) {
      const token = i % 10 === 9 ? `no token ${i}` : invented(i);
      codes.push((await list(baseUrl, token)).envelope.error?.code ?? 'OK');
    }
    assert.deepEqual(codes.slice(0, 60), Array(60).fill('TOKEN_INVALID'));
    assert.deepEqual(codes.slice(60), Array(540).fill('RATE_LIMITED'));
    const { envelope, headers } = await list(baseUrl, invented(600));
    assert.equal(envelope.statusCode, 429);
    assert.equal(headers.get('retry-after'), '1');
    assert.equal((await list(baseUrl, admin.token)).envelope.success, true, 'a token in use');
    const login = { username: 'admin@limits.example', password: 'correct horse battery' };
    const { accessToken } = (await fresh.login(login)).data;
    assert.equal((await list(baseUrl, accessToken)).envelope.success, true, 'a new token');
    assert.equal((await list(baseUrl, '')).envelope.error?.code, 'TOKEN_MISSING');
    scene.clock.advance({ seconds: 1 });
    assert.equal((await list(baseUrl, invented(601))).envelope.error?.code, 'TOKEN_INVALID');
    scene.clock.advance({ seconds: -1 });
  });
});

function hosted(host: string, headers: Record<string, string> = {}): Promise<Envelope> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(scene.baseUrl);
    const path = '/billing/users/list-users';
    const all = {
      Host: host,
      'Content-Type': 'application/json',
      Authorization: admin.token ?? '',
      ...headers,
    };
    const sent = request({ hostname, port, path, method: 'POST', headers: all }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve(JSON.parse(text)));
    });
    sent.on('error', reject);
    sent.end('{"method":"Retrieve","action":"List Parties","apiVersion":"v2"}');
  });
}

test('the workspace is the first label of the host name, in any case, with or without port', async () => {
  for (const host of ['limits.localhost', 'LIMITS.Localhost:8080', 'limits.localhost.:80']) {
    assert.equal((await hosted(host)).success, true, host);
  }
});

test('a host name that names no workspace answers 404 WORKSPACE_NOT_FOUND', async () => {
  const hosts = [
    'nobody.localhost',
    'localhost',
    '127.0.0.1',
    'limits.example.com',
    'limits.localhost.example.com',
    'a.limits.localhost',
    'limitslocalhost',
    '.localhost',
    '-limits.localhost',
    '[::1]:8080',
    "limits'--.localhost",
    `${'x'.repeat(64)}.localhost`,
  ];
  for (const host of hosts) {
    const { statusCode, error } = await hosted(host);
    assert.equal(error?.code, 'WORKSPACE_NOT_FOUND', host);
    assert.equal(statusCode, 404);
  }
});

test("a token at another workspace's host is refused, and what proxies claim is not believed", async () => {
  assert.equal((await hosted('limits-b.localhost')).error?.code, 'TOKEN_WORKSPACE_MISMATCH');
  const forwarded = { 'X-Forwarded-Host': 'limits.localhost', Forwarded: 'host=limits.localhost' };
  assert.equal((await hosted('nobody.localhost', forwarded)).error?.code, 'WORKSPACE_NOT_FOUND');
});

test('X-Workspace is followed only where the server was started with it', async () => {
  const { createServer } = await import('../../src/http/server.ts');
  const { createLog } = await import('../../src/base/log.ts');
  const { defaultRateLimits } = await import('../../src/http/rate-limit.ts');
  const server = createServer({
    database: scene.api,
    operations,
    clock: scene.clock,
    log: createLog({ level: 'silent' }),
    domain: 'localhost',
    workspaceHeader: false,
    trustedProxies: [],
    scheduleWaitSeconds: 20,
    rateLimits: defaultRateLimits,
  });
  const baseUrl = await server.listen({ port: 0, host: '127.0.0.1' });
  try {
    assert.equal((await list(baseUrl)).envelope.error?.code, 'WORKSPACE_NOT_FOUND');
  } finally {
    await server.close();
  }
});

test('docs/api.md lists the limits', () => {
  const docs = readFileSync(join(root, 'docs/api.md'), 'utf8');
  const { token, tenant, loginName, loginAddress, wrongToken } = defaultRateLimits;
  const figure = (number: number) => number.toLocaleString('en');
  const aMinute = ({ perSecond }: { perSecond: number }) => Math.round(perSecond * 60);
  for (const line of [
    `| body | ${bodyBytesMax.plain / 2 ** 20} MiB; ${bodyBytesMax.rows / 2 ** 20} MiB for ` +
      `operations that take rows or a file; ${bodyBytesMax.stranger / 2 ** 10} KiB without`,
    `| JSON | in UTF-8, not compressed; nested ${jsonLimits.depth} deep; ` +
      `${figure(jsonLimits.values)} values; ${figure(jsonLimits.items)} items in a list; ` +
      `${figure(jsonLimits.fields)} fields in an object, each name up to ` +
      `${figure(jsonLimits.fieldNameBytes)} bytes |`,
    `| rows in one call | ${figure(limits.batch)}; readings, usage and values of manual ` +
      `components ${figure(limits.readings)}`,
    `| text | ${figure(limits.text)} characters, descriptions ${figure(limits.description)}`,
    `| calls | ${token.perSecond} a second per token (burst ${token.burst}), ` +
      `${tenant.perSecond} per workspace (burst ${tenant.burst}) |`,
    `| logins | ${aMinute(loginName)} a minute per name, ${aMinute(loginAddress)} per address |`,
    `| tokens that do not exist | ${aMinute(wrongToken)} a minute per address |`,
  ]) {
    assert.ok(docs.includes(`\n${line}`), line);
  }
});
