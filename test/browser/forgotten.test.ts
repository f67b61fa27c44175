// A forgotten password: the links of mails, which work once.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, findBrowser, logIn, visit } from '../support/browser.ts';
import { adminPassword, openScene } from '../support/scene.ts';
import { newParty } from '../support/subscriptions.ts';

const scene = await openScene();
const skip = findBrowser() === undefined;
const newPassword = 'a long walk along the canal';

/** What the newest mail links to, below the address of the portal. */
async function linked(): Promise<string> {
  const { rows } = await scene.sql.query<{ body: string }>(
    "select body from notices where kind = 'Access' and body <> '' order by notice_id desc limit 1",
  );
  return /https:\/\/links\.example\.com(\S+)/.exec(rows[0]?.body ?? '')?.[1] ?? '';
}

test('a forgotten password is set anew by a mail, once; a customer logs in by a link', {
  skip,
}, async () => {
  const admin = await scene.workspace('forgotten');
  await admin.updateSettings({ data: { portalAddress: 'https://links.example.com' } });
  const partyNumber = await newParty(admin, 'Asma');
  const person = { name: 'Asma', password: adminPassword };
  await admin.makeLogins({
    logins: [
      { ...person, username: 'clerk', email: 'clerk@example.com', roles: ['Billing Operator'] },
      { ...person, username: 'asma', email: 'a@example.com', roles: ['Customer'], partyNumber },
    ],
  });
  const { page, address } = await visit(scene, 'forgotten');
  await page.goto(`${address}/login`);
  await page.getByRole('link', { name: 'Forgot the password?' }).click();
  const ask = async (username: string, what: string) => {
    await page.goto(`${address}/forgot`);
    await page.getByLabel('User name or e-mail').fill(username);
    await page.getByRole('button', { name: what }).click();
    await page.getByRole('status').getByText('If the name is known here').waitFor();
  };
  // A visitor does not find out who has a login.
  await ask('unknown', 'Send a link for a new password');
  assert.equal(await linked(), '');
  await ask('clerk', 'Send a link for a new password');
  const reset = await linked();
  assert.match(reset, /[?]reset=/);
  await page.goto(`${address}${reset}`);
  const set = async (password: string) => {
    await page.getByLabel('New password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Set the password' }).click();
  };
  await set('short');
  await page.getByRole('alert').waitFor();
  await assertAccessible(page);
  await set(newPassword);
  await page.waitForURL((url) => url.pathname === '/login');
  await logIn(page, 'clerk', newPassword);
  await page.getByRole('heading', { name: 'Bill runs' }).waitFor();

  const other = await visit(scene, 'forgotten');
  await other.page.goto(`${other.address}${reset}`);
  await other.page.getByLabel('New password', { exact: true }).fill('another long walk at night');
  await other.page.getByRole('button', { name: 'Set the password' }).click();
  await other.page.getByRole('alert').waitFor();
  await other.page.goto(`${other.address}/forgot`);
  await other.page.getByLabel('User name or e-mail').fill('asma');
  await other.page.getByRole('button', { name: 'Send a link to log in' }).click();
  await other.page.getByRole('status').getByText('If the name is known here').waitFor();
  await other.page.goto(`${other.address}${await linked()}`);
  await other.page.getByRole('button', { name: 'Log in' }).click();
  await other.page.waitForURL((url) => url.pathname === '/portal');
});
