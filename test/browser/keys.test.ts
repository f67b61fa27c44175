// Keys of the console: listed, switched off, and readings typed at the speed of a reader.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findBrowser } from '../support/browser.ts';
import { openScreen } from '../support/console-login.ts';
import { assertFocused, reach } from '../support/hands.ts';
import { openStreet } from '../support/metered-month.ts';
import { august, july } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const skip = findBrowser() === undefined;

test('single keys walk through a list, are listed, and can be switched off', {
  skip,
}, async () => {
  const client = await scene.workspace('console-keys');
  await client.makeUsers({ userType: 'customer', users: [{ name: 'Asma' }, { name: 'Bilal' }] });
  const { page, assertClean } = await openScreen(scene, 'console-keys', '/customers');
  const { keyboard } = page;
  const link = (name: string) =>
    page.getByRole('row', { name }).getByRole('link').first().and(page.locator(':focus'));
  await page.getByText('2 in all').waitFor();
  await page.reload();
  await page.getByText('2 in all').waitFor();
  await keyboard.press('Tab');
  await page
    .getByRole('link', { name: 'Skip to the content' })
    .and(page.locator(':focus'))
    .waitFor();
  await keyboard.press('Enter');
  await assertFocused(page);
  const rows = await page.getByRole('table').locator('tbody tr').allInnerTexts();
  const [first = '', second = ''] = rows.map((text) => (/Asma|Bilal/.exec(text) ?? [''])[0]);
  await keyboard.press('j');
  await link(first).waitFor();
  await keyboard.press('j');
  await link(second).waitFor();
  await keyboard.press('k');
  await link(first).waitFor();
  await assertFocused(page);

  await keyboard.press('?');
  const list = page.getByRole('dialog', { name: 'Keys' });
  await list.getByText('Next line of a list').waitFor();
  await reach(page, list.getByLabel('Use single letters as keys'));
  await keyboard.press('Space');
  await keyboard.press('Escape');
  await list.waitFor({ state: 'detached' });
  await assertFocused(page);
  for (const key of ['j', '/', '?']) await keyboard.press(key);
  assert.equal(await page.getByRole('dialog').count(), 0);
  // Keys with Ctrl stay, and the list has a button.
  await keyboard.press('Control+k');
  await page.getByPlaceholder('Number, name, phone').waitFor();
  await keyboard.press('Escape');
  await reach(page, page.getByRole('button', { name: 'Keys' }));
  await keyboard.press('Enter');
  await list.waitFor();
  assertClean();
});

test('a reader types 600 readings an hour, and sees the usage before a line is saved', {
  skip,
}, async () => {
  const { client, houses, termID } = await openAugust();
  const { page } = await openScreen(scene, 'console-fast', `/terms/${termID}/entry`);
  const { keyboard } = page;
  const total = houses.length;
  await page.getByText(`0 of ${total} saved`).waitFor();
  const begun = performance.now();
  for (const [index, house] of houses.entries()) {
    const field = page.getByLabel(`Reading of meter ${house.number}`);
    await field.and(page.locator(':focus')).waitFor();
    // 31 units in the 31 days of July, and as many in those of August.
    await keyboard.type(String(index * 1_000 + 162));
    await page.getByText('31 kWh (0 %)').first().waitFor();
    await keyboard.press('Enter');
  }
  await page.getByText(`${total} of ${total} saved`).waitFor();
  const perHour = Math.round((total / (performance.now() - begun)) * 3_600_000);
  console.log(`${perHour} readings an hour`);
  assert.ok(perHour >= 600, `${perHour} readings an hour`);
  const { readings } = (await client.getReadings({ fromDate: '31/08/2026' })).data;
  assert.equal(readings.length, total);
});

/** Meters that begin at 100 and were read as 131 in July; the second one at 1,100, and so on. */
async function openAugust() {
  const initial = Array.from({ length: 12 }, (_, index) => String(index * 1_000 + 100));
  const { place, houses } = await openStreet(scene, 'console-fast', initial);
  const { client } = place;
  const readings = houses.map(({ number }, index) => {
    return { number, value: String(index * 1_000 + 131), readingDate: '31/07/2026' };
  });
  await client.makeReadings({ readings });
  const julyID = await place.open({ ...july, label: 'July' });
  const data = { termID: julyID, reading: 'current' as const };
  await client.postMeterReadings({ operation: 'schedule', data });
  return { client, houses, termID: await place.open({ ...august, label: 'August' }) };
}
