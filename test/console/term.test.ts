// A metered month in a real browser, step by step through the pages of its term.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, figure, findBrowser, logIn, visit } from '../support/browser.ts';
import { openTestEquipment } from '../support/equipment.ts';
import { type MeteredStreet, openStreet } from '../support/metered-month.ts';
import { july } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const equipment = openTestEquipment();
scene.runJobs({ equipment });
after(() => equipment.close());
const skip = findBrowser() === undefined;

test('an operator takes a metered term from its readings to its bills', { skip }, async () => {
  // Read as 150; 400, lower than 500; 15 after 999,990; 300 as before; and not at all.
  const street = await openStreet(scene, 'console-term', ['100', '500', '999990', '300', '70']);
  const termID = await street.place.open({ ...july, label: 'July', dueDate: '31/12/2027' });
  const { page, address, assertClean } = await visit(scene, 'console-term');
  await page.goto(`${address}/terms/${termID}`);
  await logIn(page, 'admin@console-term.example');
  await page.getByRole('heading', { name: 'July' }).waitFor();
  await typeReadings(page, street);
  await reviewReadings(page, street);
  await postReadings(page, street, termID);
  await enterValues(page, street);
  await generateBills(page, street, termID);
  await checkRegister(page, street, termID);
  await sendBills(page, street, termID);
  // The one call that found no connection.
  assertClean(['Failed to load resource: net::ERR_FAILED']);
});

/** By key: a notification may lie over the tabs for some seconds. */
async function openTab(page: Page, name: string): Promise<void> {
  await page.getByRole('tab', { name }).press('Enter');
}

/** By keys alone: a number and Enter, and what is unusual is asked before it is saved. */
async function typeReadings(page: Page, { place, houses }: MeteredStreet): Promise<void> {
  await openTab(page, 'Readings');
  await page.getByText('5 registers are still to be read').waitFor();
  await page.getByRole('link', { name: 'Type in readings' }).click();
  const field = (house: number) =>
    page.getByLabel(`Reading of meter ${houses[house]?.number}`, { exact: true });
  await field(0).waitFor();
  const enter = async (house: number, text: string) => {
    const name = `Reading of meter ${houses[house]?.number}`;
    await page.waitForFunction(`document.activeElement?.getAttribute('aria-label') === '${name}'`);
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
  };
  await enter(0, '150');
  await enter(1, '400');
  await page.getByText('Lower than the previous reading').waitFor();
  await assertAccessible(page);
  await page.keyboard.press('Enter');
  await enter(2, '15');
  await page.getByText('Did the meter pass its highest value?').waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('25 kWh').waitFor();
  await enter(3, '300');
  await page.getByText('No usage since the previous reading').waitFor();
  // The connection is lost: the line keeps its reading and is saved when it is back.
  await page.route('**/make-readings', (route) => route.abort());
  await page.keyboard.press('Enter');
  await page.getByText('1 reading has not reached the server').waitFor();
  assert.equal(await field(3).inputValue(), '300');
  await page.unroute('**/make-readings');
  await page.getByRole('button', { name: 'Save again' }).click();
  await page.getByText('4 of 5 saved').waitFor();
  await field(4).focus();
  await enter(4, 'l');
  await page.getByText('1 not read').waitFor();
  const { readings } = (await place.client.getReadings({ fromDate: '31/07/2026' })).data;
  assert.deepEqual(
    readings.map((one) => [one.number, one.value, one.rollover, one.status]),
    [
      [houses[0]?.number, '150', 0, 'Accepted'],
      [houses[1]?.number, '400', 0, 'Review'],
      [houses[2]?.number, '15', 1, 'Accepted'],
      [houses[3]?.number, '300', 0, 'Accepted'],
    ],
  );
}

/** The lower one was a slip: it is corrected, and none is left. */
async function reviewReadings(page: Page, { place, houses }: MeteredStreet): Promise<void> {
  await openTab(page, 'Review');
  await page.getByRole('heading', { name: '1 reading to review' }).waitFor();
  await assertAccessible(page);
  await page.keyboard.press('c');
  const form = page.getByRole('dialog');
  await form.getByLabel(`What meter ${houses[1]?.number} shows`).fill('450');
  await form.getByRole('button', { name: 'Save the correction' }).click();
  await form.getByRole('alert').getByText('500').waitFor();
  await form.getByLabel(`What meter ${houses[1]?.number} shows`).fill('540');
  await form.getByRole('button', { name: 'Save the correction' }).click();
  await page.getByText('No reading waits for a decision').waitFor();
  const { readings } = (await place.client.getReadings({ number: houses[1]?.number ?? 0 })).data;
  assert.equal(readings.at(-1)?.consumption, '40');
}

