// The customer's pages, on a phone: what is owed, bills, usage, details, a reported problem.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, findBrowser, logIn, visit } from '../support/browser.ts';
import { openTestEquipment } from '../support/equipment.ts';
import { type Owing, openOwing } from '../support/owing.ts';
import { adminPassword, openScene } from '../support/scene.ts';
import { newParty } from '../support/subscriptions.ts';

const scene = await openScene();
const equipment = openTestEquipment();
scene.runJobs({ equipment });
after(() => equipment.close());
const skip = findBrowser() === undefined;

test('a customer sees the own bills on a phone, changes details and reports a problem', {
  skip,
}, async () => {
  const place = await openOwing(scene, 'console-portal');
  const { client } = place;
  const own = await place.connectOld();
  const users = [{ partyNumber: await newParty(client, 'Another Customer') }];
  const stranger = await place.connectOld({ users });
  const [bill] = await place.bill({ [own]: 1250.5, [stranger]: 777 });
  await client.publishBills({ operation: 'schedule', data: { termID: bill?.termID ?? 0 } });
  const username = 'customer@console-portal.example';
  const login = { username, name: 'Customer', password: adminPassword };
  const roles = ['Customer' as const];
  await client.makeLogins({ logins: [{ ...login, roles, partyNumber: place.party }] });

  const { page, address, assertClean } = await visit(scene, 'console-portal');
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(address);
  await logIn(page, username);
  await page.getByText('1,250.50').first().waitFor();
  await page.getByText('Please pay by').waitFor();
  await assertAccessible(page);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download the PDF' }).click();
  assert.match((await download).suggestedFilename(), /\.pdf$/);

  await page.getByText('Bills', { exact: true }).click();
  const bills = page.getByRole('table', { name: 'Bills' });
  await bills.getByText('1,250.50').waitFor();
  assert.doesNotMatch(await page.locator('body').innerText(), /777/);
  await assertAccessible(page);
  await page.getByText('Usage', { exact: true }).click();
  await page.getByText('No usage yet').waitFor();
  await assertAccessible(page);

  await changeDetails(page, place);
  await page.getByRole('button', { name: 'Report a problem' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Problem').fill('My meter <b>stopped</b>');
  await form.getByRole('button', { name: 'Report a problem' }).click();
  await page.getByRole('cell', { name: 'My meter <b>stopped</b>' }).waitFor();
  const { notes } = (await client.getNotes({ partyNumber: place.party })).data;
  assert.deepEqual(
    notes.map(({ kind, text, fromCustomer }) => [kind, text, fromCustomer]),
    [['Problem', 'My meter <b>stopped</b>', true]],
  );

  // The console is not for customers: its addresses lead back to the portal.
  await page.goto(`${address}/customers`);
  await page.getByText('You owe').waitFor();
  await page.waitForURL(`${address}/portal`);
  assertClean();
});

/** The first mobile number is changed; other contacts, channels and the office's change stay. */
async function changeDetails(page: Page, { client, party: partyNumber }: Owing): Promise<void> {
  const contacts = ['+92 300 1', '+92 300 2'].map((contactValue) => ({
    contactType: 'Mobile',
    contactValue,
  }));
  const deliveryChannels = ['Email' as const, 'Print' as const];
  await client.updateUser({ user: { partyNumber, contacts, deliveryChannels } });
  await page.getByText('Details', { exact: true }).click();
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Mobile').fill('+92 300 7654321');
  await assertAccessible(page);
  await client.updateUser({ user: { partyNumber, language: 'ur' } });
  await form.getByRole('button', { name: 'Change', exact: true }).click();
  await form.getByRole('button', { name: 'Continue with these choices' }).click();
  await form.getByRole('button', { name: 'Change', exact: true }).click();
  await page.getByText('+92 300 7654321').waitFor();
  const { user } = (await client.getUsers({ partyNumber })).data;
  assert.deepEqual(
    user.contacts.map((one) => one.contactValue),
    ['+92 300 7654321', '+92 300 2'],
  );
  assert.deepEqual([user.deliveryChannels, user.language], [deliveryChannels, 'ur']);
}
