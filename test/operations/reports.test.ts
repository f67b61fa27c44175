// Reports: aging, collection, revenue, taxes, consumption, unread meters and the bill register.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addSubscription,
  addTerm,
  billsOf,
  generate,
  openBillRun,
  post,
  unpost,
} from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { refuses } from '../support/client.ts';
import { doDailyWork } from '../support/daily-work.ts';
import { elec, elecA, elecB, elecC } from '../support/generated-term.ts';
import { openMetered } from '../support/metered.ts';
import { type Owing, openOwing } from '../support/owing.ts';
import type { Service } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { newOffer, newParty, subscribe } from '../support/subscriptions.ts';

const scene = await openScene();
scene.runJobs();

type Sent = Parameters<Owing['client']['getReport']>[0];

async function rowsOf(place: Owing, sent: Sent) {
  const { data } = await place.client.getReport(sent);
  return data;
}

const components = [
  { name: 'fee', label: 'Fee', type: 'Charge', manual: 'Optional' },
  { name: 'vat', label: 'VAT', type: 'Tax', manual: 'Optional' },
  { name: 'rebate', label: 'Rebate', type: 'Discount', manual: 'Optional' },
] as NonNullable<Service['components']>;

test('aging shows each customer once, and credits lessen what is oldest', async () => {
  const place = await openOwing(scene, 'report-aging');
  const number = await place.connectOld();
  const neighbour = await newParty(place.client, 'Neighbour');
  const other = await place.connectOld({ users: [{ partyNumber: neighbour }] });
  // Due 15/08/2026, 15/09 and 15/10; today is 01/01/2027.
  await place.bill({ [number]: 300, [other]: 70 });
  await place.bill({ [number]: 200 });
  await place.bill({ [number]: -50 });
  await place.pay({ amount: 30, connectionNumber: other });
  const { rows, totals, asOf, columns } = await rowsOf(place, { report: 'Aging' });
  assert.equal(asOf, '01/01/2027');
  assert.deepEqual(
    columns.map((one) => one.name),
    ['partyNumber', 'partyName', 'current', 'd1_30', 'd31_60', 'd61_90', 'over90', 'total'],
  );
  const none = { current: 0, d1_30: 0, d31_60: 0, d61_90: 0 };
  // 139 days late: 300 + 200 - 50 and 70 - 30.
  assert.deepEqual(
    rows.map(({ partyName: _, ...row }) => row),
    [
      { partyNumber: place.party, ...none, over90: 450, total: 450 },
      { partyNumber: neighbour, ...none, over90: 40, total: 40 },
    ],
  );
  assert.deepEqual(totals, { ...none, over90: 490, total: 490 });
  // As of 20/09/2026 the first bill is 36 days late, the second 5 days.
  const then = await rowsOf(place, { report: 'Aging', toDate: '20/09/2026' });
  assert.deepEqual(then.totals, { ...none, d31_60: 290, d1_30: 200, over90: 0, total: 490 });
  const { data: page, headers } = await place.client.getReport({
    report: 'Aging',
    page: { pageNumber: 1, size: 1 },
  });
  assert.deepEqual([page.rows[0]?.partyNumber, headers.get('x-total-count')], [neighbour, '2']);
  const { rows: ofOther } = await rowsOf(place, { report: 'Aging', serviceCode: 'NONE' });
  assert.deepEqual(ofOther, []);
  // A page has customers of the service alone, whatever others owe.
  const gas = await newOffer(place.client);
  const third = await newParty(place.client, 'Third');
  const days = { connectionDate: '01062026', billedThrough: '30062026' };
  const users = [{ partyNumber: third, connectionGroupLabel: 'Flat' }];
  const accounts = [{ title: 'Receivable' as const, balance: 90 }];
  await subscribe(place.client, { ...gas, ...days, users, accounts }, { batchUpload: true });
  const { rows: first } = await rowsOf(place, {
    ...{ report: 'Aging', serviceCode: gas.serviceCode },
    page: { pageNumber: 0, size: 1 },
  });
  assert.deepEqual(
    first.map((row) => [row.partyNumber, row.total]),
    [[third, 90]],
  );
});

