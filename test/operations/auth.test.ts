import assert from 'node:assert/strict';
import { test } from 'node:test';
import { permissionsOf } from '../../src/domain/access/roles.ts';
import { refuses } from '../support/client.ts';
import { adminPassword, openScene } from '../support/scene.ts';

const scene = await openScene();
const admin = await scene.workspace('auth');
await scene.workspace('auth-b');
const tenantId = await scene.enter(admin);
const visitor = scene.visitor('auth');
const credentials = { username: 'admin@auth.example', password: adminPassword };

function as(token: string) {
  const client = scene.visitor('auth');
  client.useToken(token);
  return client;
}

test('a login returns token, lifetimes, scope, user and workspace', async () => {
  const inEightHours = () => {
    const until = scene.clock.now().add({ hours: 8 }).toZonedDateTimeISO('Asia/Karachi');
    return until.toPlainDateTime().toString({ smallestUnit: 'second' }).replace('T', ' ');
  };
  const earliest = inEightHours();
  const { data } = await visitor.login(credentials);
  const latest = inEightHours();
  const { accessToken, refreshToken, expiresAt, scope, now, ...rest } = data;
  const form = new RegExp(`^${tenantId.toString(36)}\\.[A-Za-z0-9_-]{43}$`);
  assert.match(accessToken, form);
  assert.match(refreshToken, form);
  assert.notEqual(accessToken, refreshToken);
  assert.deepEqual(scope, [...permissionsOf(['Administrator'])]);
  assert.deepEqual(rest, {
    expiresIn: 8 * 3600,
    refreshExpiresIn: 30 * 24 * 3600,
    user: {
      userID: 1,
      partyID: null,
      partyNumber: null,
      name: 'Administrator',
      email: 'admin@auth.example',
      userType: 'Operator',
      roles: ['Administrator'],
    },
    workspace: 'auth',
    currency: 'PKR',
    currencyDecimals: 2,
    locale: 'en',
  });
  assert.match(now, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  assert.match(expiresAt, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/);
  const told = expiresAt.slice(0, earliest.length);
  assert.ok(told >= earliest && told <= latest, `${earliest} <= ${told} <= ${latest}`);
  await as(accessToken).listUsers();
});

test('a one-time password in a login is ignored and named as ignored', async () => {
  const { headers } = await visitor.login({ ...credentials, otp: '123456' } as never);
  assert.equal(headers.get('x-ignored-fields'), 'otp');
});

test('a login is found by user name or e-mail address, in any case', async () => {
  const login = {
    username: 'Ops.One',
    email: 'Ops@Example.com',
    name: 'O',
    password: adminPassword,
  };
  await admin.makeLogins({ logins: [{ ...login, roles: ['Billing Operator'] }] });
  for (const username of ['ops.one', 'OPS.ONE', 'ops@example.com', 'OPS@EXAMPLE.COM']) {
    const { data } = await visitor.login({ username, password: adminPassword });
    assert.equal(data.user.email, 'Ops@Example.com');
  }
});

test('a login without a name or secret is refused and names the missing one', async () => {
  await refuses(visitor.login({}), 'REQUIRED_FIELD', { field: 'username' });
  await refuses(visitor.login({ username: 'x' }), 'REQUIRED_FIELD', { field: 'password' });
  await refuses(visitor.login({ username: 'x', password: '' }), 'REQUIRED_FIELD');
  await refuses(visitor.login({ clientID: 'x' }), 'REQUIRED_FIELD', { field: 'clientSecret' });
  const wrong = visitor.login({ username: 7 as never, password: ['x'] as never });
  await refuses(wrong, 'INVALID_TYPE');
});

test('a refresh token gives new tokens once, and ends the old ones', async () => {
  const first = (await visitor.login(credentials)).data;
  const second = (await visitor.refreshToken({ refreshToken: first.refreshToken })).data;
  assert.deepEqual(second.user, first.user);
  assert.notEqual(second.accessToken, first.accessToken);
  await refuses(as(first.accessToken).listUsers(), 'TOKEN_REVOKED', { statusCode: 401 });
  await as(second.accessToken).listUsers();
  await refuses(as(second.refreshToken).listUsers(), 'TOKEN_INVALID');
  await refuses(visitor.refreshToken({ refreshToken: second.accessToken }), 'TOKEN_INVALID');
});

test('a spent refresh token that comes back ends the whole family', async () => {
  const first = (await visitor.login(credentials)).data;
  const other = (await visitor.login(credentials)).data;
  const second = (await visitor.refreshToken({ refreshToken: first.refreshToken })).data;
  await as(second.accessToken).listUsers();
  const reuse = visitor.refreshToken({ refreshToken: first.refreshToken });
  const { error } = await refuses(reuse, 'TOKEN_REVOKED', { statusCode: 401 });
  assert.match(error.message, /used before/);
  await refuses(as(second.accessToken).listUsers(), 'TOKEN_REVOKED');
  await refuses(visitor.refreshToken({ refreshToken: second.refreshToken }), 'TOKEN_REVOKED');
  await as(other.accessToken).listUsers();
});

test('of ten refreshes with one token at once at most one gives tokens', async () => {
  const { refreshToken } = (await visitor.login(credentials)).data;
  const results = await Promise.allSettled(
    Array.from({ length: 10 }, () => visitor.refreshToken({ refreshToken })),
  );
  assert.equal(results.filter((result) => result.status === 'fulfilled').length, 1);
  for (const result of results) {
    if (result.status === 'rejected') assert.equal(result.reason.code, 'TOKEN_REVOKED');
  }
});

test('a refresh token is refused when it is unknown, of another workspace, or too old', async () => {
  await refuses(visitor.refreshToken({ refreshToken: 'x' }), 'TOKEN_INVALID');
  await refuses(
    visitor.refreshToken({ refreshToken: `${tenantId.toString(36)}.${'A'.repeat(43)}` }),
    'TOKEN_INVALID',
  );
  const { refreshToken } = (await visitor.login(credentials)).data;
  await refuses(scene.visitor('auth-b').refreshToken({ refreshToken }), 'TOKEN_WORKSPACE_MISMATCH');
  scene.clock.advance({ hours: 24 * 30, seconds: 1 });
  await refuses(visitor.refreshToken({ refreshToken }), 'TOKEN_EXPIRED');
  scene.clock.advance({ hours: -24 * 30, seconds: -1 });
  await visitor.refreshToken({ refreshToken });
});

test('a logout ends the token and its refresh token, and no other session', async () => {
  const { accessToken, refreshToken } = (await visitor.login(credentials)).data;
  const other = (await visitor.login(credentials)).data;
  const client = as(accessToken);
  await client.logout();
  await refuses(client.listUsers(), 'TOKEN_REVOKED');
  await refuses(client.logout(), 'TOKEN_REVOKED');
  await refuses(visitor.refreshToken({ refreshToken }), 'TOKEN_REVOKED');
  await as(other.accessToken).listUsers();
});

test('a token dies after eight hours', async () => {
  const client = as((await visitor.login(credentials)).data.accessToken);
  scene.clock.advance({ hours: 7, minutes: 59 });
  await client.listUsers();
  scene.clock.advance({ minutes: 1 });
  await refuses(client.listUsers(), 'TOKEN_EXPIRED', { statusCode: 401 });
  scene.clock.advance({ hours: -8 });
  await client.listUsers();
});

test('a workspace may set the lifetime of its tokens', async () => {
  await admin.updateSettings({ data: { accessTokenSeconds: 900 } });
  const { data } = await visitor.login(credentials);
  assert.equal(data.expiresIn, 900);
  scene.clock.advance({ seconds: 901 });
  await refuses(as(data.accessToken).listUsers(), 'TOKEN_EXPIRED');
  const renewed = await visitor.refreshToken({ refreshToken: data.refreshToken });
  assert.equal(renewed.data.expiresIn, 900);
  scene.clock.advance({ seconds: -901 });
  await admin.updateSettings({ data: { accessTokenSeconds: null } });
  assert.equal((await visitor.login(credentials)).data.expiresIn, 8 * 3600);
});

test('where sessions may lie idle only so long, use keeps them alive and idleness ends them', async () => {
  await admin.updateSettings({ data: { idleSeconds: 600 } });
  const { accessToken, refreshToken } = (await visitor.login(credentials)).data;
  const client = as(accessToken);
  for (let i = 0; i < 3; i += 1) {
    scene.clock.advance({ seconds: 400 });
    await client.listUsers();
    await untilNoted();
  }
  scene.clock.advance({ seconds: 400 });
  const renewed = (await visitor.refreshToken({ refreshToken })).data;
  scene.clock.advance({ seconds: 400 });
  await as(renewed.accessToken).listUsers();
  await untilNoted();
  scene.clock.advance({ seconds: 601 });
  await refuses(as(renewed.accessToken).listUsers(), 'TOKEN_EXPIRED');
  const late = visitor.refreshToken({ refreshToken: renewed.refreshToken });
  await refuses(late, 'TOKEN_EXPIRED', { statusCode: 401 });
  scene.clock.advance({ seconds: -2601 });
  await admin.updateSettings({ data: { idleSeconds: null } });
});

/** The use of a session is noted beside the call, not in it. */
async function untilNoted(): Promise<void> {
  for (let attempt = 0; attempt < 6_000; attempt += 1) {
    const { rows } = await scene.sql.query(
      'select used_at from sessions order by created_at desc limit 1',
    );
    if (Math.abs(rows[0].used_at.getTime() - scene.clock.now().epochMilliseconds) < 60_000) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail('the use of the session was not noted');
}

test('a token is good at its own workspace alone', async () => {
  const stranger = scene.visitor('auth-b');
  stranger.useToken(admin.token);
  await refuses(stranger.listUsers(), 'TOKEN_WORKSPACE_MISMATCH', { statusCode: 401 });
});

test('logins are made with their rules, all or none', async () => {
  const good = {
    username: 'good',
    name: 'Good',
    password: adminPassword,
    roles: ['Auditor'] as const,
  };
  const cases = [
    [{ password: 'eleven char' }, 'INVALID_FORMAT', 'logins[0].password'],
    [{ password: 'x'.repeat(257) }, 'INVALID_FORMAT', 'logins[0].password'],
    [{ password: null }, 'REQUIRED_FIELD', 'logins[0].password'],
    [{ roles: [] }, 'REQUIRED_FIELD', 'logins[0].roles'],
    [{ roles: ['King'] }, 'INVALID_ENUM', 'logins[0].roles[0]'],
    [{ username: ' ' }, 'REQUIRED_FIELD', 'logins[0].username'],
    [{ email: 'x' }, 'INVALID_EMAIL', 'logins[0].email'],
    [{ partyNumber: 4711 }, 'PARTY_NOT_FOUND', 'logins[0].partyNumber'],
    [{ roles: ['Customer'] }, 'REQUIRED_FIELD', 'logins[0].partyNumber'],
  ] as const;
  for (const [change, code, field] of cases) {
    const logins = [{ ...good, ...change }] as never;
    const { error } = await refuses(admin.makeLogins({ logins }), code, { field });
    assert.equal(
      error.details[0]?.rejectedValue === undefined,
      !('username' in change || 'email' in change || code === 'INVALID_ENUM'),
    );
  }
  const twice = [good, { ...good, username: 'GOOD' }] as never;
  await refuses(admin.makeLogins({ logins: twice }), 'DUPLICATE', { field: 'logins[1].username' });
  const taken = [good, { ...good, username: 'OPS@example.com' }] as never;
  await refuses(admin.makeLogins({ logins: taken }), 'DUPLICATE', {
    field: 'logins[1].username',
    statusCode: 409,
  });
  const byEmail = [good, { ...good, username: 'g2', email: 'ops@EXAMPLE.com' }] as never;
  await refuses(admin.makeLogins({ logins: byEmail }), 'DUPLICATE', { field: 'logins[1].email' });
  await refuses(visitor.login({ username: 'good', password: adminPassword }), 'LOGIN_FAILED');
  await refuses(admin.updateLogin({ data: { username: 'good' } }), 'LOGIN_NOT_FOUND');
});

test('get-logins shows logins without their secrets', async () => {
  const { data, headers } = await admin.getLogins({ username: 'OPS.one' });
  assert.equal(headers.get('x-total-count'), '1');
  const [login] = data.logins;
  assert.deepEqual(
    [login?.username, login?.roles, login?.status],
    ['ops.one', ['Billing Operator'], 'ACTIVE'],
  );
  assert.doesNotMatch(JSON.stringify((await admin.getLogins()).data), /argon2|password|hash/);
});

test('an update of a login or client that has changed since it was read is refused', async () => {
  const login = { username: 'seen', name: 'S', password: adminPassword };
  await admin.makeLogins({ logins: [{ ...login, roles: ['Auditor'] }] });
  const clientID = 'seen-client';
  const clientSecret = 'a secret of at least thirty-two characters';
  await admin.makeClients({ clients: [{ clientID, clientSecret, roles: ['Auditor'] }] });
  const seen = (await admin.getLogins({ username: 'seen' })).data.logins[0]?.ts ?? 0;
  const { clients } = (await admin.getClients()).data;
  const seenClient = clients.find((one) => one.clientID === clientID)?.ts ?? 0;
  const changeLogin = () =>
    admin.updateLogin({ data: { username: 'seen', roles: ['Cashier'], ts: seen } });
  const changeClient = () =>
    admin.updateClient({ data: { clientID, roles: ['Cashier'], ts: seenClient } });
  for (const change of [changeLogin, changeClient]) {
    await change();
    await refuses(change(), 'STALE_OBJECT', { field: 'data.ts', statusCode: 409 });
  }
});
