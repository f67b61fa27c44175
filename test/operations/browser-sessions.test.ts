// A browser keeps its session in a cookie that no script reads, and several tabs share it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { adminPassword, openScene } from '../support/scene.ts';

const scene = await openScene();
const admin = await scene.workspace('browser-sessions');
const username = 'admin@browser-sessions.example';
const visitor = scene.visitor('browser-sessions');
/** As a browser names it: the address of the page, which is the host that is called. */
const { origin } = new URL(scene.baseUrl);

async function enter() {
  const session = 'Cookie' as const;
  const { data, headers } = await visitor.login({ username, password: adminPassword, session });
  return { data, cookie: cookieIn(headers) };
}

/** Name and value, as a browser sends them back. */
function cookieIn(headers: Headers): string {
  return headers.get('set-cookie')?.split(';')[0] ?? '';
}

function refresh(cookie: string, from = origin) {
  return visitor.refreshToken({}, { headers: { Cookie: cookie, Origin: from } });
}

function reads(token: string) {
  return visitor.listUsers({}, { token });
}

test('a login of a browser answers no refresh token but a cookie for auth alone', async () => {
  const session = 'Cookie' as const;
  const { data, headers } = await visitor.login({ username, password: adminPassword, session });
  assert.equal('refreshToken' in data, false);
  assert.match(
    headers.get('set-cookie') ?? '',
    /^billwright_session=[\w.-]+; Path=\/billing\/auth; Max-Age=2592000; HttpOnly; SameSite=Strict$/,
  );
  await reads(data.accessToken);
});

test('a page of the same address renews the session, another site does not', async () => {
  const { cookie } = await enter();
  await refuses(refresh(cookie, 'https://evil.example'), 'TOKEN_INVALID');
  await refuses(visitor.refreshToken({}, { headers: { Cookie: cookie } }), 'TOKEN_INVALID');
  await refuses(visitor.refreshToken({}), 'REQUIRED_FIELD');
  const { data, headers } = await refresh(cookie);
  assert.equal('refreshToken' in data, false);
  assert.notEqual(cookieIn(headers), cookie);
  await reads(data.accessToken);
});

test('a second tab with the old cookie gets the same tokens for 10 s, then all end', async () => {
  const { data: first, cookie } = await enter();
  const [one, two] = await Promise.all([refresh(cookie), refresh(cookie)]);
  assert.equal(one.data.accessToken, two.data.accessToken);
  assert.equal(cookieIn(one.headers), cookieIn(two.headers));
  // Calls of the other tab go on with the old access token for a minute.
  await reads(first.accessToken);
  scene.clock.advance({ seconds: 11 });
  await refuses(refresh(cookie), 'TOKEN_REVOKED');
  await refuses(reads(one.data.accessToken), 'TOKEN_REVOKED');
  await refuses(refresh(cookieIn(one.headers)), 'TOKEN_REVOKED');
});

test('a renewed session of a browser leaves no audit entry, a stolen cookie does', async () => {
  const renewals = async () => {
    const { entries } = (await admin.getAudit({ subject: 'session' })).data;
    return entries.flatMap(({ operation, after }) =>
      /refresh.token/i.test(operation) ? [(after as { event: string }).event] : [],
    );
  };
  const before = await renewals();
  const { cookie } = await enter();
  const { headers } = await refresh(cookie);
  await refresh(cookieIn(headers));
  assert.deepEqual(await renewals(), before);
  scene.clock.advance({ seconds: 11 });
  await refuses(refresh(cookie), 'TOKEN_REVOKED');
  assert.deepEqual(await renewals(), ['reused', ...before]);
});

test('the old access token ends a minute after the session was renewed', async () => {
  const { data: first, cookie } = await enter();
  const { data: second } = await refresh(cookie);
  scene.clock.advance({ seconds: 61 });
  await refuses(reads(first.accessToken), 'TOKEN_EXPIRED');
  await reads(second.accessToken);
});

test('log-out ends the session in every tab and takes the cookie back', async () => {
  const { data, cookie } = await enter();
  const options = { token: data.accessToken, headers: { Cookie: cookie } };
  const { headers } = await visitor.logout({}, options);
  assert.match(headers.get('set-cookie') ?? '', /^billwright_session=; .*Max-Age=0;/);
  await refuses(refresh(cookie), 'TOKEN_REVOKED');
  const { headers: plain } = await admin.logout();
  assert.equal(plain.get('set-cookie'), null);
});