test('aging is exact while bills are posted, moved, taken back and paid, folded or not', async () => {
  const place = await openOwing(scene, 'report-open');
  const { client } = place;
  const number = await place.connectOld();
  const other = await place.connectOld({
    users: [{ partyNumber: await newParty(client, 'Neighbour') }],
  });
  const empty = { current: 0, d1_30: 0, d31_60: 0, d61_90: 0, over90: 0, total: 0 };
  const shows = async (wanted: Partial<typeof empty>, parties: number) => {
    const page = { pageNumber: 0, size: 1 };
    const sent = { report: 'Aging', toDate: '20/09/2026', page } as const;
    const { data, headers } = await client.getReport(sent);
    assert.deepEqual(data.totals, { ...empty, ...wanted });
    assert.equal(headers.get('x-total-count'), String(parties));
    await assertChecks(scene, place.tenantId);
  };
  await shows({}, 0);
  // Due 15/08/2026: 36 days before the day of the report.
  const termID = await place.openMonth({ [number]: 300, [other]: 100 });
  await generate(place, termID);
  await post(place, termID);
  await shows({ d31_60: 400, total: 400 }, 2);
  await client.updateTerm({ data: { termID, dueDate: '10/09/2026' } });
  await shows({ d1_30: 400, total: 400 }, 2);
  await unpost(place, termID);
  await shows({}, 0);
  await generate(place, termID);
  await post(place, termID);
  await doDailyWork(scene, place.tenantId);
  const { rows } = await scene.sql.query('select from open_changes where tenant_id = $1', [
    place.tenantId,
  ]);
  assert.equal(rows.length, 0, 'every change is folded');
  await shows({ d1_30: 400, total: 400 }, 2);
  // 300 - 120 and 100 - 100; then 100 is open again.
  await place.pay({ amount: 120, connectionNumber: number });
  const paymentID = await place.pay({ amount: 100, connectionNumber: other });
  await shows({ d1_30: 180, total: 180 }, 1);
  await client.reversePayment({ data: { paymentID, reason: 'Bounced' } });
  await shows({ d1_30: 280, total: 280 }, 2);
  await doDailyWork(scene, place.tenantId);
  await shows({ d1_30: 280, total: 280 }, 2);
});

test('collection, revenue, taxes and the bill register agree with the ledger', async () => {
  const place = await openOwing(scene, 'report-sums', { components });
  const { client } = place;
  const number = await place.connectOld();
  const [bill] = await place.bill({ [number]: 300 });
  await place.pay({ amount: 100, paymentDate: '20/12/2026' });
  const wrong = await place.pay({ amount: 40, paymentMethod: 'Bank' });
  await client.reversePayment({ data: { paymentID: wrong, reason: 'Bounced' } });
  const taken = await rowsOf(place, { report: 'Collection' });
  assert.deepEqual(taken.rows, [
    { date: '20/12/2026', paymentMethod: 'Cash', payments: 1, amount: 100, reversed: 0, net: 100 },
    { date: '01/01/2027', paymentMethod: 'Bank', payments: 1, amount: 40, reversed: 40, net: 0 },
  ]);
  assert.deepEqual(taken.totals, { amount: 140, reversed: 40, net: 100 });
  const december = { report: 'Collection', fromDate: '01/12/2026', toDate: '31/12/2026' } as const;
  assert.deepEqual((await rowsOf(place, december)).totals, { amount: 100, reversed: 0, net: 100 });
  const revenue = await rowsOf(place, { report: 'Revenue' });
  assert.deepEqual(revenue.rows, [
    {
      ...{ accountCode: 'INCOME', accountName: 'Income', component: 'fee' },
      ...{ billed: 300, credited: 0, net: 300 },
    },
  ]);
  assert.deepEqual((await rowsOf(place, { report: 'TaxSummary' })).rows, []);
  const register = await rowsOf(place, { report: 'BillRegister' });
  assert.deepEqual(
    register.rows.map((row) => [
      row.billNumber,
      row.billAmount,
      row.paidAmount,
      row.outstandingAmount,
    ]),
    [[bill?.billNumber, 300, 100, 200]],
  );
  assert.equal(register.totals.outstandingAmount, 200);
  const backwards = { report: 'Revenue', fromDate: '02/01/2027', toDate: '01/01/2027' } as const;
  await refuses(client.getReport(backwards), 'INVALID_DATE', { field: 'fromDate' });
  const unknown = client.getReport({ report: 'Profit' as 'Aging' });
  await refuses(unknown, 'INVALID_ENUM', { field: 'report' });
});