/** The last house by file: a wrong row is corrected in place. Then the readings are posted. */
async function postReadings(page: Page, street: MeteredStreet, termID: number): Promise<void> {
  const { client } = street.place;
  const { number } = street.houses[4] ?? { number: 0 };
  await openTab(page, 'Readings');
  await page.getByText('1 register is still to be read').waitFor();
  const file = (text: string) => ({
    name: 'readings.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(text),
  });
  await page
    .locator('input[type=file]')
    .setInputFiles(file(`number,value,readingDate\r\n${number},8x,31/07/2026\r\n`));
  await page.getByText('1 row was rejected').waitFor();
  await assertAccessible(page);
  // A day that is cleared asks for nothing, and the file stays.
  await page.getByLabel('Read on').fill('');
  await page.getByLabel('value of line 2').fill('80');
  await page.getByRole('button', { name: 'Check again' }).click();
  await page.getByRole('tabpanel').getByText('1 row can be imported').waitFor();
  await page.getByRole('button', { name: 'Take the readings in' }).click();
  await page.getByText('No register is left to be read').waitFor();
  await page.getByRole('button', { name: 'Post the readings', exact: true }).click();
  await page.getByRole('button', { name: 'Unpost the readings' }).waitFor();
  const { stage } = (await client.getBillTerm({ billTermID: termID })).data.term;
  assert.equal(stage, 'ReadingsPosted');
}

/** A fee of 12.50 for the first house; a subscription that is not there is refused at its row. */
async function enterValues(page: Page, { houses }: MeteredStreet): Promise<void> {
  await openTab(page, 'Population');
  await figure(page, 'Billed').getByText('5').waitFor();
  await assertAccessible(page);
  await openTab(page, 'Manual values');
  await page.getByLabel('Subscription of row 1').fill('NO-1');
  await page.getByLabel('Value of row 1').fill('12.50');
  await page.getByRole('button', { name: 'Save 1 value' }).click();
  await page.getByText('No subscription has the number NO-1').waitFor();
  await assertAccessible(page);
  await page.getByLabel('Subscription of row 1').fill(houses[0]?.connection ?? '');
  await page.getByRole('button', { name: 'Save 1 value' }).click();
  await page.getByRole('status').getByText('1').waitFor();
}

/** A reading is unposted and its bill is in error, until it is posted again at its source. */
async function generateBills(page: Page, street: MeteredStreet, termID: number): Promise<void> {
  const { client } = street.place;
  const connectionNumber = street.houses[4]?.connection ?? '';
  await client.unpostMeterReadings({ data: { termID, connectionNumber } });
  await openTab(page, 'Generate');
  await page.getByRole('button', { name: 'Generate', exact: true }).click();
  await figure(page, 'Errors').getByText('1').waitFor();
  await openTab(page, 'Exceptions');
  await page.getByRole('button', { name: /Reading missing/ }).waitFor();
  await assertAccessible(page);
  await page.getByRole('button', { name: 'Generate 1 bill again' }).click();
  await page.getByText('1 bill was generated again').waitFor();
  await openTab(page, 'Readings');
  await page.getByRole('button', { name: 'Post the readings', exact: true }).click();
  await page.getByRole('status').waitFor();
  await openTab(page, 'Generate');
  await page.getByRole('button', { name: 'Generate again' }).click();
  await figure(page, 'Errors').getByText('0').waitFor();
  const changes = page.getByRole('table', { name: 'What the last run changed' });
  await changes.getByRole('link', { name: connectionNumber }).waitFor();
  await assertAccessible(page);
  // 50 + 40 + 25 + 0 + 10 units of 10, and a fee of 12.50.
  await figure(page, 'Charges').getByText('1,262.50').waitFor();
}

/** What the screens show is what the API says. */
async function checkRegister(page: Page, street: MeteredStreet, termID: number): Promise<void> {
  const { client } = street.place;
  const { summary, bills } = (await client.getBillTerm({ billTermID: termID })).data;
  await openTab(page, 'Register');
  const components = page.getByRole('table', { name: 'Charges by component' });
  await components.getByText('1,262.50').waitFor();
  for (const { label, amount } of summary.components) {
    assert.match(await components.innerText(), new RegExp(`${label}\\s+${shown(amount)}`));
  }
  await page.getByText('5 of 5 bills looked through').waitFor();
  await page.getByRole('table', { name: 'Zero bills' }).waitFor();
  assert.equal(bills.filter((bill) => bill.currentCharges === 0).length, 1);
  await assertAccessible(page);
}

function shown(amount: number): string {
  return amount.toLocaleString('en', { minimumFractionDigits: 2 });
}

async function sendBills(page: Page, street: MeteredStreet, termID: number): Promise<void> {
  await openTab(page, 'Post and send');
  await page.getByText('Numbers follow the format').waitFor();
  await page.getByRole('button', { name: 'Post bills' }).click();
  await page.getByLabel(/^Type the sum/).fill('1262.50');
  await page.getByRole('button', { name: /^Post 5 bills/ }).click();
  await page.getByRole('button', { name: 'Publish bills' }).click();
  await page.getByRole('button', { name: 'Send bills' }).click();
  await page.getByText('The bills are sent.').waitFor();
  await page.getByRole('table', { name: 'Deliveries by channel' }).waitFor();
  await assertAccessible(page);
  const { deliveries } = (await street.place.client.getDeliveries({ termID })).data;
  assert.equal(deliveries.length, 5);
}
