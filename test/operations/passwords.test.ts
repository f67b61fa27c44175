// Passwords: which are refused, in which forms they are typed, and how people change their own.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../src/base/log.ts';
import { passwordFault } from '../../src/domain/access/passwords.ts';
import { createServer } from '../../src/http/server.ts';
import { operations } from '../../src/operations/catalogue.ts';
import { refuses, type TestClient } from '../support/client.ts';
import { ask } from '../support/http.ts';
import { adminPassword, openScene } from '../support/scene.ts';

const scene = await openScene();
const admin = await scene.workspace('utility-nine');
const visitor = scene.visitor('utility-nine');

let made = 0;

async function newLogin(password = adminPassword): Promise<string> {
  made += 1;
  const username = `person.${made}`;
  const email = `mail${made}@people.example`;
  await admin.makeLogins({
    logins: [{ username, email, name: 'P', password, roles: ['Auditor'] }],
  });
  return username;
}

async function loggedIn(username: string, password = adminPassword): Promise<TestClient> {
  const client = scene.visitor('utility-nine');
  client.useToken((await visitor.login({ username, password })).data.accessToken);
  return client;
}

const weak = [
  ' '.repeat(12),
  '123456789012',
  'aaaaaaaaaaaa',
  'abababababab',
  'abcdefghijklm',
  '210987654321',
  'qwertyuiop12',
  'password1234',
  'P@ssw0rd2026',
  'Welcome2026!',
  'iloveyou1234',
  '1q2w3e4r5t6y',
  'zaq1xsw2cde3',
  'adminadmin99',
  'letmeinletmein',
  'horsewillowhorsewillow',
  'billwright-demo',
  'e\u0301e\u0301o\u0301o\u0301a\u0301a\u0301',
];

test('commonplace, repeated and too short passwords are refused with PASSWORD_TOO_WEAK', async () => {
  const username = await newLogin();
  for (const password of weak) {
    const login = { username: 'weak', name: 'W', password, roles: ['Auditor' as const] };
    const { error } = await refuses(admin.makeLogins({ logins: [login] }), 'PASSWORD_TOO_WEAK', {
      field: 'logins[0].password',
      statusCode: 400,
    });
    assert.ok(!JSON.stringify(error).includes(password.trim() || '   '), 'it is not told back');
    const update = admin.updateLogin({ data: { username, password } });
    await refuses(update, 'PASSWORD_TOO_WEAK', { field: 'data.password' });
  }
  await loggedIn(username);
});

