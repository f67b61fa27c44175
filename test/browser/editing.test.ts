// Things that are edited in dialogs: due dates that are too early, meters, and what another person
// saved meanwhile.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { assertAccessible, figure, findBrowser } from '../support/browser.ts';
import { openScreen } from '../support/console-login.ts';
import { openTestEquipment } from '../support/equipment.ts';
import { openStreet } from '../support/metered-month.ts';
import { openOwing } from '../support/owing.ts';
import { adminPassword, openScene } from '../support/scene.ts';

const scene = await openScene();
const equipment = openTestEquipment();
scene.runJobs({ equipment });
after(() => equipment.close());
const skip = findBrowser() === undefined;

test('a due date that is too early is changed in the dialog, and the bills are posted', {
  skip,
}, async () => {
  const place = await openOwing(scene, 'editing-due', { minimumDaysToPay: 7 });
  const subscription = await place.connectOld();
  const termID = await place.openMonth({ [subscription]: 500 });
  await place.client.generateBills({ operation: 'schedule', data: { termID } });
  const { page } = await openScreen(scene, 'editing-due', `/terms/${termID}`);
  await post(page);
  const dialog = page.getByRole('dialog', { name: 'Post the bills' });
  await dialog.getByText(/the earliest due date is/).waitFor();
  const field = dialog.getByLabel('New due date');
  const offered = await field.inputValue();
  assert.match(offered, /^2027-01-/);
  await assertAccessible(page);
  await dialog.getByRole('button', { name: 'Change the due date and generate again' }).click();
  await dialog.waitFor({ state: 'detached' });
  await figure(page, 'Charges').getByText('500.00').waitFor();
  await post(page);
  await page.getByRole('button', { name: 'Publish bills' }).waitFor();
  const { bills } = (await place.client.getBills({ termID })).data;
  const due = offered.split('-').reverse().join('/');
  assert.deepEqual(
    bills.map((bill) => [bill.status, bill.dueDate]),
    [['Posted', due]],
  );
});

test('a due date that is too early is kept on purpose, and the bills are posted', {
  skip,
}, async () => {
  const place = await openOwing(scene, 'editing-keep', { minimumDaysToPay: 7 });
  const subscription = await place.connectOld();
  const termID = await place.openMonth({ [subscription]: 500 });
  await place.client.generateBills({ operation: 'schedule', data: { termID } });
  const { page } = await openScreen(scene, 'editing-keep', `/terms/${termID}`);
  await post(page);
  await page.getByRole('button', { name: /fewer days to pay: post anyway/ }).click();
  await page.getByRole('button', { name: 'Publish bills' }).waitFor();
  assert.equal(await place.owed(), 500);
});

async function post(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Post bills' }).click();
  await page.getByLabel(/^Type the sum/).fill('500.00');
  await page.getByRole('button', { name: /^Post 1 bills/ }).click();
}

test('a meter is edited, and two people choose what stays', { skip }, async () => {
  const { place, houses } = await openStreet(scene, 'editing-meter', ['100']);
  const { number = 0, connection } = houses[0] ?? {};
  const { page } = await openScreen(scene, 'editing-meter', `/subscriptions/${connection}`);
  await page.getByRole('button', { name: 'Edit meter' }).click();
  const dialog = page.getByRole('dialog', { name: `Edit meter ${number}` });
  await dialog.getByLabel('Brand').fill('');
  await save(dialog);
  await dialog.getByRole('alert').waitFor();
  assert.equal(await dialog.getByLabel('Brand').getAttribute('aria-invalid'), 'true');
  await dialog.getByLabel('Brand').fill('Bright <b>Meters</b>');
  await place.client.updateMeter({ data: { number, meterHealth: 'stopped' } });
  await save(dialog);
  await merge(dialog);
  await assertAccessible(page);
  await save(dialog);
  await dialog.waitFor({ state: 'detached' });
  const metaData = { fields: ['number', 'brand', 'meterHealth'] };
  const { meters } = (await place.client.getMeters({ number, metaData })).data.meters;
  assert.deepEqual(
    meters.map((one) => [one.brand, one.meterHealth]),
    [['Bright <b>Meters</b>', 'stopped']],
  );
});

