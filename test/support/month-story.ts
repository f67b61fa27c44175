// A metered month as an operator does it in the console, from its term to the closed books. What a
// screen shows is compared with what the API says.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { figure } from './browser.ts';
import { csvFile, type Hands } from './hands.ts';
import type { MeteredStreet } from './metered-month.ts';

export type Story = {
  hands: Hands;
  page: Page;
  street: MeteredStreet;
  /** Called on every screen of the story. */
  look: (page: Page) => Promise<void>;
};

/** Read as 150; 400, lower than 500; 15 after 999,990; 300 as before; not at all; and by file. */
export const monthReadings = ['100', '500', '999990', '300', '70', '200'];
/** 50 + 40 + 25 + 0 + 10 + 20 units at 10, and a fee of 12.50. */
const monthSum = '1,462.50';

/** Begins at the run board, logged in. */
export async function tellMonth(story: Story): Promise<void> {
  const termID = await createTerm(story);
  await typeReadings(story);
  await correctReading(story);
  await takeReadingsFile(story);
  await enterValues(story);
  await generateBills(story, termID);
  await readRegister(story, termID);
  await explainLine(story, termID);
  await sendBills(story, termID);
}

async function openTab({ hands, page }: Story, name: string): Promise<void> {
  await hands.press(page.getByRole('tab', { name }));
}

export async function goTo({ hands, page }: Story, place: string): Promise<void> {
  const places = page.getByRole('navigation', { name: 'Main' });
  await hands.press(places.getByRole('link', { name: place }));
}

async function createTerm({ hands, page, street, look }: Story): Promise<number> {
  await hands.press(page.getByRole('button', { name: 'New term' }));
  const form = page.getByRole('dialog');
  await hands.type(form.getByLabel('Term'), 'July');
  await hands.typeDate(form.getByLabel('First day'), '2026-07-01');
  await hands.typeDate(form.getByLabel('Last day'), '2026-07-31');
  await hands.typeDate(form.getByLabel('Due'), '2027-12-31');
  await look(page);
  await hands.press(form.getByRole('button', { name: 'Create the term' }));
  await page.getByRole('heading', { name: 'July' }).waitFor();
  const { terms } = (await street.place.client.getTerms({ status: 'Open' })).data;
  const [term] = terms;
  assert.deepEqual(
    [terms.length, term?.label, term?.startDate, term?.endDate, term?.dueDate],
    [1, 'July', '01/07/2026', '31/07/2026', '31/12/2027'],
  );
  return term?.termID ?? 0;
}

/** A number and Enter, and what is unusual is asked before it is saved. */
async function typeReadings(story: Story): Promise<void> {
  const { hands, page, street } = story;
  const { keyboard } = page;
  await openTab(story, 'Readings');
  await page.getByText('6 registers are still to be read').waitFor();
  await hands.press(page.getByRole('link', { name: 'Type in readings' }));
  const enter = async (house: number, text: string) => {
    const field = page.getByLabel(`Reading of meter ${street.houses[house]?.number}`);
    await field.and(page.locator(':focus')).waitFor();
    await keyboard.type(text);
    await keyboard.press('Enter');
  };
  await enter(0, '150');
  await enter(1, '400');
  await page.getByText('Lower than the previous reading').waitFor();
  await story.look(page);
  await keyboard.press('Enter');
  await enter(2, '15');
  await page.getByText('Did the meter pass its highest value?').waitFor();
  await keyboard.press('Enter');
  await page.getByText('25 kWh').waitFor();
  await enter(3, '300');
  await page.getByText('No usage since the previous reading').waitFor();
  await keyboard.press('Enter');
  await page.getByText('4 of 6 saved').waitFor();
  await enter(4, 'l');
  await page.getByText('1 not read').waitFor();
  const { readings } = (await street.place.client.getReadings({ fromDate: '31/07/2026' })).data;
  assert.deepEqual(
    readings.map((one) => [one.number, one.value, one.rollover, one.status]),
    [
      [street.houses[0]?.number, '150', 0, 'Accepted'],
      [street.houses[1]?.number, '400', 0, 'Review'],
      [street.houses[2]?.number, '15', 1, 'Accepted'],
      [street.houses[3]?.number, '300', 0, 'Accepted'],
    ],
  );
}