test('a report is exported as lines of CSV', async () => {
  const place = await openOwing(scene, 'report-lines');
  const number = await place.connectOld();
  await place.bill({ [number]: 300 });
  const { data } = await place.client.exportData({ kind: 'Aging', toDate: '01/01/2027' });
  assert.equal(data.lines[0], 'partyNumber,partyName,current,d1_30,d31_60,d61_90,over90,total');
  assert.match(data.lines[1] ?? '', /^\d+,.*,0\.00,0\.00,0\.00,0\.00,300\.00,300\.00$/);
  assert.equal(data.lines.length, 2);
  const { data: unread } = await place.client.exportData({ kind: 'UnreadMeters' });
  assert.equal(unread.lines.length, 1);
  const cashier = await scene.loginAs(place.client, ['Billing Operator']);
  await refuses(cashier.exportData({ kind: 'Aging' }), 'PERMISSION_DENIED');
});

test('unread meters are those without a reading on the days, with their last reading', async () => {
  const { admin, hung } = await openMetered(scene, 'report-unread');
  const read = await hung({ value: '100' });
  const unread = await hung({ value: '7' });
  const reading = { number: read.number, readingDate: '15/12/2026', value: '150' };
  const later = { ...reading, readingDate: '01/01/2027', value: '160' };
  await admin.makeReadings({ readings: [reading, later] });
  const days = { fromDate: '01/12/2026', toDate: '31/12/2026' };
  const { data } = await admin.getReport({ report: 'UnreadMeters', ...days });
  assert.deepEqual(
    data.rows.map((row) => [row.connectionNumber, row.meterNumber, row.lastReadingDate]),
    [[unread.connection, unread.number, '01/01/2026']],
  );
  assert.deepEqual(data.totals, {});
});

test('consumption and taxes add up what posted bills have, by service and input', async () => {
  const run = await openBillRun(scene, elec);
  const termId = await addTerm(run);
  for (const scenario of [elecA, elecB, elecC]) await addSubscription(run, termId, scenario);
  await generate(run, termId);
  await post(run, termId);
  const bills = await billsOf(run, termId);
  const used = bills.map((bill) => {
    const usage = bill.usage as { input: string; quantity: string }[];
    return Number(usage.find((one) => one.input === 'energy')?.quantity);
  });
  const { data } = await run.client.getReport({ report: 'Consumption' });
  const energy = data.rows.find((row) => row.input === 'energy');
  assert.deepEqual(
    [energy?.serviceCode, energy?.bills, Number(energy?.quantity)],
    ['ELEC', 3, used.reduce((sum, one) => sum + one, 0)],
  );
  const { data: taxes } = await run.client.getReport({ report: 'TaxSummary', serviceCode: 'ELEC' });
  // 2222.66 + 1511.18 + 20.02
  assert.deepEqual(taxes.totals, { billed: 3753.86, credited: 0, net: 3753.86 });
  const { data: none } = await run.client.getReport({ report: 'Revenue', serviceCode: 'GAS' });
  assert.deepEqual(none.rows, []);
});
