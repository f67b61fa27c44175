// Nothing is lost and nothing is done twice: lost connections, double clicks, the back button.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertAccessible, figure, findBrowser } from '../support/browser.ts';
import { openScreen } from '../support/console-login.ts';
import { openTestEquipment } from '../support/equipment.ts';
import { openStreet } from '../support/metered-month.ts';
import { july } from '../support/offer-place.ts';
import { openOwing } from '../support/owing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const equipment = openTestEquipment();
scene.runJobs({ equipment });
after(() => equipment.close());
const skip = findBrowser() === undefined;

test('readings typed while the connection is lost are saved once when it is back', {
  skip,
}, async () => {
  const { place, houses } = await openStreet(scene, 'console-offline', ['100', '200', '300']);
  const termID = await place.open({ ...july, label: 'July' });
  const { page } = await openScreen(scene, 'console-offline', `/terms/${termID}/entry`);
  const field = (house: number) => page.getByLabel(`Reading of meter ${houses[house]?.number}`);
  await field(0).and(page.locator(':focus')).waitFor();
  await page.keyboard.type('150');
  await page.keyboard.press('Enter');
  await page.getByText('1 of 3 saved').waitFor();
  await page.context().setOffline(true);
  for (const value of ['250', '350']) {
    await page.keyboard.type(value);
    await page.keyboard.press('Enter');
  }
  await page.getByText('2 readings have not reached the server').waitFor();
  assert.deepEqual([await field(1).inputValue(), await field(2).inputValue()], ['250', '350']);
  await page.context().setOffline(false);
  await page.getByText('3 of 3 saved').waitFor();
  const { readings } = (await place.client.getReadings({ fromDate: '31/07/2026' })).data;
  assert.deepEqual(
    // Those that waited for the connection are sent together.
    readings.map((one) => one.value).sort(),
    ['150', '250', '350'],
  );
});

test('a form that is typed in stays while the connection is lost, and is saved when it is back', {
  skip,
}, async () => {
  const client = await scene.workspace('console-away');
  const { page } = await openScreen(scene, 'console-away', '/settings');
  const name = page.getByLabel('Name of the workspace');
  await name.fill('City Power');
  // What was read is old after five seconds: a person who comes back to the page has it read again.
  await sleep(5_500);
  await page.context().setOffline(true);
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
  const away = page.getByRole('status').getByText('The server does not answer');
  await away.waitFor();
  await assertAccessible(page);
  assert.equal(await name.inputValue(), 'City Power');
  await page.context().setOffline(false);
  await away.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Save the settings' }).click();
  await page.getByText('The settings are saved').waitFor();
  assert.equal((await client.getSettings({})).data.settings.name, 'City Power');
});

test('a double click takes a payment once, and posts a term once', { skip }, async () => {
  const place = await openOwing(scene, 'console-double');
  const subscription = await place.connectOld();
  const termID = await place.openMonth({ [subscription]: 500 });
  await place.client.updateTerm({ data: { termID, dueDate: '31/12/2027' } });
  const { page, address } = await openScreen(scene, 'console-double', `/terms/${termID}`);
  await page.getByRole('button', { name: 'Generate bills' }).dblclick();
  await figure(page, 'Charges').getByText('500.00').waitFor();
  await page.getByRole('button', { name: 'Post bills' }).click();
  await page.getByLabel(/^Type the sum/).fill('500.00');
  await page.getByRole('button', { name: /^Post 1 bills/ }).dblclick();
  await page.getByRole('button', { name: 'Publish bills' }).waitFor();
  const { jobs } = (await place.client.getJobs({ termID })).data;
  const names = jobs.map(({ operation }) => operation).sort();
  assert.deepEqual(names, ['generate-bills', 'post-bills', 'post-manual-component-values']);
  assert.equal(await place.owed(), 500);

  await page.goto(`${address}/customers/${place.party}`);
  await page.getByRole('button', { name: 'Take a payment' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Amount').fill('200');
  await form.getByRole('button', { name: 'Take a payment' }).dblclick();
  await form.waitFor({ state: 'detached' });
  assert.equal(await place.owed(), 300);
  assert.equal((await place.client.getPayments({})).data.payments.length, 1);
});

test('going back with manual values that are not saved asks first, and keeps them', {
  skip,
}, async () => {
  const place = await openOwing(scene, 'console-back');
  const subscription = await place.connectOld();
  const termID = await place.openMonth({ [subscription]: 100 });
  const { page } = await openScreen(scene, 'console-back', `/terms/${termID}`);
  const asked: string[] = [];
  page.on('dialog', (dialog) => {
    asked.push(dialog.message());
    void dialog.dismiss();
  });
  await page.getByRole('tab', { name: 'Manual values' }).click();
  await page.getByLabel('Subscription of row 1').fill(subscription);
  await page.evaluate('history.back()');
  while (asked.length === 0) await page.getByLabel('Value of row 1').fill('25');
  assert.match(asked[0] ?? '', /What you typed will be lost/);
  assert.equal(await page.getByLabel('Subscription of row 1').inputValue(), subscription);
  assert.match(page.url(), /\/values$/);
});
