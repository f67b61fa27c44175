import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { ask, type Sent } from '../support/http.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const admin = await scene.workspace('envelope');
const known = { 'X-Workspace': 'envelope', Authorization: admin.token ?? '' };

function call(path: string, body: object, sent: Sent = {}) {
  return ask(scene.baseUrl, path, { headers: known, body: JSON.stringify(body), ...sent });
}

const listUsers = { method: 'Retrieve', action: 'List Parties', apiVersion: 'v2' };
const makeUsers = { method: 'Create', action: 'Create Parties', apiVersion: 'v2' };

test('a success is HTTP 200 with exactly the envelope', async () => {
  const answered = await call('/billing/users/list-users', { ...listUsers, page: null });
  assert.deepEqual(answered.envelope, {
    success: true,
    statusCode: 200,
    message: '0 found',
    error: null,
    data: { users: [] },
  });
  assert.equal(answered.headers.get('x-total-count'), '0');
  const another = await call('/billing/users/list-users', listUsers);
  assert.notEqual(answered.headers.get('x-request-id'), another.headers.get('x-request-id'));
});

test('a request id sent by the caller is not taken over', async () => {
  const headers = { ...known, 'X-Request-Id': '01AAAAAAAAAAAAAAAAAAAAAAAA' };
  const { headers: answered } = await call('/billing/users/list-users', listUsers, { headers });
  assert.notEqual(answered.get('x-request-id'), '01AAAAAAAAAAAAAAAAAAAAAAAA');
});

test('every path below /billing/ that is no operation answers 404 in the envelope', async () => {
  const paths = [
    '/billing/',
    '/billing/nothing',
    '/billing/users',
    '/billing/users/make-users/',
    '/billing/users/MAKE-USERS',
    '/billing/users%2Fmake-users',
    '/billing//users/make-users',
    '/billing/%zz',
    '/billing/%00',
    '/billing/%ff%fe',
    '/billing/__proto__',
    `/billing/${'x'.repeat(5_000)}`,
  ];
  for (const path of paths) {
    const { envelope } = await call(path, listUsers);
    assert.equal(envelope.error?.code, 'UNKNOWN_PATH', path);
    assert.equal(envelope.statusCode, 404);
    assert.equal(envelope.error?.type, 'not_found');
  }
});

test('an operation is found whatever its query string says', async () => {
  const { envelope } = await call('/billing/users/list-users?x=1&y=%zz', listUsers);
  assert.equal(envelope.success, true);
});

function plainCall(verb: string, path: string): Promise<{ status: number; code: string | null }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(scene.baseUrl);
    const headers = { ...known, 'Content-Type': 'application/json' };
    const sent = request({ hostname, port, path, method: verb, headers }, (response) => {
      const code = response.headers['x-status-code'];
      response.resume();
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, code: String(code ?? null) }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });
}

test('every verb but POST answers 405 in the envelope', async () => {
  const verbs = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'];
  for (const verb of [...verbs, 'REPORT', 'M-SEARCH']) {
    assert.deepEqual(await plainCall(verb, '/billing/users/list-users'), {
      status: 200,
      code: '405',
    });
  }
  const { envelope } = await call('/billing/users/list-users', {}, { verb: 'GET', body: null });
  assert.equal(envelope.error?.code, 'METHOD_NOT_ALLOWED');
  assert.equal(envelope.error?.type, 'request');
});

test('outside /billing/ the HTTP status is the ordinary one', async () => {
  assert.equal((await fetch(new URL('/nothing', scene.baseUrl))).status, 404);
  assert.equal((await fetch(new URL('/billing', scene.baseUrl), { method: 'POST' })).status, 404);
  assert.equal((await fetch(new URL('/health', scene.baseUrl))).status, 200);
  assert.equal((await fetch(new URL('/%zz', scene.baseUrl))).status, 404);
});

test('content types other than JSON answer 415, and the body is not looked at', async () => {
  const refusedTypes = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=utf-16',
    'application/json, text/plain',
    'application/jsonp',
    'application/json;',
    'application/json; charset=utf-8; q=1',
    'garbage',
    ';',
    '/',
    'application/',
  ];
  for (const type of refusedTypes) {
    const headers = { ...known, 'Content-Type': type };
    const { envelope } = await call('/billing/users/list-users', listUsers, { headers });
    assert.equal(envelope.error?.code, 'UNSUPPORTED_MEDIA_TYPE', type);
    assert.equal(envelope.statusCode, 415);
    assert.equal(envelope.error?.type, 'request');
  }
  for (const type of ['application/json', 'Application/JSON; charset=UTF-8']) {
    const headers = { ...known, 'Content-Type': type };
    const { envelope } = await call('/billing/users/list-users', listUsers, { headers });
    assert.equal(envelope.success, true, type);
  }
});

test('a body that is no JSON object answers 400 MALFORMED_JSON', async () => {
  for (const body of ['', '{', '[]', '"text"', 'null', '7', '{"a":1}}', "{'a':1}", '\u0000']) {
    const { envelope } = await call('/billing/users/list-users', {}, { body });
    assert.equal(envelope.error?.code, 'MALFORMED_JSON', body);
    assert.equal(envelope.statusCode, 400);
  }
});

