// The books of the accountant: the chart of accounts, journals, closed months and their exports.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { assertChecks } from '../support/checks.ts';
import { refuses } from '../support/client.ts';
import { doDailyWork } from '../support/daily-work.ts';
import { type Owing, openOwing } from '../support/owing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

async function file(place: Owing, month: string, format: 'CSV' | 'IIF') {
  const { data } = await place.client.exportMonth({ month, format });
  const bytes = Buffer.from(data.base64, 'base64');
  assert.equal(createHash('sha256').update(bytes).digest('hex'), data.sha256);
  return { ...data, text: bytes.toString() };
}

test('an accountant adds and renames accounts; codes are unique', async () => {
  const place = await openOwing(scene, 'books-accounts');
  const { client } = place;
  const power = { code: '4410', name: 'Power', kind: 'Income' } as const;
  await client.makeLedgerAccounts({ accounts: [power] });
  const again = client.makeLedgerAccounts({ accounts: [{ ...power, code: '4411' }, power] });
  await refuses(again, 'DUPLICATE', { field: 'accounts[1].code', statusCode: 409 });
  const twice = client.makeLedgerAccounts({
    accounts: [
      { ...power, code: '4412' },
      { ...power, code: '4412' },
    ],
  });
  await refuses(twice, 'DUPLICATE', { field: 'accounts[1].code' });
  await client.updateLedgerAccount({ data: { accountCode: '4410', name: 'Electricity' } });
  const { data } = await client.getLedgerAccounts({ accountCode: '4410' });
  assert.deepEqual(
    data.accounts.map(({ accountCode, name, kind, isControl }) => [
      accountCode,
      name,
      kind,
      isControl,
    ]),
    [['4410', 'Electricity', 'Income', 0]],
  );
  const unknown = client.updateLedgerAccount({ data: { accountCode: '9999', name: 'None' } });
  await refuses(unknown, 'LEDGER_ACCOUNT_NOT_FOUND', { field: 'data.accountCode' });
  const { data: all } = await client.getLedgerAccounts({});
  const codes = all.accounts.map((one) => one.accountCode);
  assert.ok(['SUSPENSE', 'CASH_DIFFERENCE', 'RESULT'].every((code) => codes.includes(code)));
  assert.ok(!codes.includes('4411') && !codes.includes('4412'), 'a refused call stores nothing');
});

test('journals show each booking with its lines', async () => {
  const place = await openOwing(scene, 'books-journals');
  const number = await place.connectOld();
  await place.bill({ [number]: 300 });
  const paymentID = await place.pay({ amount: 350, connectionNumber: number });
  const { data } = await place.client.getJournals({ sourceType: 'Payment' });
  const [journal] = data.journals;
  assert.deepEqual(
    [journal?.sourceID, journal?.createdBy],
    [paymentID, 'admin@books-journals.example'],
  );
  // 350 received: 300 of the bill, 50 into the wallet.
  assert.deepEqual(journal?.lines, [
    { accountCode: 'RECEIVABLE', debit: 0, credit: 300, component: null, connectionNumber: number },
    { accountCode: 'ADVANCE', debit: 0, credit: 50, component: null, connectionNumber: null },
    { accountCode: 'CASH', debit: 350, credit: 0, component: null, connectionNumber: null },
  ]);
  const { data: ofTax } = await place.client.getJournals({ accountCode: 'TAX' });
  assert.deepEqual(ofTax.journals, []);
  const { data: page } = await place.client.getJournals({ page: { pageNumber: 1, size: 1 } });
  assert.deepEqual(
    page.journals.map((one) => one.journalID),
    [journal?.journalID],
  );
});

test('what is booked for a closed month is posted on the first open day', async () => {
  const place = await openOwing(scene, 'books-months');
  await place.goTo('2027-01-20');
  const { client } = place;
  const number = await place.connectOld();
  await place.bill({ [number]: 500 });
  const early = client.closeMonth({ data: { month: '01/2027', reason: 'Too early' } });
  await refuses(early, 'INVALID_STATE', { field: 'data.month' });
  await place.goTo('2027-02-10');
  const { message } = await client.closeMonth({ data: { month: '01/2027', reason: 'Reconciled' } });
  assert.equal(message, '01/2027 is closed');
  const again = client.closeMonth({ data: { month: '01/2027', reason: 'Again' } });
  await refuses(again, 'MONTH_CLOSED', { statusCode: 409 });
  const paymentID = await place.pay({ amount: 200, paymentDate: '25/01/2027' });
  const { data } = await client.getPayments({ paymentID });
  const { paymentDate, postingDate } = data.payments[0] ?? {};
  assert.deepEqual([paymentDate, postingDate], ['25/01/2027', '01/02/2027']);
  const { data: shown } = await client.getJournals({ fromDate: '01/02/2027' });
  assert.deepEqual(
    shown.journals.map((one) => [one.postingDate, one.valueDate]),
    [['01/02/2027', '25/01/2027']],
  );
  await assertChecks(scene, place.tenantId);
});

