// The console in a real browser: an operator bills a month and takes a payment, by mouse.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, figure, findBrowser, logIn, visit } from '../support/browser.ts';
import { openTestEquipment } from '../support/equipment.ts';
import { type Owing, openOwing } from '../support/owing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const equipment = openTestEquipment();
scene.runJobs({ equipment });
after(() => equipment.close());
const skip = findBrowser() === undefined;
const hostileName = '<img src=x onerror="document.title=1"> & Söhne';

test('an operator bills a term, reads a bill and takes a payment', { skip }, async () => {
  const place = await openOwing(scene, 'console-month');
  const termID = await openTerm(place);
  const { page, address, assertClean } = await visit(scene, 'console-month');

  // A link to a term leads over the login back to the term.
  await page.goto(`${address}/terms/${termID}`);
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  await assertAccessible(page);
  await logIn(page, 'admin@console-month.example', 'not the password');
  await page.getByRole('alert').getByText('password').waitFor();
  await logIn(page, 'admin@console-month.example');
  await page.getByText('No bills here').waitFor();
  await assertAccessible(page);
  await billTerm(page);
  await readBill(page, place, termID);
  await takePayment(page, place);
  await makeTerm(page, place);
  assertClean();
});

/** One customer, whose name is a script, and a fee of 1,234.50. */
async function openTerm(place: Owing): Promise<number> {
  const connectionNumber = await place.connectOld();
  await place.client.updateUser({ user: { partyNumber: place.party, name: hostileName } });
  const days = { startDate: '01/07/2026', endDate: '31/07/2026', dueDate: '31/12/2027' };
  const termID = await place.open(days);
  const compsData = [[connectionNumber, 'fee', '1234.50']];
  await place.client.postManualComponentValues({
    operation: 'schedule',
    data: { data: JSON.stringify({ termID, compsData }) },
  });
  return termID;
}

async function billTerm(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Generate bills' }).click();
  const bills = page.getByRole('table', { name: 'Bills' });
  await bills.getByRole('link').waitFor();
  assert.match(await bills.innerText(), /1,234\.50/);
  await figure(page, 'Charges').getByText('1,234.50').waitFor();
  // The sum is typed; another one is not taken.
  await page.getByRole('button', { name: 'Post bills' }).click();
  const confirm = page.getByRole('button', { name: /^Post 1 bills/ });
  await page.getByLabel(/^Type the sum/).fill('1234.5');
  assert.equal(await confirm.isDisabled(), true);
  await page.getByText('This is not the sum of the term').waitFor();
  await assertAccessible(page);
  await page.getByLabel(/^Type the sum/).fill('1234.50');
  await confirm.click();
  await page.getByRole('button', { name: 'Publish bills' }).click();
  await page.getByRole('button', { name: 'Send bills' }).waitFor();
}

/** As the API shows it, with its explanation and its file. */
async function readBill(page: Page, { client }: Owing, termID: number): Promise<void> {
  await page.getByRole('table', { name: 'Bills' }).getByRole('link').click();
  const [bill] = (await client.getBills({ termID })).data.bills;
  await page.getByRole('heading', { name: `Bill ${bill?.billNumber}` }).waitFor();
  await page.getByRole('link', { name: hostileName }).waitFor();
  await page.getByRole('button', { name: 'Why Fee?' }).click();
  const { lines } = (await client.explainBill({ billID: bill?.billID ?? 0 })).data;
  await page
    .getByText(lines[0]?.text ?? '', { exact: true })
    .first()
    .waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download the PDF' }).click();
  assert.equal((await download).suggestedFilename(), `${bill?.billNumber}.pdf`);
  await assertAccessible(page);
}

/** Refused at its field, then taken once: 1,234.50 - 1,000 = 234.50. */
async function takePayment(page: Page, place: Owing): Promise<void> {
  await page.getByRole('link', { name: hostileName }).click();
  await figure(page, 'Owes').getByText('1,234.50').waitFor();
  await page.getByRole('button', { name: 'Take a payment' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Amount').fill('-5');
  await form.getByRole('button', { name: 'Take a payment' }).click();
  await form.getByRole('alert').waitFor();
  assert.equal(await form.getByLabel('Amount').getAttribute('aria-invalid'), 'true');
  await assertAccessible(page);
  await form.getByLabel('Amount').fill('1000');
  await form.getByRole('button', { name: 'Take a payment' }).click();
  await figure(page, 'Owes')
    .getByText(/(^| )234\.50$/)
    .waitFor();
  assert.equal(await place.owed(), 234.5);
  await page.getByRole('tab', { name: 'Statement' }).click();
  const statement = page.getByRole('table', { name: 'Statement' });
  await statement.getByText('1,000.00').waitFor();
  assert.match(await statement.innerText(), /Closing balance\s+234\.50/);
  // While a year is typed nothing is asked, and the fields stay when the days are refused.
  const [from, to] = [page.getByLabel('From'), page.getByLabel('To', { exact: true })];
  await from.fill('2027-06-01');
  await to.focus();
  await page.keyboard.type('01312027');
  await page.getByRole('alert', { name: 'That did not work' }).waitFor();
  assert.equal(await to.inputValue(), '2027-01-31');
  await from.fill('2026-01-01');
  await statement.getByText('1,000.00').waitFor();
  await assertAccessible(page);
  await page.getByRole('link', { name: 'Payments' }).click();
  await page.getByRole('table', { name: 'Payments' }).getByText('1,000.00').waitFor();
  await assertAccessible(page);
}

/** The next month: days in the wrong order are refused at their field. */
async function makeTerm(page: Page, { client }: Owing): Promise<void> {
  await page.getByRole('link', { name: 'Bill runs' }).click();
  await page.getByRole('button', { name: 'New term' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Term').fill('August');
  await form.getByLabel('First day').fill('2026-08-31');
  await form.getByLabel('Last day').fill('2026-08-01');
  await form.getByRole('button', { name: 'Create the term' }).click();
  await form.getByRole('alert').waitFor();
  await assertAccessible(page);
  await form.getByLabel('First day').fill('2026-08-01');
  await form.getByLabel('Last day').fill('2026-08-31');
  await form.getByRole('button', { name: 'Create the term' }).click();
  await page.getByRole('heading', { name: 'August' }).waitFor();
  const { terms } = (await client.getTerms({ status: 'Open' })).data;
  assert.deepEqual(
    terms.map(({ label, startDate, endDate }) => [label, startDate, endDate]),
    [['August', '01/08/2026', '31/08/2026']],
  );
}
