// What is taken away is gone with the very next call, on every server.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ErrorCode } from '../../src/base/errors.ts';
import { refuses, type TestClient } from '../support/client.ts';
import { adminPassword, openScene } from '../support/scene.ts';

const scene = await openScene();
const another = await scene.anotherServer();
const admin = await scene.workspace('loss');
const tenantId = await scene.enter(admin);

/** The same token at two servers, each of which has seen it and may remember it. */
async function seen(roles: string[]): Promise<{ username: string; clients: TestClient[] }> {
  const here = await scene.loginAs(admin, roles);
  const there = another.visitor('loss');
  there.useToken(here.token);
  const clients = [here, there];
  for (const client of [...clients, ...clients]) await client.listUsers();
  const { logins } = (await admin.getLogins()).data;
  return { username: logins.at(-1)?.username ?? '', clients };
}

async function allRefused(clients: TestClient[], code: ErrorCode, statusCode: number) {
  for (const client of clients) await refuses(client.listUsers(), code, { statusCode });
}

test('a role that is taken away, at once', async () => {
  const { username, clients } = await seen(['Billing Operator']);
  await admin.updateLogin({ data: { username, roles: ['Meter Reader'] } });
  await allRefused(clients, 'PERMISSION_DENIED', 403);
  await admin.updateLogin({ data: { username, roles: ['Cashier'] } });
  for (const client of clients) await client.listUsers();
});

test('a login that is made INACTIVE, at once and for good', async () => {
  const { username, clients } = await seen(['Billing Operator']);
  await admin.updateLogin({ data: { username, status: 'INACTIVE' } });
  await allRefused(clients, 'TOKEN_REVOKED', 401);
  const login = scene.visitor('loss').login({ username, password: adminPassword });
  await refuses(login, 'LOGIN_FAILED');
  await admin.updateLogin({ data: { username, status: 'ACTIVE' } });
  await allRefused(clients, 'TOKEN_REVOKED', 401);
  await scene.visitor('loss').login({ username, password: adminPassword });
});

test('a login whose password is changed, and only the new one opens', async () => {
  const { username, clients } = await seen(['Billing Operator']);
  await admin.updateLogin({ data: { username, password: 'another long password' } });
  await allRefused(clients, 'TOKEN_REVOKED', 401);
  const visitor = scene.visitor('loss');
  await refuses(visitor.login({ username, password: adminPassword }), 'LOGIN_FAILED');
  await visitor.login({ username, password: 'another long password' });
});

test('a session that is logged out elsewhere', async () => {
  const { clients } = await seen(['Billing Operator']);
  await clients[1]?.logout();
  await allRefused(clients, 'TOKEN_REVOKED', 401);
});

test('a token that is replaced by a refresh elsewhere', async () => {
  const visitor = another.visitor('loss');
  const { data } = await visitor.login({ username: 'admin@loss.example', password: adminPassword });
  const here = scene.visitor('loss');
  here.useToken(data.accessToken);
  await here.listUsers();
  await visitor.refreshToken({ refreshToken: data.refreshToken });
  await allRefused([here], 'TOKEN_REVOKED', 401);
});

test('a workspace that is suspended, and back again when it is resumed', async () => {
  const { username, clients } = await seen(['Billing Operator']);
  await scene.sql.query(`update tenants set status = 'Suspended' where tenant_id = ${tenantId}`);
  await allRefused([...clients, admin], 'WORKSPACE_SUSPENDED', 403);
  const visitor = another.visitor('loss');
  const login = visitor.login({ username, password: adminPassword });
  await refuses(login, 'WORKSPACE_SUSPENDED', { statusCode: 403 });
  await scene.sql.query(`update tenants set status = 'Active' where tenant_id = ${tenantId}`);
  for (const client of clients) await client.listUsers();
});

test('a workspace that gets an idle limit feels it with tokens that were known before', async () => {
  const { clients } = await seen(['Billing Operator']);
  await admin.updateSettings({ data: { idleSeconds: 60 } });
  scene.clock.advance({ seconds: 61 });
  await allRefused(clients, 'TOKEN_EXPIRED', 401);
  scene.clock.advance({ seconds: -61 });
  await admin.updateSettings({ data: { idleSeconds: null } });
  for (const client of clients) await client.listUsers();
});

