// Links by mail: a customer logs in without a password, and a forgotten password is set anew.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '../../src/base/log.ts';
import { sendNotices } from '../../src/domain/delivery/send-notices.ts';
import { refuses } from '../support/client.ts';
import { openTestEquipment } from '../support/equipment.ts';
import { adminPassword, openScene } from '../support/scene.ts';
import { newParty } from '../support/subscriptions.ts';

const scene = await openScene();
const admin = await scene.workspace('links');
const tenantId = await scene.enter(admin);
const asma = await newParty(admin, 'Asma');
const logins = [
  { username: 'asma', email: 'asma@example.com', roles: ['Customer' as const], partyNumber: asma },
  { username: 'clerk', email: 'clerk@example.com', roles: ['Billing Operator' as const] },
  { username: 'nomail', roles: ['Cashier' as const] },
];
await admin.makeLogins({
  logins: logins.map((login) => ({ name: login.username, password: adminPassword, ...login })),
});
const visitor = () => scene.visitor('links');

/** The links of the mails that wait, in the order in which they were asked for. */
async function mailed(): Promise<{ to: string; link: string }[]> {
  const { rows } = await scene.sql.query(
    "select recipient, body from notices where kind = 'Access' and body <> '' order by notice_id",
  );
  return rows.map(({ recipient, body }) => ({
    to: recipient,
    link: /https:\S+[?&](?:link|reset)=(\S+)/.exec(body)?.[1] ?? '',
  }));
}

const sent = 'If the login exists and has an address, a mail is on its way';

test('without the address of the portal nothing is mailed, and the answer is the same', async () => {
  assert.equal((await visitor().requestLink({ username: 'asma' })).message, sent);
  assert.deepEqual(await mailed(), []);
  await admin.updateSettings({ data: { portalAddress: 'https://links.example.com' } });
  const wrong = admin.updateSettings({ data: { portalAddress: 'links.example.com/x' } });
  await refuses(wrong, 'INVALID_FORMAT');
});

test('a link logs a customer in once, and expires after 15 minutes', async () => {
  for (const username of ['asma', 'unknown', 'clerk', 'nomail']) {
    assert.equal((await visitor().requestLink({ username })).message, sent, username);
  }
  const [mail, ...others] = await mailed();
  assert.deepEqual(others, []);
  assert.equal(mail?.to, 'asma@example.com');
  const link = mail?.link ?? '';
  const { rows } = await scene.sql.query('select encode(token_hash, $1) as h from login_links', [
    'escape',
  ]);
  assert.ok(!rows.some(({ h }) => String(h).includes(link)));
  await refuses(visitor().redeemLink({ link: `${link}x` }), 'LINK_INVALID');
  await refuses(visitor().resetPassword({ link, newPassword: adminPassword }), 'LINK_INVALID');
  const { data, headers } = await visitor().redeemLink({ link, session: 'Cookie' });
  assert.equal(data.user.name, 'asma');
  assert.match(headers.get('set-cookie') ?? '', /billwright_session=.*HttpOnly/);
  const client = visitor();
  client.useToken(data.accessToken);
  assert.equal((await client.getUsers({ partyNumber: asma })).data.user.name, 'Asma');
  await refuses(visitor().redeemLink({ link }), 'LINK_INVALID');
  await visitor().requestLink({ username: 'ASMA@example.com' });
  const late = (await mailed()).at(-1)?.link ?? '';
  scene.clock.advance({ minutes: 16 });
  await refuses(visitor().redeemLink({ link: late }), 'LINK_INVALID');
});

test('a reset sets the password once, ends all sessions and unlocks the name', async () => {
  const username = 'clerk';
  const before = visitor();
  before.useToken((await before.login({ username, password: adminPassword })).data.accessToken);
  for (const name of ['clerk', 'nomail', 'unknown']) {
    assert.equal((await visitor().requestPasswordReset({ username: name })).message, sent, name);
  }
  const { to, link = '' } = (await mailed()).at(-1) ?? {};
  assert.equal(to, 'clerk@example.com');
  const weak = { link, newPassword: 'clerkclerkclerk' };
  await refuses(visitor().resetPassword(weak), 'PASSWORD_TOO_WEAK');
  const newPassword = 'staple of the second kind';
  await refuses(visitor().redeemLink({ link }), 'LINK_INVALID');
  await visitor().resetPassword({ link, newPassword });
  await refuses(before.getTerms({}), 'TOKEN_REVOKED');
  await refuses(visitor().login({ username, password: adminPassword }), 'LOGIN_FAILED');
  await visitor().login({ username, password: newPassword });
  await refuses(visitor().resetPassword({ link, newPassword }), 'LINK_INVALID');
});

test('the mail is in the language of the customer, otherwise in that of the workspace', async () => {
  const last = async () => {
    const { rows } = await scene.sql.query(
      "select subject, body from notices where kind = 'Access' order by notice_id desc limit 1",
    );
    return `${rows[0].subject}\n${rows[0].body}`;
  };
  await visitor().requestPasswordReset({ username: 'clerk' });
  assert.match(await last(), /your new password[\s\S]*works once, for 30 minutes/);
  await admin.updateUser({ user: { partyNumber: asma, language: 'ur' } });
  await visitor().requestLink({ username: 'asma' });
  assert.match(await last(), /لاگ ان کا لنک[\s\S]*ایک بار، 15 منٹ/);
  await admin.updateSettings({ data: { locale: 'ar-AE' } });
  await visitor().requestPasswordReset({ username: 'clerk' });
  assert.match(await last(), /كلمة المرور الجديدة[\s\S]*لمدة 30 دقيقة/);
  await admin.updateSettings({ data: { locale: 'en-PK' } });
});

test('the text of the mail is deleted when it has been sent', async () => {
  const waiting = (await mailed()).length;
  assert.ok(waiting >= 2);
  const equipment = openTestEquipment();
  try {
    const tools = { ...equipment, database: scene.worker, log: createLog({ level: 'silent' }) };
    const clock = { now: () => scene.clock.now().add({ hours: 1 }) };
    assert.equal(await sendNotices(tools as never, tenantId, clock), waiting);
  } finally {
    await equipment.close();
  }
  assert.deepEqual(await mailed(), []);
});

test('the answer takes as long for a name that does not exist', async () => {
  const time = async (username: string) => {
    const start = performance.now();
    await visitor().requestPasswordReset({ username });
    return performance.now() - start;
  };
  for (const username of ['nowhere', 'clerk']) assert.ok((await time(username)) >= 240, username);
});
