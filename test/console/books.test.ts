// The books in a real browser: the chart of accounts, where a charge is booked, and a payment that
// settled the wrong bills.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { assertAccessible, findBrowser } from '../support/browser.ts';
import { openScreen } from '../support/console-login.ts';
import { openTestEquipment } from '../support/equipment.ts';
import { openOwing } from '../support/owing.ts';
import { newService, shownService } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { excessWidth, phone } from '../support/screen-faults.ts';
import { settled } from '../support/screens.ts';

const scene = await openScene();
const equipment = openTestEquipment();
scene.runJobs({ equipment });
after(() => equipment.close());
const skip = findBrowser() === undefined;

test('a manager adds an account, renames it, and books a charge and payments on accounts', {
  skip,
}, async () => {
  const client = await scene.workspace('console-accounts');
  const code = await newService(client);
  const { page, assertClean } = await openScreen(scene, 'console-accounts', '/ledger?tab=accounts');
  const accounts = page.getByRole('table', { name: 'Accounts', exact: true });
  await accounts.getByText('Receivable').first().waitFor();
  await addAccount(page, { code: 'INCOME', name: 'Sales' }, 'choose another');
  await addAccount(page, { code: '4410', name: 'Electricity sold' });
  await addAccount(page, { code: '1010', name: 'Bank of the city', kind: 'Asset' });
  const sold = accounts.getByRole('row', { name: /4410/ });
  await sold.getByRole('button', { name: 'Rename' }).click();
  const form = page.getByRole('dialog', { name: 'Rename' });
  await form.getByLabel('Name').fill('Energy sold');
  await form.getByRole('button', { name: 'Rename' }).click();
  await accounts.getByText('Energy sold').waitFor();

  await page
    .getByRole('table', { name: 'Where charges are booked' })
    .getByText(code)
    .first()
    .click();
  const lines = page.getByRole('region', { name: 'Lines of bills' });
  await lines.getByLabel('Account', { exact: true }).first().selectOption('4410');
  await page.getByLabel('Account of payments').selectOption({ label: '1010 · Bank of the city' });
  await page.getByRole('button', { name: 'Save the service' }).click();
  await page.getByText('The service is saved').waitFor();
  const { components, cashAccountID } = await shownService(client, code);
  const { data } = await client.getLedgerAccounts();
  const made = data.accounts.filter(({ accountCode }) => /^(4410|1010)$/.test(accountCode));
  assert.deepEqual(
    made.map((one) => [one.accountCode, one.name, one.kind]),
    [
      ['4410', 'Energy sold', 'Income'],
      ['1010', 'Bank of the city', 'Asset'],
    ],
  );
  assert.equal(components?.[0]?.account, '4410');
  assert.equal(cashAccountID, made[1]?.ledgerAccountID);

  // The code leads to the journals of the account.
  await page.goto(new URL('/ledger?tab=accounts', page.url()).href);
  await page.getByRole('table', { name: 'Where charges' }).getByText('4410').waitFor();
  await assertAccessible(page);
  await page.setViewportSize(phone);
  await settled(page);
  assert.equal(await excessWidth(page), 0);
  await accounts.getByRole('link', { name: '4410' }).click();
  await page.getByText('No journals here').waitFor();
  assert.equal(await page.getByLabel('Account', { exact: true }).inputValue(), '4410');
  assertClean();
});

type Wanted = { code: string; name: string; kind?: string };

async function addAccount(page: Page, wanted: Wanted, refusal?: string): Promise<void> {
  await page.getByRole('button', { name: 'New account' }).click();
  const form = page.getByRole('dialog', { name: 'New account' });
  await form.getByLabel('Code').fill(wanted.code);
  await form.getByLabel('Name').fill(wanted.name);
  if (wanted.kind) await form.getByLabel('Kind').selectOption(wanted.kind);
  await form.getByRole('button', { name: 'New account' }).click();
  if (refusal === undefined) return form.waitFor({ state: 'detached' });
  await form.getByRole('alert').getByText(refusal).waitFor();
  assert.equal(await form.getByLabel('Code').getAttribute('aria-invalid'), 'true');
  await assertAccessible(page);
  await page.keyboard.press('Escape');
  page.once('dialog', (question) => question.accept());
  if (await form.isVisible()) await page.keyboard.press('Escape');
  await form.waitFor({ state: 'detached' });
}