const secret = 'a secret of at least thirty-two characters';
const clientRow = { clientSecret: secret, roles: ['Billing Operator' as const] };

async function machine(clientID: string, facts: object = {}): Promise<TestClient[]> {
  await admin.makeClients({ clients: [{ clientID, ...clientRow, ...facts }] });
  const here = scene.visitor('loss');
  const there = another.visitor('loss');
  const { data } = await here.login({ clientID, clientSecret: secret });
  assert.equal(data.expiresIn, 24 * 3600);
  assert.equal(data.user.userType, 'Client');
  for (const client of [here, there]) client.useToken(data.accessToken);
  return [here, there];
}

test('a machine client works for a day, and until it is changed', async () => {
  const clients = await machine('meter-gateway');
  for (const client of [...clients, ...clients]) await client.listUsers();
  await admin.updateClient({ data: { clientID: 'meter-gateway', roles: ['Meter Reader'] } });
  await allRefused(clients, 'PERMISSION_DENIED', 403);
  await admin.updateClient({ data: { clientID: 'meter-gateway', roles: ['Cashier'] } });
  scene.clock.advance({ hours: 24 });
  await allRefused(clients, 'TOKEN_EXPIRED', 401);
  scene.clock.advance({ hours: -24 });
  for (const client of clients) await client.listUsers();
  const clientSecret = 'another secret of thirty-two or more characters';
  await admin.updateClient({ data: { clientID: 'meter-gateway', clientSecret } });
  await allRefused(clients, 'TOKEN_REVOKED', 401);
  const visitor = scene.visitor('loss');
  const old = visitor.login({ clientID: 'meter-gateway', clientSecret: secret });
  await refuses(old, 'LOGIN_FAILED');
  await admin.updateClient({ data: { clientID: 'meter-gateway', status: 'INACTIVE' } });
  await refuses(visitor.login({ clientID: 'meter-gateway', clientSecret }), 'LOGIN_FAILED');
});

test('a machine client ends with its expiry, its tokens with it', async () => {
  const inAnHour = scene.clock.now().add({ hours: 1 }).toZonedDateTimeISO('Asia/Karachi');
  const expiresAt = inAnHour.toPlainDateTime().toString({ smallestUnit: 'second' });
  const clients = await machine('short-lived', { expiresAt });
  const { refreshToken } = (
    await scene.visitor('loss').login({ clientID: 'short-lived', clientSecret: secret })
  ).data;
  for (const client of clients) await client.listUsers();
  scene.clock.advance({ hours: 1 });
  await allRefused(clients, 'TOKEN_EXPIRED', 401);
  const visitor = scene.visitor('loss');
  await refuses(visitor.login({ clientID: 'short-lived', clientSecret: secret }), 'LOGIN_FAILED');
  await refuses(visitor.refreshToken({ refreshToken }), 'TOKEN_REVOKED');
  scene.clock.advance({ hours: -1 });
  await admin.updateClient({ data: { clientID: 'short-lived', expiresAt: null } });
  scene.clock.advance({ hours: 2 });
  for (const client of clients) await client.listUsers();
  scene.clock.advance({ hours: -2 });
});

test('a machine client is no customer, and does not begin after its end', async () => {
  const make = (facts: object) =>
    admin.makeClients({ clients: [{ clientID: 'stillborn', ...clientRow, ...facts }] });
  await refuses(make({ roles: ['Auditor', 'Customer'] }), 'INVALID_ENUM', {
    field: 'clients[0].roles[1]',
  });
  const update = { clientID: 'short-lived', roles: ['Customer'] as never };
  await refuses(admin.updateClient({ data: update }), 'INVALID_ENUM', { field: 'data.roles[0]' });
  const now = scene.clock.now().toZonedDateTimeISO('Asia/Karachi').toPlainDateTime();
  const expiresAt = now.subtract({ minutes: 1 }).toString({ smallestUnit: 'second' });
  const refusal = { field: 'clients[0].expiresAt', statusCode: 400 };
  await refuses(make({ expiresAt }), 'INVALID_DATETIME', refusal);
  // Whoever is there already may be ended so.
  await admin.updateClient({ data: { clientID: 'short-lived', expiresAt } });
});