test('letterhead, template, login and API client lose nothing that another person saved', {
  skip,
}, async () => {
  const client = await scene.workspace('editing-settings');
  const username = 'desk@editing-settings.example';
  await client.makeLogins({
    logins: [{ username, name: 'Desk', password: adminPassword, roles: ['Cashier'] }],
  });
  const clientID = 'shop';
  const clientSecret = 'a secret of a shop that is long enough';
  await client.makeClients({ clients: [{ clientID, clientSecret, roles: ['Cashier'] }] });
  const { page, address } = await openScreen(scene, 'editing-settings', '/settings?tab=letterhead');
  const form = page.getByRole('tabpanel', { name: 'Letterhead' });
  await form.getByLabel('Phone').fill('042 111 222');
  await client.updateSettings({ data: { letterhead: { name: 'City Power' } } });
  await form.getByRole('button', { name: 'Save the letterhead' }).click();
  await merge(form);
  await form.getByRole('button', { name: 'Save the letterhead' }).click();
  await page.getByText('The letterhead is saved').waitFor();
  const { settings } = (await client.getSettings()).data;
  const { name, phone } = settings.letterhead as Record<string, string>;
  assert.deepEqual([name, phone], ['City Power', '042 111 222']);

  const dialog = page.getByRole('dialog');
  await page.goto(`${address}/settings?tab=templates`);
  await page.getByRole('button', { name: 'Open', exact: true }).last().click();
  await dialog.getByLabel('Text').fill('Your bill is ready.');
  const { templates } = (await client.getTemplates({})).data;
  const { templateID = 0 } = templates.at(-1) ?? {};
  await client.updateTemplate({ data: { templateID, name: 'Renamed by another' } });
  await dialog.getByRole('button', { name: 'Save a version' }).click();
  await merge(dialog);
  await dialog.getByRole('button', { name: 'Save a version' }).click();
  await dialog.waitFor({ state: 'detached' });
  const [saved] = (await client.getTemplates({ templateID })).data.templates;
  assert.deepEqual([saved?.name, saved?.body], ['Renamed by another', 'Your bill is ready.']);

  await page.goto(`${address}/settings?tab=logins`);
  const row = page.getByRole('row', { name: /Desk/ });
  await row.getByRole('button', { name: 'Change' }).click();
  await dialog.getByLabel('Accountant').check();
  await client.updateLogin({ data: { username, status: 'INACTIVE' } });
  await dialog.locator('button[type=submit]').click();
  await merge(dialog);
  await dialog.locator('button[type=submit]').click();
  await dialog.waitFor({ state: 'detached' });
  const [login] = (await client.getLogins({ username })).data.logins;
  assert.deepEqual([login?.status, login?.roles], ['INACTIVE', ['Cashier', 'Accountant']]);

  await page.goto(`${address}/settings?tab=clients`);
  const shopRow = page.getByRole('row', { name: /shop/ });
  await shopRow.getByRole('button', { name: 'Change' }).click();
  await dialog.getByLabel('Meter reader').check();
  await client.updateClient({ data: { clientID, allowedAddresses: ['10.0.0.1'] } });
  await dialog.locator('button[type=submit]').click();
  await merge(dialog);
  await dialog.locator('button[type=submit]').click();
  await dialog.waitFor({ state: 'detached' });
  const [shop] = (await client.getClients({})).data.clients;
  assert.deepEqual(
    [shop?.allowedAddresses, shop?.roles.toSorted()],
    [['10.0.0.1'], ['Cashier', 'Meter Reader']],
  );
});

async function save(dialog: Locator): Promise<void> {
  await dialog.getByRole('button', { name: 'Edit meter', exact: true }).click();
}

/** What both changed apart from each other stays. */
async function merge(place: Locator): Promise<void> {
  const choice = place.getByRole('group', { name: 'Another person saved this while you typed' });
  await choice.getByRole('button', { name: 'Continue with these choices' }).click();
  await choice.waitFor({ state: 'detached' });
}
