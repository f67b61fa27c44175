// The screens of a meter reader: the way to the entry of readings without seeing a bill.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertAccessible, findBrowser, logIn, visit } from '../support/browser.ts';
import { openStreet } from '../support/metered-month.ts';
import { july } from '../support/offer-place.ts';
import { adminPassword, openScene } from '../support/scene.ts';

const scene = await openScene();
const skip = findBrowser() === undefined;

test('a meter reader finds the open term, types its readings and prints its route sheet', {
  skip,
}, async () => {
  const { place, houses } = await openStreet(scene, 'console-reader', ['100', '200']);
  const { client } = place;
  const username = 'reader@console-reader.example';
  const login = { username, name: 'Reader', password: adminPassword };
  await client.makeLogins({ logins: [{ ...login, roles: ['Meter Reader'] }] });
  await place.open({ ...july, label: 'July' });
  const { page, address, assertClean } = await visit(scene, 'console-reader');
  await page.goto(`${address}/login`);
  await logIn(page, username);
  await page.waitForURL((url) => url.pathname === '/readings');
  const navigation = page.getByRole('navigation', { name: 'Main' });
  await navigation.getByRole('link', { name: 'Readings' }).waitFor();
  assert.deepEqual(
    (await navigation.getByRole('link').allInnerTexts()).map((name) => name.trim()),
    ['Readings', 'Subscriptions', 'Import and export'],
  );
  await page.getByRole('link', { name: 'July', exact: true }).click();
  await page.getByText('0 of 2 saved').waitFor();
  await assertAccessible(page);

  const [first = 0, second = 0] = houses.map(({ number }) => number);
  const field = (number: number) => page.getByLabel(`Reading of meter ${number}`);
  await field(first).fill('a lot');
  await field(first).press('Enter');
  await page.getByText('0 of 2 saved').waitFor();
  assert.equal(await field(first).getAttribute('aria-invalid'), 'true');
  await field(first).fill('131');
  await field(first).press('Enter');
  await page.getByText('1 of 2 saved').waitFor();

  await page.getByRole('tab', { name: 'Route sheet' }).click();
  await page.getByText('1 register is still to be read').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Post the readings' }).count(), 0);
  await assertAccessible(page);
  await page.getByRole('tab', { name: 'Type in readings' }).click();
  await field(second).fill('231');
  await field(second).press('Enter');
  await page.getByText('1 of 1 saved').waitFor();
  await page.reload();
  await page.getByText('Every meter of the batch is read').waitFor();
  const { readings } = (await client.getReadings({ fromDate: july.endDate })).data;
  assert.deepEqual(readings.map(({ value }) => Number(value)).toSorted(), [131, 231]);
  assertClean();
});