/** The lower one was a slip: it is corrected, and none is left. */
async function correctReading(story: Story): Promise<void> {
  const { hands, page, street } = story;
  const number = street.houses[1]?.number ?? 0;
  await openTab(story, 'Review');
  await page.getByRole('heading', { name: '1 reading to review' }).waitFor();
  await story.look(page);
  await page.keyboard.press('c');
  const form = page.getByRole('dialog');
  const save = form.getByRole('button', { name: 'Save the correction' });
  await hands.type(form.getByLabel(`What meter ${number} shows`), '450');
  await hands.press(save);
  await form.getByRole('alert').getByText('500').waitFor();
  await hands.type(form.getByLabel(`What meter ${number} shows`), '540');
  await hands.press(save);
  await page.getByText('No reading waits for a decision').waitFor();
  const { readings } = (await street.place.client.getReadings({ number })).data;
  assert.equal(readings.at(-1)?.consumption, '40');
}

/** The last house by file: a wrong row is corrected in place. Then the readings are posted. */
async function takeReadingsFile(story: Story): Promise<void> {
  const { hands, page, street } = story;
  const { number } = street.houses[5] ?? { number: 0 };
  await openTab(story, 'Readings');
  await page.getByText('2 registers are still to be read').waitFor();
  const text = `number,value,readingDate\r\n${number},2x,31/07/2026\r\n`;
  await hands.chooseFile(page.getByLabel('CSV file'), csvFile('readings.csv', text));
  await page.getByText('1 row was rejected').waitFor();
  await story.look(page);
  await hands.type(page.getByLabel('value of line 2'), '220');
  await hands.press(page.getByRole('button', { name: 'Check again' }));
  await page.getByRole('tabpanel').getByText('1 row can be imported').waitFor();
  await hands.press(page.getByRole('button', { name: 'Take the readings in' }));
  await page.getByText('1 register is still to be read').waitFor();
  await postReadings(story);
}

async function postReadings({ hands, page, street }: Story): Promise<void> {
  await hands.press(page.getByRole('button', { name: 'Post the readings', exact: true }));
  await page.getByRole('button', { name: 'Unpost the readings' }).waitFor();
  await page.getByRole('status').first().waitFor();
  const { terms } = (await street.place.client.getTerms({ status: 'Open' })).data;
  assert.notEqual(terms[0]?.stage, 'Created');
}

/** A fee of 12.50 for the first house; a subscription that is not there is refused at its row. */
async function enterValues(story: Story): Promise<void> {
  const { hands, page, street } = story;
  await openTab(story, 'Population');
  await figure(page, 'Billed').getByText('6').waitFor();
  await story.look(page);
  await openTab(story, 'Manual values');
  await hands.type(page.getByLabel('Subscription of row 1'), 'NO-1');
  await hands.type(page.getByLabel('Value of row 1'), '12.50');
  await hands.press(page.getByRole('button', { name: 'Save 1 value' }));
  await page.getByText('No subscription has the number NO-1').waitFor();
  await story.look(page);
  await hands.type(page.getByLabel('Subscription of row 1'), street.houses[0]?.connection ?? '');
  await hands.press(page.getByRole('button', { name: 'Save 1 value' }));
  await page.getByRole('status').getByText('1').waitFor();
}

