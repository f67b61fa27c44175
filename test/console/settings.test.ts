// Settings in a real browser: an administrator sets up the workspace and a login.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, findBrowser } from '../support/browser.ts';
import { openScreen } from '../support/console-login.ts';
import { newService } from '../support/pricing.ts';
import { adminPassword, openScene } from '../support/scene.ts';

const scene = await openScene();
const skip = findBrowser() === undefined;

async function openTab(page: Page, name: string): Promise<void> {
  await page.getByRole('tab', { name }).click();
  await page.getByRole('tabpanel', { name }).waitFor();
}

test('an administrator changes settings, makes a login, and finds both in the audit trail', {
  skip,
}, async () => {
  const client = await scene.workspace('console-set', { sandbox: true });
  await newService(client);
  const { page, assertClean } = await openScreen(scene, 'console-set', '/settings');

  // A refused field keeps what was typed; the corrected one is saved.
  await page.getByLabel('Time zone').fill('Asia/Nowhere');
  await page.getByLabel('Name of the workspace').fill('City Power');
  await page.getByRole('button', { name: 'Save the settings' }).click();
  await page.getByRole('alert').getByText('timezone').waitFor();
  assert.equal(await page.getByLabel('Time zone').getAttribute('aria-invalid'), 'true');
  await assertAccessible(page);
  await page.getByLabel('Time zone').fill('Asia/Dubai');
  const mailed = page.getByLabel('Address of these pages in mails');
  await mailed.fill('https://city.example.com');
  await page.getByRole('button', { name: 'Save the settings' }).click();
  await page.getByText('The settings are saved').waitFor();
  const { settings } = (await client.getSettings({})).data;
  const { name, timezone, portalAddress } = settings;
  const saved = ['City Power', 'Asia/Dubai', 'https://city.example.com'];
  assert.deepEqual([name, timezone, portalAddress], saved);

  // A text that is not a number is refused, and not saved as an empty field.
  await page.waitForLoadState('networkidle');
  const idle = page.getByLabel('Seconds until an unused session ends');
  await idle.fill('30 min');
  await page.getByRole('button', { name: 'Save the settings' }).click();
  const refused = page.getByRole('tabpanel').getByRole('alert');
  await refused.waitFor();
  assert.equal(await idle.getAttribute('aria-invalid'), 'true');
  await idle.fill('1800');
  const saving = page.waitForResponse(/update-settings$/);
  await page.getByRole('button', { name: 'Save the settings' }).click();
  await saving;
  assert.equal((await client.getSettings({})).data.settings.idleSeconds, 1_800);

  await openTab(page, 'Logins');
  await page.getByRole('button', { name: 'New login' }).click();
  const form = page.getByRole('dialog', { name: 'New login' });
  await form.getByLabel('User name or e-mail').fill('desk');
  await form.getByLabel(/^Name/).fill('Desk One');
  await form.locator('input[autocomplete=new-password]').fill('password1234');
  await form.getByLabel('Cashier').check();
  await form.getByRole('button', { name: 'Create the login' }).click();
  await form.getByRole('alert').waitFor();
  await assertAccessible(page);
  await form.locator('input[autocomplete=new-password]').fill(adminPassword);
  await form.getByRole('button', { name: 'Create the login' }).click();
  await page.getByRole('table', { name: 'Logins' }).getByText('Desk One').waitFor();

  await openTab(page, 'Audit trail');
  // A row that is replaced by the narrower list takes its dialog with it.
  const others = page.locator('tbody tr').filter({ hasNotText: 'settings' }).first();
  await others.waitFor();
  await page.getByLabel('What was changed').fill('settings');
  await others.waitFor({ state: 'detached' });
  const entry = page.getByRole('row', { name: /settings console-set/ });
  // The newest is the first.
  await entry.getByRole('button', { name: 'Show' }).last().click();
  const changes = page.getByRole('table', { name: 'Changes' });
  await changes.getByText('City Power').waitFor();
  await assertAccessible(page);
  await page.keyboard.press('Escape');
  await lookAtTheRest(page);
  assertClean();
});

/** Each tab shows its part, and is accessible. */
async function lookAtTheRest(page: Page): Promise<void> {
  await openTab(page, 'Templates');
  const templates = page.getByRole('table', { name: 'Templates' });
  await templates.getByRole('button', { name: 'Open' }).last().click();
  await page.getByRole('dialog').getByLabel('Preview').waitFor();
  await assertAccessible(page);
  await page.keyboard.press('Escape');
  await openTab(page, 'System');
  await page.getByText('Ready', { exact: true }).waitFor();
  await page.getByLabel('Move the clock to').fill('2035-01-01T12:00');
  await page.getByRole('button', { name: 'Move the clock' }).click();
  await page.getByText(/2035/).first().waitFor();
  await assertAccessible(page);
  // Every screen goes by the new clock, without a reload.
  await page.getByRole('link', { name: 'Books' }).click();
  await page.getByRole('button', { name: 'Close a month' }).click();
  const month = page.getByRole('dialog').getByRole('textbox', { name: 'Month' });
  assert.equal(await month.inputValue(), '12/2034');
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Settings' }).click();
  await openTab(page, 'API clients');
  await page.getByText('No API client yet').waitFor();
  await openTab(page, 'Billing periods');
  await page.getByRole('table', { name: 'Billing periods' }).waitFor();
  await openTab(page, 'Jobs');
  await page.getByText('No job here').waitFor();
}
