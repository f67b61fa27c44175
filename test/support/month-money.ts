// The money of the month in the console: the desk, the bank's file, and the books that are closed.
import assert from 'node:assert/strict';
import { figure } from './browser.ts';
import { csvFile } from './hands.ts';
import { goTo, type Story, shown } from './month-story.ts';

/** Of 1,462.50 the customer pays 400 at the desk, and 100 and 200 through the bank. */
export async function tellMoney(story: Story): Promise<void> {
  await takeCash(story);
  await importFile(story);
  await closeBooks(story);
}

async function owed({ street: { place } }: Story): Promise<number> {
  const { user } = (await place.client.getUsers({ partyNumber: place.party })).data;
  return user.outstandingAccount.balance;
}

async function takeCash(story: Story): Promise<void> {
  const { hands, page } = story;
  await goTo(story, 'Cash desk');
  await hands.press(page.getByRole('button', { name: 'New desk' }));
  const form = page.getByRole('dialog');
  await hands.type(form.getByLabel('Code'), 'GATE');
  await hands.type(form.getByLabel('Name'), 'Counter at the gate');
  await hands.press(form.getByRole('button', { name: 'New desk' }));
  await form.waitFor({ state: 'detached' });
  await hands.type(page.getByLabel('Name, number, phone, meter or bill'), 'Asma Khan');
  await hands.press(page.getByRole('button', { name: 'Find' }));
  await page
    .getByText(shown(await owed(story)))
    .first()
    .waitFor();
  await hands.type(page.getByLabel('Amount'), '400');
  await story.look(page);
  await hands.press(page.getByRole('button', { name: 'Take 400' }));
  await page.getByRole('button', { name: 'Receipt as PDF' }).waitFor();
  assert.equal(await owed(story), 1062.5);
  await figure(page, 'Cash today, 1 payment').getByText('400.00').waitFor();
}

/** One line names the subscription and is posted; one names nothing and is matched by hand. */
async function importFile(story: Story): Promise<void> {
  const { hands, page, street } = story;
  const { connection = '' } = street.houses[0] ?? {};
  await goTo(story, 'Bank');
  await page.getByText('No bank file yet').waitFor();
  await hands.press(page.getByRole('button', { name: 'Columns of a bank' }));
  const form = page.getByRole('dialog');
  const columns = { 'Name of the bank': 'First Bank', Date: 'date', Amount: 'amount' };
  const others = { Reference: 'reference', Payer: 'payer', 'Transaction number': 'id' };
  for (const [label, column] of Object.entries({ ...columns, ...others })) {
    // A field that has to be filled is marked by a star.
    await hands.type(form.getByLabel(new RegExp(`^${label}( \\*)?$`)), column);
  }
  await hands.press(form.getByRole('button', { name: 'Columns of a bank' }));
  await form.waitFor({ state: 'detached' });
  await hands.press(page.getByRole('button', { name: 'Import a file' }));
  const rows = [
    'date,amount,reference,payer,id',
    `01/09/2026,100.00,${connection},A,T1`,
    '01/09/2026,200.00,,B,T2',
  ];
  const file = csvFile('september.csv', rows.join('\n'));
  await hands.chooseFile(form.getByLabel('File'), file);
  await hands.press(form.getByRole('button', { name: 'Try it: count only' }));
  await form.getByRole('status').waitFor();
  await hands.press(form.getByRole('button', { name: 'Import a file' }));
  await page.getByRole('heading', { name: 'september.csv' }).waitFor();
  const lines = page.getByRole('table', { name: 'Lines' });
  await lines.getByText('Unmatched').waitFor();
  await story.look(page);
  await hands.press(lines.getByRole('button', { name: 'Another payer' }));
  await hands.type(form.getByLabel('Subscription'), connection);
  await hands.press(form.getByRole('button', { name: 'Another payer' }));
  await lines.getByText('Unmatched').waitFor({ state: 'detached' });
  assert.equal(await owed(story), 762.5);
}

/** The screen shows the balance of every account as the API has it; then July is closed. */
async function closeBooks(story: Story): Promise<void> {
  const { hands, page, street } = story;
  const { client } = street.place;
  await goTo(story, 'Books');
  await page.getByText('the difference is 0').waitFor();
  const { accounts } = (await client.getTrialBalance({})).data;
  const table = page.getByRole('table', { name: 'Trial balance' });
  for (const { accountCode, balance } of accounts) {
    const row = table.getByRole('row', { name: accountCode });
    await row.getByText(shown(balance)).first().waitFor();
  }
  await story.look(page);
  await hands.press(page.getByRole('button', { name: 'Close a month' }));
  const form = page.getByRole('dialog');
  await hands.type(form.getByRole('textbox', { name: 'Month' }), '07/2026');
  await hands.type(form.getByLabel('Reason'), 'The month is billed');
  await hands.press(form.getByRole('button', { name: 'Close a month' }));
  await form.waitFor({ state: 'detached' });
}