test('JSON may be 32 levels deep and no deeper, and brackets inside texts do not count', async () => {
  const nested = (levels: number) =>
    `${JSON.stringify(listUsers).slice(0, -1)},"x":${'['.repeat(levels)}${']'.repeat(levels)}}`;
  const at = await call('/billing/users/list-users', {}, { body: nested(31) });
  assert.equal(at.envelope.success, true);
  const over = await call('/billing/users/list-users', {}, { body: nested(32) });
  assert.equal(over.envelope.error?.code, 'TOO_DEEP');
  const inText = await call('/billing/users/list-users', { ...listUsers, x: '[{"'.repeat(50) });
  assert.equal(inText.envelope.success, true);
});

test('a body of more than 10 MiB answers 413', async () => {
  const body = JSON.stringify({ ...listUsers, x: 'x'.repeat(11 * 1024 * 1024) });
  const { envelope } = await call('/billing/users/list-users', {}, { body });
  assert.equal(envelope.error?.code, 'REQUEST_TOO_LARGE');
  assert.equal(envelope.statusCode, 413);
  assert.equal(envelope.error?.type, 'limit');
});

test('no token, a token of no form, and an unknown token answer 401', async () => {
  const cases = [
    ['', 'TOKEN_MISSING'],
    ['nonsense', 'TOKEN_INVALID'],
    [`1.${'A'.repeat(43)}`, 'TOKEN_INVALID'],
    [`zzzzzzzzz.${'A'.repeat(43)}`, 'TOKEN_INVALID'],
    [`0.${'A'.repeat(43)}`, 'TOKEN_INVALID'],
    [`Bearer ${admin.token}`, 'BEARER_PREFIX_NOT_USED'],
    [`bearer ${admin.token}`, 'BEARER_PREFIX_NOT_USED'],
    [`${admin.token} x`, 'TOKEN_INVALID'],
  ] as const;
  for (const [authorization, code] of cases) {
    const headers = {
      'X-Workspace': 'envelope',
      ...(authorization === '' ? {} : { Authorization: authorization }),
    };
    const { envelope } = await call('/billing/users/list-users', listUsers, { headers });
    assert.equal(envelope.error?.code, code, authorization);
    assert.equal(envelope.statusCode, 401);
    assert.equal(envelope.error?.type, 'auth');
  }
});

test('a caller without a token does not learn what is wrong with the body', async () => {
  const headers = { 'X-Workspace': 'envelope' };
  const { envelope } = await call('/billing/users/make-users', { users: 7 }, { headers });
  assert.equal(envelope.error?.code, 'TOKEN_MISSING');
  assert.deepEqual(envelope.error?.details, []);
});

test('an error has the fields of the error object, in their order, and nothing else', async () => {
  const { envelope } = await call('/billing/users/make-users', {
    ...makeUsers,
    userType: 'customer',
    users: [{ name: 'A', country: 'XX' }],
  });
  const { requestID, ...error } = envelope.error ?? assert.fail('no error');
  const message =
    'users[0].country does not have the expected form (ISO 3166-1 alpha-2 or alpha-3)';
  assert.match(requestID, /^[0-9A-Z]{26}$/);
  assert.deepEqual(error, {
    code: 'INVALID_COUNTRY',
    type: 'request',
    field: 'users[0].country',
    message,
    retryable: false,
    retryAfter: null,
    details: [{ field: 'users[0].country', code: 'INVALID_COUNTRY', message, rejectedValue: 'XX' }],
  });
});

test('method and action must be those of the path, exactly, and error.allowed lists them', async () => {
  const wrong = [
    {},
    { method: 'Create' },
    { method: 'create', action: 'Create Parties' },
    { method: 'Create', action: 'Create Parties ' },
    { method: ['Create'], action: 'Create Parties' },
    { method: null, action: null },
  ];
  for (const words of wrong) {
    const { envelope } = await call('/billing/users/make-users', { apiVersion: 'v2', ...words });
    assert.equal(envelope.error?.code, 'OPERATION_MISMATCH', JSON.stringify(words));
    assert.equal(envelope.statusCode, 400);
    assert.deepEqual(envelope.error?.allowed, [{ method: 'Create', action: 'Create Parties' }]);
  }
  const { envelope } = await call('/billing/billing-groups', { method: 'Retrieve', action: 'x' });
  assert.equal(envelope.error?.field, 'action');
  assert.deepEqual(envelope.error?.allowed, [
    { method: 'Create', action: 'Add Billing Group' },
    { method: 'Retrieve', action: 'List Billing Groups' },
    { method: 'Retrieve', action: 'Get Billing Group' },
  ]);
});

test('a read-only login that sends a wrong action gets OPERATION_MISMATCH, not a permission error', async () => {
  const auditor = await scene.loginAs(admin, ['Auditor']);
  const headers = { 'X-Workspace': 'envelope', Authorization: auditor.token ?? '' };
  const body = JSON.stringify({
    method: 'Retrieve',
    action: 'Get Billing Groups',
    billingGroupID: 1,
  });
  const answered = await call('/billing/billing-groups', {}, { headers, body });
  assert.equal(answered.envelope.error?.code, 'OPERATION_MISMATCH');
  assert.equal(answered.headers.get('x-ignored-fields'), null);
});

test('apiVersion must be the text v2', async () => {
  for (const apiVersion of [undefined, null, 'v1', 'V2', 2, ['v2']]) {
    const { envelope } = await call('/billing/users/list-users', { ...listUsers, apiVersion });
    assert.equal(envelope.error?.code, 'UNSUPPORTED_API_VERSION', String(apiVersion));
    assert.deepEqual(envelope.error?.allowed, ['v2']);
  }
});
