// Money in the console: the cash desk, the bank's file, the books, collections.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Bank, openBank } from '../support/bank.ts';
import { assertAccessible, figure, findBrowser, logIn, visit } from '../support/browser.ts';
import { openTestEquipment } from '../support/equipment.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const equipment = openTestEquipment();
scene.runJobs({ equipment });
after(() => equipment.close());
const skip = findBrowser() === undefined;

test('a cashier takes a payment and closes the day; the bank file and the books follow', {
  skip,
}, async () => {
  const bank = await openBank(scene, 'console-money');
  const connectionNumber = await bank.connectOld();
  await bank.bill({ [connectionNumber]: 1000 });
  const { page, address, assertClean } = await visit(scene, 'console-money');
  await page.goto(`${address}/cash-desk`);
  await logIn(page, 'admin@console-money.example');
  await takeCash(page, bank, connectionNumber);
  await closeDay(page);
  await importFile(page, bank, connectionNumber);
  await readBooks(page, bank);
  await readSubscription(page, bank, connectionNumber);
  await findAnything(page, connectionNumber);
  for (const place of ['Collections', 'Reports']) {
    await page.getByRole('link', { name: place }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByRole('progressbar').waitFor({ state: 'detached' });
    await assertAccessible(page);
  }
  assertClean();
});

/** Of 1,000 the customer pays 400 at the counter: 600 is left. */
async function takeCash(page: Page, bank: Bank, connectionNumber: string): Promise<void> {
  await page.getByText('No cash desk yet').waitFor();
  await page.getByRole('button', { name: 'New desk' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Code').fill('gate');
  await form.getByLabel('Name').fill('Counter at the gate');
  await form.getByRole('button', { name: 'New desk' }).click();
  await form.getByRole('alert').waitFor();
  await form.getByLabel('Code').fill('GATE');
  await form.getByRole('button', { name: 'New desk' }).click();
  await form.waitFor({ state: 'detached' });
  await page.getByLabel('Name, number, phone, meter or bill').fill(connectionNumber);
  await page.getByRole('button', { name: 'Find' }).click();
  const amount = page.getByLabel('Amount');
  await amount.waitFor();
  assert.equal(await amount.inputValue(), '1000');
  await assertAccessible(page);
  await amount.fill('');
  await page.getByRole('button', { name: '4', exact: true }).click();
  await page.keyboard.type('00');
  await page.getByRole('button', { name: 'Take 400' }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Receipt as PDF' }).click();
  assert.match((await download).suggestedFilename(), /^receipt-\d+\.pdf$/);
  assert.equal(await bank.owed(), 600);
  // What is left is shown, and not offered for a second payment.
  await page.getByText('Owes: PKR 600.00').waitFor();
  assert.equal(await amount.inputValue(), '');
  assert.equal(await page.getByRole('button', { name: 'Take' }).isDisabled(), true);
}

/** 390 is counted: the difference of 10 needs a reason. */
async function closeDay(page: Page): Promise<void> {
  await figure(page, 'Cash today, 1 payment').getByText('400.00').waitFor();
  await page.getByLabel('Another day').fill('2026-07-01');
  await page.getByText('The desk took nothing on this day').waitFor();
  await page.getByLabel('Another day').fill('');
  await page.getByRole('button', { name: 'Close the day' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Counted: Cash').fill('390');
  await form.getByRole('button', { name: 'Close the day' }).click();
  await form.getByRole('alert').waitFor();
  await form.getByLabel('Reason').fill('A note of 10 was missing');
  await form.getByRole('button', { name: 'Close the day' }).click();
  await page.getByText('10.00 too little').waitFor();
  await page.getByText('The desk is closed for today').waitFor();
}

/** One line names the subscription and is posted; one names nothing and is matched by hand. */
async function importFile(page: Page, bank: Bank, connectionNumber: string): Promise<void> {
  await page.getByRole('link', { name: 'Bank' }).click();
  await page.getByText('No bank file yet').waitFor();
  await assertAccessible(page);
  await page.getByRole('button', { name: 'Import a file' }).click();
  const form = page.getByRole('dialog');
  const rows = [
    'date,amount,reference,payer,text,account,id',
    `01/09/2026,100.00,${connectionNumber},A,bill,,T1`,
    '01/09/2026,200.00,,B,no reference,,T2',
  ];
  const file = {
    name: 'september.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(rows.join('\n')),
  };
  await page.locator('input[type=file]').setInputFiles(file);
  await form.getByRole('button', { name: 'Try it: count only' }).click();
  await form.getByRole('status').waitFor();
  assert.equal((await bank.lines()).length, 0);
  await form.getByRole('button', { name: 'Import a file' }).click();
  await page.getByRole('heading', { name: 'september.csv' }).waitFor();
  const lines = page.getByRole('table', { name: 'Lines' });
  await lines.getByText('Unmatched').waitFor();
  await assertAccessible(page);
  await lines.getByRole('button', { name: 'Another payer' }).click();
  const match = page.getByRole('dialog');
  await match.getByLabel('Subscription').fill('none such');
  await match.getByRole('button', { name: 'Another payer' }).click();
  await match.getByRole('alert').waitFor();
  await match.getByLabel('Subscription').fill(connectionNumber);
  await match.getByRole('button', { name: 'Another payer' }).click();
  await lines.getByText('Unmatched').waitFor({ state: 'detached' });
  // 600 - 100 - 200 = 300.
  assert.equal(await bank.owed(), 300);
}

async function readBooks(page: Page, bank: Bank): Promise<void> {
  await page.getByRole('link', { name: 'Books' }).click();
  await page.getByText('the difference is 0').waitFor();
  const { accounts } = (await bank.client.getTrialBalance({})).data;
  const table = await page.getByRole('table', { name: 'Trial balance' }).innerText();
  for (const { accountCode } of accounts) assert.match(table, new RegExp(accountCode));
  await assertAccessible(page);
  await page.getByRole('link', { name: 'Payments' }).click();
  const payments = page.getByRole('table', { name: 'Payments' });
  await payments.getByRole('link', { name: 'GATE-' }).click();
  await page.getByRole('heading', { name: /^Payment GATE-/ }).waitFor();
  await page.getByRole('button', { name: 'Reverse' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Reason').fill('Taken twice');
  await assertAccessible(page);
  await form.getByRole('button', { name: 'Reverse' }).click();
  // The day of the desk is closed, so the payment stays.
  await Promise.race([form.getByRole('alert').waitFor(), page.getByText('Reversed on').waitFor()]);
}

/** The plan, the state and its history; disconnected from today. */
async function readSubscription(page: Page, bank: Bank, number: string): Promise<void> {
  await page.goto(new URL(`/subscriptions/${number}`, page.url()).href);
  await page.getByRole('heading', { name: `Subscription ${number}` }).waitFor();
  await assertAccessible(page);
  await page.getByRole('button', { name: 'Disconnect' }).click();
  const form = page.getByRole('dialog');
  await form.getByText('The supply stops on that day').waitFor();
  await assertAccessible(page);
  await form.getByRole('button', { name: 'Disconnect' }).click();
  await page.getByRole('button', { name: 'Reconnect' }).waitFor();
  const [shown] = (await bank.client.getConnections({ connectionNumber: number })).data.connections;
  assert.equal(shown?.status, 'Disconnected');
}

/** A key opens the search from anywhere; its result leads to the page. */
async function findAnything(page: Page, number: string): Promise<void> {
  await page.getByRole('link', { name: 'Books' }).click();
  await page.getByRole('heading', { name: 'Books' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByPlaceholder('Number, name, phone').fill(number);
  const found = page.getByText(`${number} ·`).first();
  await found.waitFor();
  await assertAccessible(page);
  await found.click();
  await page.getByRole('heading', { name: `Subscription ${number}` }).waitFor();
  await page.keyboard.press('Shift+?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  await page.keyboard.press('Escape');
}
