// Sessions of the console in a real browser: reloads, log-out, a login that ended, roles, languages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, findBrowser, logIn, visit } from '../support/browser.ts';
import { adminPassword, openScene } from '../support/scene.ts';

const scene = await openScene();
const skip = findBrowser() === undefined;

test('a session outlives a reload, is in no storage, and ends in every tab at once', {
  skip,
}, async () => {
  await scene.workspace('console-session');
  const { page, address, assertClean } = await visit(scene, 'console-session');
  await page.goto(address);
  await logIn(page, 'admin@console-session.example');
  await page.getByText('No bill run yet').waitFor();
  const stored = await page.evaluate('JSON.stringify([{ ...localStorage }, document.cookie])');
  // Whether single letters are keys is all that is kept.
  assert.equal(stored, '[{"billwright-keys":"true"},""]');
  await page.reload();
  await page.getByText('No bill run yet').waitFor();
  const second = await page.context().newPage();
  await second.goto(`${address}/customers`);
  await second.getByRole('heading', { name: 'Customers', exact: true }).waitFor();
  await second.getByRole('button', { name: 'Log out' }).click();
  await second.getByRole('heading', { name: 'Log in' }).waitFor();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  assertClean();
});

test('a session that ended over night keeps the page and what was typed', { skip }, async () => {
  const admin = await scene.workspace('console-night');
  const { page, address } = await visit(scene, 'console-night');
  const leaving: string[] = [];
  page.on('dialog', (dialog) => {
    leaving.push(dialog.message());
    void dialog.dismiss();
  });
  await page.goto(`${address}/payments`);
  await logIn(page, 'admin@console-night.example');
  await page.getByRole('button', { name: 'Take a payment' }).click();
  const form = page.getByRole('dialog', { name: 'Take a payment' });
  await form.getByLabel('Subscription').fill('no such one');
  await form.getByLabel('Amount').fill('12.50');
  // Closing asks, and the answer is no.
  await page.keyboard.press('Escape');
  await form.waitFor();
  assert.equal(leaving.length, 1);
  await admin.updateLogin({
    data: { username: 'admin@console-night.example', password: `${adminPassword}2` },
  });
  await form.getByRole('button', { name: 'Take a payment' }).click();
  const again = page.getByRole('dialog', { name: 'Log in again' });
  await again.getByLabel('Password', { exact: true }).fill(`${adminPassword}2`);
  await assertAccessible(page);
  await again.getByRole('button', { name: 'Log in' }).click();
  await again.waitFor({ state: 'detached' });
  assert.equal(await form.getByLabel('Amount').inputValue(), '12.50');
  await form.getByRole('button', { name: 'Take a payment' }).click();
  await form.getByRole('alert').getByText('no such one').waitFor();
});

test('a role sees the screens that it may use, and no other opens', { skip }, async () => {
  const admin = await scene.workspace('console-roles');
  const username = 'desk@console-roles.example';
  const login = { username, name: 'Desk', password: adminPassword, roles: ['Cashier' as const] };
  await admin.makeLogins({ logins: [login] });
  const { page, address } = await visit(scene, 'console-roles');
  await page.goto(`${address}/payments`);
  await logIn(page, username);
  await page.getByRole('heading', { name: 'Payments', exact: true }).waitFor();
  const places = await page
    .getByRole('navigation', { name: 'Main' })
    .getByRole('link')
    .allInnerTexts();
  assert.deepEqual(places, ['Customers', 'Payments', 'Cash desk']);
  await page.goto(`${address}/`);
  await page.getByText('Your login may not open this page').waitFor();
  await page.goto(`${address}/nowhere/at/all`);
  await page.getByText('No such page').waitFor();
});

test('the console in Urdu is read from right to left, and has contrast in the dark', {
  skip,
}, async () => {
  await scene.workspace('console-urdu');
  const { page, address, assertClean } = await visit(scene, 'console-urdu');
  await page.goto(address);
  await logIn(page, 'admin@console-urdu.example');
  await page.getByText('No bill run yet').waitFor();
  await page.getByRole('button', { name: 'Language' }).click();
  await page.getByRole('menuitem', { name: 'اردو' }).click();
  await page.getByRole('link', { name: 'بلنگ' }).first().waitFor();
  assert.equal(await page.locator('html').getAttribute('dir'), 'rtl');
  await page.getByRole('button', { name: 'روشن یا تاریک' }).click();
  await assertAccessible(page);
  assertClean();
});