test('an auditor reads the chart of accounts and is offered no change of it', {
  skip,
}, async () => {
  const client = await scene.workspace('console-auditor');
  const auditor = await scene.loginAs(client, ['Auditor']);
  assert.ok(auditor);
  const { logins } = (await client.getLogins({})).data;
  const { page } = await openScreen(
    scene,
    'console-auditor',
    '/ledger?tab=accounts',
    logins.at(-1)?.username,
  );
  await page.getByRole('table', { name: 'Accounts', exact: true }).waitFor();
  assert.equal(await page.getByRole('button', { name: /New account|Rename/ }).count(), 0);
});

test('a manager settles August with a payment that settled July', { skip }, async () => {
  const place = await openOwing(scene, 'console-reallocate');
  const { client } = place;
  const number = await place.connectOld();
  await place.bill({ [number]: 100 });
  await place.bill({ [number]: 200 });
  // 100 to July, 150 to August.
  const paymentID = await place.pay({ amount: 250 });
  assert.deepEqual(await place.left(), [0, 50]);
  const { page, assertClean } = await openScreen(
    scene,
    'console-reallocate',
    `/payments/${paymentID}`,
  );
  await page.getByRole('button', { name: 'Settle other bills' }).click();
  const form = page.getByRole('dialog', { name: 'Settle other bills' });
  const [july, august] = [form.getByRole('textbox').nth(0), form.getByRole('textbox').nth(1)];
  await august.waitFor();
  assert.deepEqual([await july.inputValue(), await august.inputValue()], ['100', '150']);
  await july.fill('');
  await august.fill('1,000');
  await form.getByText('Write digits, and a point before the decimals').waitFor();
  await august.fill('201');
  await form.getByText(/Into the wallet: .*49\.00/).waitFor();
  await form.getByLabel('Reason').fill('For August');
  await form.getByRole('button', { name: /^Settle .*201\.00/ }).click();
  await form.getByRole('alert').waitFor();
  assert.equal(await august.getAttribute('aria-invalid'), 'true');
  assert.equal(await july.getAttribute('aria-invalid'), null);
  await assertAccessible(page);
  await august.fill('200');
  await form.getByRole('button', { name: /^Settle .*200\.00/ }).click();
  await form.waitFor({ state: 'detached' });
  // July is open again; 250 - 200 is in the wallet.
  assert.deepEqual(await place.left(), [100, 0]);
  assert.equal(await place.wallet(), 50);
  const [payment] = (await client.getPayments({ paymentID })).data.payments;
  assert.deepEqual([payment?.allocations?.length, payment?.walletAmount], [1, 50]);

  // A link to a payment or a bill that does not exist says so.
  await page.goto(new URL('/payments/none', page.url()).href);
  await page.getByText('Nothing is here').waitFor();
  await page.goto(new URL('/bills/999999', page.url()).href);
  await page.getByText('Nothing is here').waitFor();
  assertClean();
});

test('a manager moves a payment to another customer, and reverses it with a fee', {
  skip,
}, async () => {
  const place = await openOwing(scene, 'console-moved');
  const { client } = place;
  const made = await client.makeUsers({ userType: 'customer', users: [{ name: 'B. Khan' }] });
  const other = Number(made.headers.get('x-party-number'));
  const paymentID = await place.pay({ amount: 250 });
  const path = `/payments/${paymentID}`;
  const { page, assertClean } = await openScreen(scene, 'console-moved', path);
  await page.getByRole('button', { name: 'Move to another customer' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Reason').fill('Named the wrong house');
  await form.getByRole('button', { name: 'Move to another customer' }).click();
  await form.getByRole('alert').waitFor();
  const number = form.getByLabel('Or to the customer with the number');
  assert.equal(await number.getAttribute('aria-invalid'), 'true');
  await number.fill(String(other));
  await form.getByRole('button', { name: 'Move to another customer' }).click();
  await form.waitFor({ state: 'detached' });
  assert.deepEqual([await place.wallet(), await place.wallet(other)], [0, 250]);

  const { payments } = (await client.getPayments({ partyNumber: other })).data;
  await page.goto(new URL(`/payments/${payments[0]?.paymentID}`, page.url()).href);
  await page.getByRole('button', { name: 'Reverse' }).click();
  await form.getByLabel('Reason').fill('The bank returned it');
  await form.getByLabel('Fee for it').fill('Returned cheque');
  await form.getByLabel('Amount of the fee').fill('25');
  await assertAccessible(page);
  await form.getByRole('button', { name: 'Reverse' }).click();
  await page.getByText('Reversed on').waitFor();
  assert.deepEqual([await place.wallet(other), await place.owed(other)], [0, 25]);
  assertClean();
});