test('the export of a closed month never changes; an opened month is exported anew', async () => {
  const place = await openOwing(scene, 'books-export');
  await place.goTo('2027-02-10');
  const { client } = place;
  const number = await place.connectOld();
  await place.bill({ [number]: 500 });
  const paid = await place.pay({ amount: 200, paymentDate: '09/02/2027' });
  const open = client.exportMonth({ month: '02/2027' });
  await refuses(open, 'INVALID_STATE', { field: 'month', statusCode: 409 });
  await place.goTo('2027-03-05');
  await client.closeMonth({ data: { month: '02/2027', reason: 'Reconciled' } });
  const first = await file(place, '02/2027', 'CSV');
  const lines = first.text.trimEnd().split('\r\n');
  assert.equal(
    lines[0],
    'journalID,lineNo,postingDate,sourceType,sourceID,description,accountCode,component,debit,credit',
  );
  assert.ok(lines.some((line) => line.includes(`,Payment,${paid},Payment R`)));
  const iif = await file(place, '02/2027', 'IIF');
  const amounts = iif.text
    .split('\r\n')
    .map((line) => line.split('\t'))
    .filter(([kind]) => kind === 'TRNS' || kind === 'SPL')
    .map((cells) => Math.round(Number(cells[5]) * 100));
  assert.equal(
    amounts.reduce((sum, amount) => sum + amount, 0),
    0,
  );
  await client.updateLedgerAccount({ data: { accountCode: 'CASH', name: 'Till' } });
  await client.reversePayment({ data: { paymentID: paid, reason: 'Bounced' } });
  await doDailyWork(scene, place.tenantId);
  const second = await file(place, '02/2027', 'CSV');
  assert.equal(second.sha256, first.sha256);
  await client.reopenMonth({ data: { month: '02/2027', reason: 'A payment was forgotten' } });
  await place.pay({ amount: 10, paymentDate: '28/02/2027' });
  await client.closeMonth({ data: { month: '02/2027', reason: 'Reconciled again' } });
  const third = await file(place, '02/2027', 'CSV');
  assert.notEqual(third.sha256, first.sha256);
  await assertChecks(scene, place.tenantId);
});

test('months are opened in reverse order, and the year end is carried back', async () => {
  const place = await openOwing(scene, 'books-year-end');
  await place.goTo('2027-12-10');
  const { client } = place;
  const number = await place.connectOld();
  await place.bill({ [number]: 500 });
  await place.goTo('2028-01-10');
  const closing = { month: '12/2027', reason: 'Year end', carryResult: true };
  const { message } = await client.closeMonth({ data: closing });
  assert.match(message, /^12\/2027 is closed; journal \d+ carries the result forward$/);
  const balances = async () => {
    const { data } = await client.getTrialBalance({});
    return Object.fromEntries(data.accounts.map((one) => [one.accountCode, one.balance]));
  };
  // The income of 500 is carried to the result of earlier years.
  const closed = await balances();
  assert.deepEqual([closed.INCOME, closed.RESULT, closed.RECEIVABLE], [0, -500, 500]);
  await place.goTo('2028-02-10');
  await client.closeMonth({ data: { month: '01/2028', reason: 'January' } });
  const wrong = client.reopenMonth({ data: { month: '12/2027', reason: 'Mistake' } });
  await refuses(wrong, 'INVALID_STATE', { field: 'data.month' });
  for (const month of ['01/2028', '12/2027']) {
    await client.reopenMonth({ data: { month, reason: 'Mistake' } });
  }
  const opened = await balances();
  assert.deepEqual([opened.INCOME, opened.RESULT], [-500, 0]);
  const never = client.reopenMonth({ data: { month: '12/2027', reason: 'Again' } });
  await refuses(never, 'INVALID_STATE');
  const bad = client.closeMonth({ data: { month: '13/2027', reason: 'No such month' } });
  await refuses(bad, 'INVALID_DATE', { field: 'data.month', statusCode: 400 });
  await assertChecks(scene, place.tenantId);
});
