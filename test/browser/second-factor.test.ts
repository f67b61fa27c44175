// The second factor: set up by the person, asked for at the login, switched off by an administrator.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf } from '../support/authenticator.ts';
import { assertAccessible, findBrowser, logIn } from '../support/browser.ts';
import { openScreen } from '../support/console-login.ts';
import { adminPassword, openScene } from '../support/scene.ts';

const scene = await openScene();
const skip = findBrowser() === undefined;
const tooOld = Temporal.Instant.from('2001-01-01T00:00:00Z');

test('a person sets up a second factor, logs in with it, and an administrator switches it off', {
  skip,
}, async () => {
  const admin = await scene.workspace('factor');
  const username = 'desk@factor.example';
  const login = { username, name: 'Desk', password: adminPassword, roles: ['Cashier' as const] };
  await admin.makeLogins({ logins: [login] });
  const { page, address } = await openScreen(scene, 'factor', '/payments', username);
  await page.getByRole('button', { name: 'My login' }).click();
  await page.getByRole('menuitem', { name: 'Second factor' }).click();
  const dialog = page.getByRole('dialog', { name: 'Second factor' });
  await dialog.getByRole('button', { name: 'Set up the app' }).click();
  await dialog.getByRole('img', { name: 'Code for an authenticator app' }).waitFor();
  await assertAccessible(page);
  const secret = await dialog.getByLabel('Key').inputValue();
  await dialog.getByLabel('Code of the app').fill(codeOf(secret, tooOld));
  await dialog.getByRole('button', { name: 'Switch the second factor on' }).click();
  await dialog.getByRole('alert').waitFor();
  assert.equal(await dialog.getByLabel('Code of the app').getAttribute('aria-invalid'), 'true');
  await dialog.getByLabel('Code of the app').fill(codeOf(secret, Temporal.Now.instant()));
  await dialog.getByRole('button', { name: 'Switch the second factor on' }).click();
  await dialog.getByText('Keep these codes apart from the phone').waitFor();
  const codes = await dialog.locator('code').allInnerTexts();
  assert.equal(codes.length, 10);
  await assertAccessible(page);
  await dialog.getByRole('button', { name: 'I have kept the codes' }).click();

  await page.getByRole('button', { name: 'Log out' }).click();
  await logIn(page, username);
  await page.getByLabel('Code of your authenticator app').fill(codes[0] ?? '');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('heading', { name: 'Payments', exact: true }).waitFor();
  await page.context().clearCookies();

  const other = await openScreen(scene, 'factor', '/settings?tab=logins');
  const row = other.page.getByRole('row', { name: /Desk/ });
  await row.getByRole('button', { name: 'Switch second factor off' }).click();
  const off = other.page.getByRole('dialog');
  await off.getByRole('button', { name: 'Switch second factor off' }).click();
  await off.waitFor({ state: 'detached' });
  await page.goto(`${address}/login`);
  await logIn(page, username);
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
});
