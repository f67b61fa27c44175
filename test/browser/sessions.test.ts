// Sessions of the console in a real browser: reloads, log-out, a login that ended, roles, languages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { assertAccessible, findBrowser, logIn, visit } from '../support/browser.ts';
import { openScreen } from '../support/console-login.ts';
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

test('a page whose session ends is not taken off the screen, and can be left', {
  skip,
}, async () => {
  const other = await scene.loginAs(await scene.workspace('console-over'), ['Administrator']);
  const { page } = await openScreen(scene, 'console-over', '/settings');
  const name = page.getByLabel('Name of the workspace');
  await name.fill('City Power');
  const endSession = async (password: string) => {
    const username = 'admin@console-over.example';
    await other.updateLogin({ data: { username, password } });
    await readAgain(page);
    await again.waitFor();
  };
  const again = page.getByRole('dialog', { name: 'Log in again' });
  await endSession(`${adminPassword}2`);
  await again.getByLabel('Password', { exact: true }).fill('a wrong password');
  await again.getByRole('button', { name: 'Log in' }).click();
  await again.getByRole('alert').waitFor();
  assert.equal(await name.inputValue(), 'City Power');
  await again.getByLabel('Password', { exact: true }).fill(`${adminPassword}2`);
  await again.getByRole('button', { name: 'Log in' }).click();
  await again.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Save the settings' }).click();
  await page.getByText('The settings are saved').waitFor();
  await endSession(`${adminPassword}3`);
  await again.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
});

test('a server that is away or busy does not end the session', { skip }, async () => {
  await scene.workspace('console-busy');
  const { page } = await openScreen(scene, 'console-busy', '/settings');
  const name = page.getByLabel('Name of the workspace');
  await name.fill('City Power');
  const renewal = '**/billing/auth/refresh-token';
  await page.route(renewal, (route) => route.fulfill(refusal(429, 'RATE_LIMITED')));
  const templates = '**/billing/templates/get-templates';
  await page.route(templates, (route) => route.fulfill(refusal(401, 'TOKEN_EXPIRED')));
  await readAgain(page);
  const away = page.getByRole('status').getByText('The server does not answer');
  await away.waitFor();
  assert.equal(await name.inputValue(), 'City Power');
  assert.equal(await page.getByRole('dialog').count(), 0);
  await page.unrouteAll();
  await away.waitFor({ state: 'detached' });

  // A refusal is shown above the page, and the page stays.
  await page.route(templates, (route) => route.fulfill(refusal(403, 'PERMISSION_DENIED')));
  await readAgain(page);
  await page.getByRole('alert').getByText('PERMISSION_DENIED').waitFor();
  assert.equal(await name.inputValue(), 'City Power');
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('alert').waitFor({ state: 'detached' });

  // Also a page that is loaded while a proxy answers for the server.
  const bad = { status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' };
  await page.route(renewal, (route) => route.fulfill(bad));
  page.on('dialog', (dialog) => void dialog.accept());
  await page.reload();
  await away.waitFor();
  await assertAccessible(page);
  await page.unrouteAll();
  await name.waitFor();

  await page.route('**/billing/auth/logout', (route) => route.fulfill(bad));
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByText('You are still logged in').waitFor();
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
});

/** What was read is old after five seconds: a person who comes back to the page has it read again. */
async function readAgain(page: Page): Promise<void> {
  await sleep(5_500);
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
}

function refusal(statusCode: number, code: string) {
  const error = { code, type: 'x', field: null, message: code, details: [], requestID: '1' };
  const retryable = statusCode === 429;
  return {
    status: statusCode,
    headers: { 'x-status-code': String(statusCode) },
    json: { success: false, statusCode, error: { ...error, retryable, retryAfter: 1 } },
  };
}

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
  await page.goto(`${address}/settings`);
  await page.getByText('Your login may not open this page').waitFor();
  // The start page of a role is the first place that it may open.
  await page.getByRole('link', { name: 'Go to the start page' }).click();
  await page.getByRole('heading', { name: 'Customers', exact: true }).waitFor();
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