/** The locked house has no reading: its bill is in error until it is read. */
async function generateBills(story: Story, termID: number): Promise<void> {
  const { hands, page, street } = story;
  const { connection = '' } = street.houses[4] ?? {};
  await openTab(story, 'Generate');
  await hands.press(page.getByRole('button', { name: 'Generate', exact: true }));
  await figure(page, 'Errors').getByText('1').waitFor();
  await openTab(story, 'Exceptions');
  await page.getByRole('button', { name: /Reading missing/ }).waitFor();
  const { exceptions } = (await street.place.client.getBillTerm({ billTermID: termID })).data;
  assert.deepEqual(
    exceptions.map(({ code, connectionNumber }) => [code, connectionNumber]),
    [['READING_MISSING', connection]],
  );
  await page.getByRole('link', { name: connection }).waitFor();
  await story.look(page);
  await hands.press(page.getByRole('link', { name: 'Type in the missing readings' }));
  await hands.type(page.getByLabel(`Reading of meter ${street.houses[4]?.number}`), '80');
  await page.keyboard.press('Enter');
  await page.getByText('1 of 1 saved').waitFor();
  await openTab(story, 'Readings');
  await postReadings(story);
  await openTab(story, 'Generate');
  await hands.press(page.getByRole('button', { name: 'Generate again' }));
  await figure(page, 'Errors').getByText('0').waitFor();
  const changes = page.getByRole('table', { name: 'What the last run changed' });
  await changes.getByRole('link', { name: connection }).waitFor();
  await story.look(page);
  await figure(page, 'Charges').getByText(monthSum).waitFor();
}

async function readRegister(story: Story, termID: number): Promise<void> {
  const { page, street } = story;
  const { summary, bills } = (await street.place.client.getBillTerm({ billTermID: termID })).data;
  await openTab(story, 'Register');
  const components = page.getByRole('table', { name: 'Charges by component' });
  await components.getByText(monthSum).waitFor();
  for (const { label, amount } of summary.components) {
    assert.match(await components.innerText(), new RegExp(`${label}\\s+${shown(amount)}`));
  }
  await page.getByText('6 of 6 bills looked through').waitFor();
  await page.getByRole('table', { name: 'Zero bills' }).waitFor();
  assert.equal(bills.filter((bill) => bill.currentCharges === 0).length, 1);
  await story.look(page);
}

/** Every figure with two decimals and commas, as the workspace writes it. */
export function shown(amount: number): string {
  return amount.toLocaleString('en', { minimumFractionDigits: 2 });
}

/** The first house: 50 units at 10. */
async function explainLine(story: Story, termID: number): Promise<void> {
  const { hands, page, street } = story;
  const { client } = street.place;
  const connectionNumber = street.houses[0]?.connection ?? '';
  const [bill] = (await client.getBills({ termID, connectionNumber })).data.bills;
  await openTab(story, 'Overview');
  const row = page
    .getByRole('table', { name: 'Bills' })
    .getByRole('row', { name: connectionNumber });
  await row
    .getByText(shown(bill?.currentCharges ?? 0))
    .first()
    .waitFor();
  await hands.press(row.getByRole('link').first());
  await page.getByRole('heading', { name: /^Bill / }).waitFor();
  await hands.press(page.getByRole('button', { name: 'Why Energy?' }));
  const { lines } = (await client.explainBill({ billID: bill?.billID ?? 0 })).data;
  assert.equal(lines[0]?.amount, 500);
  const words = page.getByText(lines[0]?.text ?? '', { exact: true });
  await words.first().waitFor();
  await story.look(page);
  await hands.press(page.getByRole('link', { name: 'July' }));
  await page.getByRole('heading', { name: 'July' }).waitFor();
}

/** The sum is typed; another one is not taken. */
async function sendBills(story: Story, termID: number): Promise<void> {
  const { hands, page, street } = story;
  const { client } = street.place;
  await openTab(story, 'Post and send');
  await page.getByText('Numbers follow the format').waitFor();
  await hands.press(page.getByRole('button', { name: 'Post bills' }));
  await hands.type(page.getByLabel(/^Type the sum/), '1462.5');
  await page.getByText('This is not the sum of the term').waitFor();
  await hands.type(page.getByLabel(/^Type the sum/), '1462.50');
  await story.look(page);
  await hands.press(page.getByRole('button', { name: /^Post 6 bills/ }));
  await hands.press(page.getByRole('button', { name: 'Publish bills' }));
  await hands.press(page.getByRole('button', { name: 'Send bills' }));
  await page.getByText('The bills are sent.').waitFor();
  await page.getByRole('table', { name: 'Deliveries by channel' }).waitFor();
  await story.look(page);
  const { deliveries } = (await client.getDeliveries({ termID })).data;
  assert.equal(deliveries.length, 6);
}