test('a password with the user name, the e-mail address or the workspace in it is refused', async () => {
  const login = { name: 'N', roles: ['Auditor' as const], email: 'gardener@people.example' };
  for (const password of [
    'my Zookeeper keys 7',
    'old Gardener keys 7',
    'our utility-nine keys',
    'Z\uff4fokeeper moon 7x',
  ]) {
    const logins = [{ ...login, username: 'zookeeper', password }];
    const { error } = await refuses(admin.makeLogins({ logins }), 'PASSWORD_TOO_WEAK');
    assert.match(error.message, /^The password contains the name '/);
  }
});

test('long passwords of unrelated words, in any alphabet, are taken', () => {
  for (const password of [
    adminPassword,
    'Tr0ub4dor&3xyz',
    'kX9#vL2$mQ7!',
    'garden summer lamp 41',
    'зелёный чайник и окно',
    'سبز چائے کی پیالی',
    '緑のお茶と白い窓と青い空と',
  ]) {
    assert.equal(passwordFault(password, ['admin@x.example', 'utility-nine']), undefined, password);
  }
  const startedMs = performance.now();
  for (let i = 0; i < 50; i += 1) passwordFault('1q2w3e4r'.repeat(32), ['x']);
  for (let i = 0; i < 50; i += 1) passwordFault('a'.repeat(255) + i, ['x']);
  assert.ok(performance.now() - startedMs < 2_000, 'hostile ones take no longer');
});

test('a password typed in another form of Unicode, or with other blanks, is the same', async () => {
  const username = await newLogin('caf\u00e9 lampe fen\u00eatre');
  for (const password of [
    'cafe\u0301 lampe fene\u0302tre',
    'caf\u00e9\u00a0lampe\u2003fen\u00eatre',
  ]) {
    await visitor.login({ username, password });
  }
  await refuses(visitor.login({ username, password: 'cafe lampe fenetre' }), 'LOGIN_FAILED');
});

const next = 'staple of the second kind';

test('people change their own password, which ends their other sessions', async () => {
  const username = await newLogin();
  const own = await loggedIn(username);
  const other = await loggedIn(username);
  const stranger = await loggedIn(await newLogin());
  const data = { currentPassword: adminPassword, newPassword: next };
  await own.changePassword({ data });
  await own.listUsers();
  await stranger.listUsers();
  await refuses(other.listUsers(), 'TOKEN_REVOKED', { statusCode: 401 });
  await refuses(visitor.login({ username, password: adminPassword }), 'LOGIN_FAILED');
  await loggedIn(username, next);
  await refuses(own.changePassword({ data }), 'CURRENT_PASSWORD_WRONG', {
    field: 'data.currentPassword',
    statusCode: 422,
  });
});

test('a new password that is weak, or the current one, is refused and changes nothing', async () => {
  const username = await newLogin();
  const own = await loggedIn(username);
  for (const newPassword of ['123456789012', `${username} in the moon`, adminPassword]) {
    const data = { currentPassword: adminPassword, newPassword };
    await refuses(own.changePassword({ data }), 'PASSWORD_TOO_WEAK', { field: 'data.newPassword' });
  }
  const short = { currentPassword: adminPassword, newPassword: 'short' };
  await refuses(own.changePassword({ data: short }), 'INVALID_FORMAT');
  await loggedIn(username);
});

test('wrong current passwords are counted as failed logins of the user name', async () => {
  const username = await newLogin();
  const own = await loggedIn(username);
  const codes: string[] = [];
  for (let i = 0; i < 11; i += 1) {
    const data = { currentPassword: `a wrong one ${i}`, newPassword: next };
    codes.push(
      await own
        .changePassword({ data })
        .then(() => 'OK')
        .catch((error) => error.code),
    );
  }
  const wrong = Array<string>(9).fill('CURRENT_PASSWORD_WRONG');
  assert.deepEqual(codes, [...wrong, 'LOGIN_LOCKED', 'LOGIN_LOCKED']);
  await refuses(visitor.login({ username, password: adminPassword }), 'LOGIN_LOCKED');
  const right = { currentPassword: adminPassword, newPassword: next };
  await refuses(own.changePassword({ data: right }), 'LOGIN_LOCKED');
});

test('of two changes at once one succeeds; a repeated one is answered as before', async () => {
  const username = await newLogin();
  const own = await loggedIn(username);
  const change = (newPassword: string, idempotencyKey?: string) =>
    own.changePassword(
      { data: { currentPassword: adminPassword, newPassword } },
      idempotencyKey === undefined ? {} : { idempotencyKey },
    );
  const both = await Promise.allSettled([change('first of two phrases'), change(next)]);
  assert.equal(both.filter((one) => one.status === 'fulfilled').length, 1);
  const again = await newLogin();
  own.useToken(
    (await visitor.login({ username: again, password: adminPassword })).data.accessToken,
  );
  await change(next, 'change-1');
  await change(next, 'change-1');
  await loggedIn(again, next);
});

test('an API client has no password to change', async () => {
  const clientSecret = 'a secret of at least thirty-two characters';
  await admin.makeClients({ clients: [{ clientID: 'robot', clientSecret, roles: ['Auditor'] }] });
  const robot = scene.visitor('utility-nine');
  robot.useToken((await visitor.login({ clientID: 'robot', clientSecret })).data.accessToken);
  const data = { currentPassword: adminPassword, newPassword: next };
  await refuses(robot.changePassword({ data }), 'PERMISSION_DENIED', { statusCode: 403 });
});

test('the password of the demo opens nothing to callers from other machines', async () => {
  const { hash } = await import('@node-rs/argon2');
  await scene.enter(await scene.workspace('resumed'));
  await scene.sql.query(`update logins set password_hash = $1 where tenant_id = current_tenant()`, [
    await hash('billwright-demo', { memoryCost: 8, timeCost: 1, parallelism: 1 }),
  ]);
  const unlimited = { perSecond: 1e9, burst: 1e9 };
  const server = createServer({
    database: scene.api,
    operations,
    clock: scene.clock,
    log: createLog({ level: 'silent' }),
    domain: 'localhost',
    workspaceHeader: true,
    trustedProxies: ['127.0.0.1'],
    scheduleWaitSeconds: 20,
    rateLimits: {
      token: unlimited,
      tenant: unlimited,
      loginName: unlimited,
      loginAddress: unlimited,
      wrongToken: unlimited,
    },
  });
  const baseUrl = await server.listen({ port: 0, host: '127.0.0.1' });
  const login = { method: 'Login', action: 'Login User', apiVersion: 'v2' };
  const from = (address: string, password: string) =>
    ask(baseUrl, '/billing/auth/login', {
      headers: { 'X-Workspace': 'resumed', 'X-Forwarded-For': address },
      body: JSON.stringify({ ...login, username: 'admin@resumed.example', password }),
    });
  try {
    for (const address of ['203.0.113.9', '2001:db8::1', '10.0.0.4']) {
      const { envelope } = await from(address, 'billwright-demo');
      assert.equal(envelope.error?.code, 'DEFAULT_PASSWORD', address);
      assert.equal(envelope.statusCode, 403);
      assert.match(envelope.message, /change-password/);
      assert.equal((await from(address, 'another wrong one')).envelope.error?.code, 'LOGIN_FAILED');
    }
    for (const address of ['127.0.0.1', '::1', '127.3.2.1']) {
      assert.equal((await from(address, 'billwright-demo')).envelope.success, true, address);
    }
  } finally {
    await server.close();
  }
});
