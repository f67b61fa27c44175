// Billing groups, meter types and former customers in a real browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, findBrowser } from '../support/browser.ts';
import { openScreen } from '../support/console-login.ts';
import { openScene } from '../support/scene.ts';
import { excessWidth, phone } from '../support/screen-faults.ts';
import { settled } from '../support/screens.ts';

const scene = await openScene();
const skip = findBrowser() === undefined;

test('an operator makes a billing group, adds accounts by name, and moves one', {
  skip,
}, async () => {
  const client = await scene.workspace('console-groups');
  const made = await client.makeUsers({ userType: 'customer', users: [{ name: 'A. Khan' }] });
  const partyNumber = Number(made.headers.get('x-party-number'));
  const labels = ['House 1', 'House 2'];
  const connectionGroups = labels.map((connectionGroupLabel) => ({ connectionGroupLabel }));
  await client.updateUser({ user: { partyNumber, connectionGroups } });
  await client.addBillingGroup({ name: 'Block B' });
  const { page, assertClean } = await openScreen(scene, 'console-groups', '/groups');
  await fill(page, 'New group', { Name: 'Block B' });
  const dialog = page.getByRole('dialog', { name: 'New group' });
  await dialog.getByRole('alert').getByText('exists already').waitFor();
  assert.equal(await dialog.getByLabel('Name').getAttribute('aria-invalid'), 'true');
  await assertAccessible(page);
  await dialog.getByLabel('Name').fill('Block A');
  await dialog.getByLabel('Billing period').selectOption('1');
  await dialog.getByRole('button', { name: 'New group' }).click();
  await page.getByText('No account in this group').waitFor();
  await fill(page, 'Add accounts', { 'Names of accounts': 'House 1\nHouse 9' });
  const adding = page.getByRole('dialog', { name: 'Add accounts' });
  await adding.getByRole('alert').getByText('House 9').waitFor();
  await adding.getByLabel('Names of accounts').fill('House 1\nHouse 2');
  await adding.getByRole('button', { name: 'Add accounts' }).click();
  const accounts = page.getByRole('table', { name: 'Billing accounts' });
  await accounts.getByText('House 2').waitFor();
  await assertAccessible(page);
  await page.setViewportSize(phone);
  await settled(page);
  assert.equal(await excessWidth(page), 0);
  await fill(page, 'Edit the group', { Description: 'Beside the park' });
  await page.getByText('Beside the park').waitFor();
  const first = accounts.getByRole('row', { name: /House 1/ });
  await first.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await accounts.getByText('House 1').waitFor({ state: 'detached' });

  // On the page of the customer the account gets a group without typing its name.
  await page.goto(new URL(`/customers/${partyNumber}?tab=accounts`, page.url()).href);
  const own = accounts.getByRole('row', { name: /House 1/ });
  await own.getByRole('button', { name: 'Choose the group' }).click();
  const choice = page.getByRole('dialog', { name: 'Choose the group' });
  await choice.getByLabel('Billing group').selectOption({ label: 'Block B' });
  await choice.getByRole('button', { name: 'Choose the group' }).click();
  await own.getByRole('link', { name: 'Block B' }).waitFor();
  await assertAccessible(page);
  const { user } = (await client.getUsers({ partyNumber })).data;
  assert.deepEqual(
    user.subscriptionGroups.map((one) => [one.connectionGroupLabel, one.billingGroupName]),
    [
      ['House 1', 'Block B'],
      ['House 2', 'Block A'],
    ],
  );
  assertClean();
});

/** Opens the dialog of a button, fills its fields and sends it. */
async function fill(page: Page, name: string, fields: Record<string, string>): Promise<void> {
  await page.getByRole('button', { name }).click();
  const form = page.getByRole('dialog', { name });
  for (const [label, value] of Object.entries(fields)) await form.getByLabel(label).fill(value);
  await form.getByRole('button', { name }).click();
}

