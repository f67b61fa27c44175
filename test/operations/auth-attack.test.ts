// Guessing, flooding and looking for secrets.
import assert from 'node:assert/strict';
import { before as beforeAll, test } from 'node:test';
import { defaultRateLimits } from '../../src/http/rate-limit.ts';
import { refuses } from '../support/client.ts';
import { adminPassword, openScene } from '../support/scene.ts';

const scene = await openScene({ ownDatabase: true });
const admin = await scene.workspace('attack');
const visitor = scene.visitor('attack');

async function newLogin(): Promise<string> {
  await scene.loginAs(admin, ['Auditor']);
  return (await admin.getLogins()).data.logins.at(-1)?.username ?? '';
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'OK',
    (error) => error.code ?? `no answer: ${error.message}`,
  );
}

async function guesses(username: string, count: number): Promise<string[]> {
  const codes = [];
  for (let i = 0; i < count; i += 1) {
    codes.push(await codeOf(visitor.login({ username, password: `wrong password ${i}` })));
  }
  return codes;
}

const failed = 'LOGIN_FAILED';
const locked = 'LOGIN_LOCKED';
const elevenGuesses = [...Array<string>(9).fill(failed), locked, locked];

test('ten failures lock a name for 15 minutes, the right password included', async () => {
  const username = await newLogin();
  assert.deepEqual(await guesses(username, 11), elevenGuesses);
  const right = { username, password: adminPassword };
  const { error, headers } = await refuses(visitor.login(right), locked, { statusCode: 401 });
  assert.ok(error.retryAfter !== null && error.retryAfter > 800 && error.retryAfter <= 900);
  assert.equal(headers.get('retry-after'), String(error.retryAfter));
  scene.clock.advance({ minutes: 14 });
  await refuses(visitor.login(right), locked);
  scene.clock.advance({ minutes: 1 });
  await visitor.login(right);
  assert.deepEqual(await guesses(username, 2), [failed, failed]);
  scene.clock.advance({ minutes: -15 });
});

test('a name that does not exist gets the same answers in the same order', async () => {
  assert.deepEqual(await guesses('nobody', 11), elevenGuesses);
  assert.equal(await codeOf(visitor.login({ username: 'NOBODY', password: 'x' })), locked);
  const known = await refuses(visitor.login({ username: 'nobody', password: 'x' }), locked);
  assert.equal(known.error.message, 'Too many failed logins; try again later');
  const clientSecret = 'x'.repeat(32);
  const codes = [];
  for (let i = 0; i < 11; i += 1) {
    codes.push(await codeOf(visitor.login({ clientID: 'no-client', clientSecret })));
  }
  assert.deepEqual(codes, elevenGuesses);
});

test('guesses by user name and by e-mail address tell nothing about a login', async () => {
  const name = { username: 'two.names', email: 'two@names.example' };
  const login = { ...name, name: 'Two', password: adminPassword, roles: ['Auditor' as const] };
  await admin.makeLogins({ logins: [login] });
  const halves = async (names: string[]) => {
    const codes: string[] = [];
    for (const half of names) codes.push(...(await guesses(half, 5)));
    for (const half of names) codes.push(...(await guesses(half, 6)));
    return codes;
  };
  const known = await halves([name.username, name.email]);
  const unknown = await halves(['no.names', 'no@names.example']);
  assert.deepEqual(known, unknown);
  const second = [...Array<string>(4).fill(failed), locked, locked];
  assert.deepEqual(known, [...Array<string>(10).fill(failed), ...second, ...second]);
});

test('the lock ends with its time and counts from one again', async () => {
  const username = await newLogin();
  await guesses(username, 10);
  scene.clock.advance({ minutes: 15 });
  assert.deepEqual(await guesses(username, 10), elevenGuesses.slice(0, 10));
  scene.clock.advance({ minutes: -15 });
});

test('a success forgets the failures before it', async () => {
  const username = await newLogin();
  await guesses(username, 9);
  await visitor.login({ username, password: adminPassword });
  assert.deepEqual(await guesses(username, 9), Array(9).fill(failed));
});

test('of guesses sent all at once no more than ten are counted before the lock', async () => {
  const wrong = Array.from({ length: 16 }, (_, i) =>
    codeOf(visitor.login({ username: 'burst', password: `wrong password ${i}` })),
  );
  const codes = await Promise.all(wrong);
  assert.deepEqual(codes.sort(), [...Array(9).fill(failed), ...Array(7).fill(locked)]);
});