test('a machine client can call only from its allowed addresses', async () => {
  const here = ['127.0.0.1', '10.0.0.0/8'];
  const clients = await machine('fixed', { allowedAddresses: here });
  for (const client of clients) await client.listUsers();
  const away = ['192.0.2.0/24', '2001:db8::/32', '127.0.0.2'];
  await admin.updateClient({ data: { clientID: 'fixed', allowedAddresses: away } });
  await allRefused(clients, 'PERMISSION_DENIED', 403);
  const elsewhere = scene.visitor('loss').login({ clientID: 'fixed', clientSecret: secret });
  await refuses(elsewhere, 'LOGIN_FAILED');
  await admin.updateClient({ data: { clientID: 'fixed', allowedAddresses: ['127.0.0.0/8'] } });
  for (const client of clients) await client.listUsers();
  for (const wrong of ['localhost', '10.0.0.0/33', '10.0.0.1/8/8', '::/129', '10.0.0.0/', '']) {
    const call = admin.updateClient({ data: { clientID: 'fixed', allowedAddresses: [wrong] } });
    await refuses(call, 'INVALID_FORMAT', { field: 'data.allowedAddresses[0]' });
  }
});

test('machine clients are made with their rules', async () => {
  const make = (change: object) =>
    admin.makeClients({ clients: [{ clientID: 'new-one', ...clientRow, ...change }] });
  await refuses(make({ clientSecret: 'x'.repeat(31) }), 'INVALID_FORMAT');
  await refuses(make({ clientID: 'a b' }), 'INVALID_FORMAT', { field: 'clients[0].clientID' });
  await refuses(make({ expiresAt: '2027-02-30T00:00:00' }), 'INVALID_DATETIME');
  await refuses(make({ clientID: 'fixed' }), 'DUPLICATE', {
    field: 'clients[0].clientID',
    statusCode: 409,
  });
  const both = [
    { clientID: 'twin', ...clientRow },
    { clientID: 'twin', ...clientRow },
  ];
  await refuses(admin.makeClients({ clients: both }), 'DUPLICATE', {
    field: 'clients[1].clientID',
  });
  await refuses(admin.updateClient({ data: { clientID: 'nobody' } }), 'CLIENT_NOT_FOUND');
  const { clients } = (await admin.getClients()).data;
  assert.deepEqual(
    clients.map((client) => client.clientID),
    ['meter-gateway', 'short-lived', 'fixed'],
  );
  assert.doesNotMatch(JSON.stringify(clients), /secret|argon2/i);
});

test('a workspace keeps its last administrator, whichever way it is asked to lose it', async () => {
  const username = 'admin@loss.example';
  const last = { statusCode: 422, field: 'data.username' };
  const demote = { username, roles: ['Auditor' as const] };
  await refuses(admin.updateLogin({ data: demote }), 'LAST_ADMINISTRATOR', last);
  const close = { username, status: 'INACTIVE' as const };
  await refuses(admin.updateLogin({ data: close }), 'LAST_ADMINISTRATOR', last);
  await admin.listUsers();
});

test('two administrators that take the role from each other at once: one stays', async () => {
  const boss = await scene.workspace('duel');
  const second = await scene.loginAs(boss, ['Administrator']);
  const names = (await boss.getLogins()).data.logins.map((login) => login.username);
  for (let round = 0; round < 5; round += 1) {
    const roles = ['Auditor' as const];
    const results = await Promise.allSettled([
      boss.updateLogin({ data: { username: names[1] ?? '', roles } }),
      second.updateLogin({ data: { username: names[0] ?? '', roles } }),
    ]);
    const won = results.findIndex((result) => result.status === 'fulfilled');
    assert.equal(results.filter((result) => result.status === 'fulfilled').length, 1);
    const winner = won === 0 ? boss : second;
    const loser = names[won === 0 ? 1 : 0] ?? '';
    await winner.updateLogin({ data: { username: loser, roles: ['Administrator'] } });
  }
});