test('an operator makes a type of meters with two registers', { skip }, async () => {
  const client = await scene.workspace('console-types');
  const { page, assertClean } = await openScreen(
    scene,
    'console-types',
    '/settings?tab=meterTypes',
  );
  await page.getByRole('table', { name: 'Meter types' }).waitFor();
  await page.getByRole('button', { name: 'New meter type' }).click();
  const form = page.getByRole('dialog', { name: 'New meter type' });
  await form.getByLabel(/^Name/).fill('Chilled water');
  await form.getByLabel('Measures').fill('Cooling');
  await form.getByRole('button', { name: 'Add a register' }).click();
  const field = (label: RegExp, index: number) => form.getByLabel(label).nth(index);
  for (const [index, name] of ['TRh', 'Flow'].entries()) {
    await field(/^Register\b/, index).fill(name);
    await field(/^Unit/, index).fill('TRh');
  }
  await field(/^Digits/, 0).fill('7');
  await field(/^Digits/, 1).fill('many');
  await form.getByRole('button', { name: 'Create the type' }).click();
  await form.getByRole('alert').waitFor();
  assert.equal(await field(/^Digits/, 1).getAttribute('aria-invalid'), 'true');
  assert.notEqual(await field(/^Digits/, 0).getAttribute('aria-invalid'), 'true');
  await assertAccessible(page);
  await field(/^Digits/, 1).fill('5');
  await form.getByRole('button', { name: 'Create the type' }).click();
  await page.getByRole('table', { name: 'Meter types' }).getByText('Chilled water').waitFor();
  const { meterTypes } = (await client.getMeterMetaData({})).data;
  assert.deepEqual(
    meterTypes.at(-1)?.registers.map((one) => [one.register, one.digits, one.decimals]),
    [
      ['TRh', 7, 0],
      ['Flow', 5, 0],
    ],
  );
  assertClean();
});

test('a manager archives a customer who has left, and erases the personal data', {
  skip,
}, async () => {
  const client = await scene.workspace('console-former');
  const users = [{ name: 'Z. Zebrowski', email: 'z@zebrowski.example' }];
  const made = await client.makeUsers({ userType: 'customer', users });
  const partyNumber = Number(made.headers.get('x-party-number'));
  const path = `/customers/${partyNumber}`;
  const { page, assertClean } = await openScreen(scene, 'console-former', path);
  await page.getByRole('button', { name: 'Archive' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click();
  await page.getByText('This customer is archived').waitFor();
  await page.getByRole('link', { name: 'Customers' }).first().click();
  await page.getByLabel('Former customers too').check();
  await page.getByRole('link', { name: 'Z. Zebrowski' }).click();

  await page.getByRole('button', { name: 'Erase personal data' }).click();
  const form = page.getByRole('dialog', { name: 'Erase personal data' });
  await form.getByText('The audit trail, which is sealed').waitFor();
  const erase = form.getByRole('button', { name: 'Erase Z. Zebrowski for good' });
  assert.ok(await erase.isDisabled());
  await form.getByLabel(/^Type/).fill('1');
  await form.getByText('This is not the number').waitFor();
  await form.getByLabel(/^Type/).fill(String(partyNumber));
  await erase.click();
  await form.getByRole('alert').waitFor();
  assert.equal(await form.getByLabel('Reason').getAttribute('aria-invalid'), 'true');
  await assertAccessible(page);
  await form.getByLabel('Reason').fill('Request of 12/11/2026');
  await erase.click();
  await page.getByText('Personal data erased on').waitFor();
  await page.getByText(/erased\. Kept as accounting records/).waitFor();
  assert.equal(await page.getByRole('button', { name: /Restore|Erase/ }).count(), 0);
  await assertAccessible(page);
  const { user } = (await client.getUsers({ partyNumber })).data;
  assert.deepEqual([user.name, user.email], [`Erased party ${partyNumber}`, null]);
  assertClean();
});