test('the right password does not open a name that was locked while it was being checked', async () => {
  const username = await newLogin();
  await guesses(username, 1);
  await scene.sql.query('begin');
  await scene.sql.query(
    "update login_failures set failures = 10, locked_until = now() + interval '10 minutes'",
  );
  const login = codeOf(visitor.login({ username, password: adminPassword }));
  await untilBlocked();
  await scene.sql.query('commit');
  assert.equal(await login, locked);
  await scene.sql.query('delete from login_failures');
});

async function untilBlocked(): Promise<void> {
  for (let attempt = 0; attempt < 6_000; attempt += 1) {
    const { rows } = await scene.sql.query(
      `select 1 from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (rows.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail('no login waits');
}

test('a user name locked in one workspace is not locked in another', async () => {
  await scene.workspace('attack-b');
  await guesses('admin@attack-b.example', 11);
  const login = { username: 'admin@attack-b.example', password: adminPassword };
  await scene.visitor('attack-b').login(login);
});

test('a name that exists, one that does not and one that is inactive take as long', async () => {
  const samples = 5;
  const kinds = ['known', 'inactive', 'unknown'] as const;
  // Each guess at its own name, because a locked name is answered at once.
  const logins = ['known', 'inactive'].flatMap((kind) =>
    Array.from({ length: samples }, (_, i) => ({
      username: `${kind}-${i}`,
      name: 'T',
      password: adminPassword,
      roles: ['Auditor' as const],
    })),
  );
  await admin.makeLogins({ logins });
  for (let i = 0; i < samples; i += 1) {
    await admin.updateLogin({ data: { username: `inactive-${i}`, status: 'INACTIVE' } });
  }
  // In turn, and the quickest of each: what else the machine does slows some of all of them.
  const quickest = { known: Infinity, inactive: Infinity, unknown: Infinity };
  for (let i = 0; i < samples; i += 1) {
    for (const kind of kinds) {
      const began = performance.now();
      const guess = { username: `${kind}-${i}`, password: 'a wrong password' };
      await visitor.login(guess).catch(() => {});
      quickest[kind] = Math.min(quickest[kind], performance.now() - began);
    }
  }
  // Hashing is nearly all of it: without it an answer takes a tenth of the time.
  const { known, inactive, unknown } = quickest;
  for (const other of [inactive, unknown]) {
    assert.ok(other > known / 3 && other < known * 3, JSON.stringify(quickest));
  }
});

test('a password longer than allowed is refused without being hashed', async () => {
  const password = 'x'.repeat(257);
  const { error } = await refuses(visitor.login({ username: 'x', password }), 'FIELD_TOO_LONG', {
    field: 'password',
  });
  assert.equal(error.details[0]?.rejectedValue, undefined);
  const long = 'x'.repeat(60_000);
  const huge = 'x'.repeat(9 * 1024 * 1024);
  const startedMs = performance.now();
  for (let i = 0; i < 3; i += 1) {
    await refuses(visitor.login({ username: 'x', password: long }), 'FIELD_TOO_LONG');
    await refuses(visitor.login({ username: 'x', password: huge }), 'REQUEST_TOO_LARGE');
  }
  assert.ok(performance.now() - startedMs < 10_000);
});

test('a flood of logins is turned away in time, and other calls go on', async () => {
  const { rows: before } = await scene.sql.query('select count(*)::int from login_failures');
  const counted = before[0].count;
  const sent = 80;
  const flood = Array.from({ length: sent }, (_, i) =>
    codeOf(visitor.login({ username: `flood-${i}`, password: 'a wrong password' })),
  );
  let listed = 0;
  const end = Promise.all(flood);
  let isOver = false;
  void end.then(() => {
    isOver = true;
  });
  while (!isOver) {
    await admin.listUsers({ page: { pageNumber: 0, size: 1 } });
    listed += 1;
  }
  const codes = await end;
  assert.deepEqual([...new Set(codes)].sort(), [failed, 'RATE_LIMITED']);
  const turnedAway = codes.filter((code) => code === 'RATE_LIMITED').length;
  assert.ok(turnedAway >= 20, `${turnedAway} were turned away`);
  const { rows } = await scene.sql.query('select count(*)::int as count from login_failures');
  assert.equal(rows[0].count - counted, sent - turnedAway, 'to be turned away is no failure');
  assert.ok(listed >= 3, `${listed} other calls were answered`);
  await visitor.login({ username: 'admin@attack.example', password: adminPassword });
});

test('logins are limited to 20 a minute for a name, in any case', async () => {
  await scene.clock.whileStopped(async () => {
    const { loginName } = defaultRateLimits;
    const limited = (await scene.anotherServer({ rateLimits: { loginName } })).visitor('attack');
    const codes: string[] = [];
    for (let i = 0; i < 21; i += 1) {
      const username = i % 2 ? 'LIMITED' : 'limited';
      codes.push(await codeOf(limited.login({ username, password: 'x' })));
    }
    assert.equal(codes.indexOf('RATE_LIMITED'), 20, codes.join());
    const { error } = await refuses(limited.login({ username: 'limited' }), 'RATE_LIMITED', {
      statusCode: 429,
    });
    assert.ok((error.retryAfter ?? 0) >= 1 && (error.retryAfter ?? 0) <= 3);
    assert.equal(await codeOf(limited.login({ username: 'other', password: 'x' })), failed);
    scene.clock.advance({ seconds: 3 });
    assert.equal(await codeOf(limited.login({ username: 'limited', password: 'x' })), locked);
    scene.clock.advance({ seconds: -3 });
  });
});

test('another name together with that of a client does not allow more attempts', async () => {
  await scene.clock.whileStopped(async () => {
    const { loginName } = defaultRateLimits;
    const limited = (await scene.anotherServer({ rateLimits: { loginName } })).visitor('attack');
    const codes: string[] = [];
    for (let i = 0; i < 21; i += 1) {
      const guess = { username: `beside${i}`, clientID: 'guessed', clientSecret: 'x' };
      codes.push(await codeOf(limited.login(guess)));
    }
    assert.equal(codes.indexOf('RATE_LIMITED'), 20, codes.join());
  });
});

test('logins are limited to 60 a minute from an address, whatever the name', async () => {
  await scene.clock.whileStopped(async () => {
    const { loginAddress } = defaultRateLimits;
    const limited = (await scene.anotherServer({ rateLimits: { loginAddress } })).visitor('attack');
    const codes: string[] = [];
    for (let i = 0; i < 61; i += 1) codes.push(await codeOf(limited.login({ username: `n${i}` })));
    assert.equal(codes.indexOf('RATE_LIMITED'), 60, codes.join());
    const refresh = limited.refreshToken({ refreshToken: `1.${'A'.repeat(43)}` });
    await refuses(refresh, 'RATE_LIMITED');
  });
});

const secrets: string[] = [adminPassword];

beforeAll(async () => {
  const clientSecret = 'the machine secret that must not leak';
  await admin.makeClients({
    clients: [{ clientID: 'machine', clientSecret, roles: ['Meter Reader'] }],
  });
  const changed = 'the changed password that must not leak';
  const username = await newLogin();
  await admin.updateLogin({ data: { username, password: changed } });
  const login = (await visitor.login({ clientID: 'machine', clientSecret })).data;
  const renewed = (await visitor.refreshToken({ refreshToken: login.refreshToken })).data;
  const wrong = 'a guessed password that must not leak';
  await codeOf(visitor.login({ username, password: wrong }));
  await codeOf(visitor.login({ username: wrong, password: wrong }));
  await codeOf(admin.makeLogins({ logins: [{ username: 'y', password: wrong } as never] }));
  secrets.push(clientSecret, changed, wrong, admin.token ?? '');
  for (const tokens of [login, renewed]) secrets.push(tokens.accessToken, tokens.refreshToken);
});

test('no password, secret or token can be found in any column of any table', async () => {
  const { rows: tables } = await scene.sql.query<{ name: string }>(
    `select quote_ident(table_schema) || '.' || quote_ident(table_name) as name
     from information_schema.tables
     where table_type = 'BASE TABLE'
       and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  assert.ok(tables.length > 50);
  const hexes = secrets.map((secret) => Buffer.from(secret).toString('hex'));
  // The text of a row has that of all its columns, of bytes in hexadecimal digits.
  const find = (name: string, texts: string[]) =>
    scene.sql.query<{ text: string }>(
      `select distinct wanted.text from ${name} as row
       join unnest($1::text[]) as wanted (text) on position(wanted.text in row::text) > 0`,
      [texts],
    );
  for (const { name } of tables) {
    const { rows } = await find(name, [...secrets, ...hexes]);
    assert.deepEqual(rows, [], name);
  }
  const { rows } = await find('logins', ['admin@attack.example']);
  assert.equal(rows.length, 1, 'what is there is found');
});

test('no password, secret or token can be found in the log', () => {
  assert.ok(scene.logged.length > 100);
  const text = scene.logged.join('');
  for (const secret of secrets) assert.ok(!text.includes(secret), `${secret} was logged`);
});
