// Credit notes: components of posted bills are credited, in part or as a whole.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertChecks, resultsOf } from '../support/checks.ts';
import { refuses } from '../support/client.ts';
import { type Owing, openOwing } from '../support/owing.ts';
import type { Service } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { bookSurcharge } from '../support/surcharges.ts';
import { seal, tamper } from '../support/tampering.ts';

const scene = await openScene();
scene.runJobs();

const components = [
  { name: 'energy', label: 'Energy', type: 'Charge' },
  { name: 'vat', label: 'VAT', type: 'Tax' },
  { name: 'rebate', label: 'Rebate', type: 'Discount' },
].map((component) => ({ ...component, manual: 'Optional' })) as NonNullable<Service['components']>;

type Note = Parameters<Owing['client']['makeCreditNotes']>[0]['creditNotes'][number];

function credit(place: Owing, note: Omit<Note, 'reason'>) {
  return place.client.makeCreditNotes({ creditNotes: [{ reason: 'Misread', ...note }] });
}

async function balances(place: Owing): Promise<number[]> {
  return [await place.owed(), await place.wallet()];
}

async function accounts(place: Owing): Promise<Record<string, number | undefined>> {
  const { data } = await place.client.getTrialBalance({});
  return Object.fromEntries(data.accounts.map((one) => [one.accountCode, one.balance]));
}

test('a credit note above what is open returns what was paid to the wallet, and a reversal takes it', async () => {
  const place = await openOwing(scene, 'credit-paid');
  const number = await place.connectOld();
  const [bill] = await place.bill({ [number]: 1000 });
  const billID = bill?.billID ?? 0;
  const paymentID = await place.pay({ amount: 800 });
  await credit(place, { billID, lines: [{ component: 'fee', amount: 300 }] });
  // 1000 - 300 credited = 700 paid; 100 of the 800 is back in the wallet
  assert.deepEqual(await balances(place), [0, 100]);
  await place.client.reversePayment({ data: { paymentID, reason: 'Bounced' } });
  assert.deepEqual(await balances(place), [700, 0]);
  const { data } = await place.client.getBills({ billID });
  assert.deepEqual(data.bills[0]?.components?.map(Object.values), [['fee', 1000, 300, 0, 700]]);
  await assertChecks(scene, place.tenantId);
});

test('the seal of a credit note covers its lines', async () => {
  const place = await openOwing(scene, 'credit-sealed');
  const number = await place.connectOld();
  const [bill] = await place.bill({ [number]: 100 });
  await credit(place, { billID: bill?.billID ?? 0, lines: [{ component: 'fee', amount: 30 }] });
  await seal(scene);
  const change = (component: string) =>
    tamper(
      scene,
      `update credit_note_lines set component = '${component}' where tenant_id = ${place.tenantId}`,
    );
  await change('other');
  const wrong = (await resultsOf(scene, place.tenantId)).filter((one) => one.wrong > 0);
  assert.deepEqual(
    wrong.flatMap((one) => [one.check, ...one.examples]),
    ['L17', 'credit-note 1 was changed'],
  );
  await change('fee');
  await assertChecks(scene, place.tenantId);
});

test('a component is credited up to what was billed of it, and fullBill credits the rest', async () => {
  const place = await openOwing(scene, 'credit-lines', { components });
  const number = await place.connectOld();
  const [bill] = await place.bill({ [number]: { energy: 900, vat: 100 } });
  const billID = bill?.billID ?? 0;
  const above = credit(place, { billID, lines: [{ component: 'energy', amount: 901 }] });
  const field = 'creditNotes[0].lines[0].amount';
  await refuses(above, 'AMOUNT_ABOVE_OPEN', { statusCode: 422, field });
  await credit(place, { billID, lines: [{ component: 'energy', amount: 500 }], reference: 'C1' });
  assert.deepEqual(await balances(place), [500, 0]);
  await credit(place, { billID, fullBill: true });
  const { data } = await place.client.getCreditNotes({ billID });
  assert.deepEqual(
    data.creditNotes.map((one) => [one.creditNoteNumber, one.reference, one.amount, one.lines]),
    [
      ['CN-2027-000001', 'C1', 500, [{ component: 'energy', amount: 500 }]],
      [
        'CN-2027-000002',
        'CN-2027-000002',
        500,
        [
          { component: 'vat', amount: 100 },
          { component: 'energy', amount: 400 },
        ],
      ],
    ],
  );
  const { INCOME, TAX, RECEIVABLE } = await accounts(place);
  assert.deepEqual([INCOME, TAX, RECEIVABLE], [0, 0, 0]);
  await refuses(credit(place, { billID, fullBill: true }), 'AMOUNT_ABOVE_OPEN', {
    field: 'creditNotes[0].fullBill',
  });
  await assertChecks(scene, place.tenantId);
});

test('cancelling credits what credit notes and adjustments left, and returns what was paid', async () => {
  const place = await openOwing(scene, 'credit-cancel', { components });
  const connectionNumber = await place.connectOld();
  const charges = { energy: 900, vat: 100, rebate: -50 };
  const [bill] = await place.bill({ [connectionNumber]: charges });
  const billID = bill?.billID ?? 0;
  await credit(place, { billID, lines: [{ component: 'energy', amount: 200 }] });
  const given = { connectionNumber, component: 'energy', reason: 'Goodwill', billID };
  await place.client.makeAdjustments({
    adjustments: [
      { ...given, reference: 'CA1', kind: 'Credit', amount: -60 },
      { ...given, reference: 'CA2', kind: 'WriteOff', amount: -40 },
    ],
  });
  await place.pay({ amount: 100 });
  // 950 - 200 - 60 - 40 - 100
  assert.deepEqual(await balances(place), [550, 0]);
  await place.client.cancelBill({ data: { billID, reason: 'Wrong' } });
  assert.deepEqual(await balances(place), [0, 100]);
  const { data } = await place.client.getCreditNotes({ billID });
  // 950 - 200 - 60 - 40
  assert.deepEqual(
    data.creditNotes.map((one) => [one.amount, one.walletAmount, one.cancelsBill]),
    [
      [200, 0, false],
      [650, 100, true],
    ],
  );
  const { data: shown } = await place.client.getBills({ billID });
  assert.equal(shown.bills[0]?.creditNoteNumber, data.creditNotes[1]?.creditNoteNumber);
  await assertChecks(scene, place.tenantId);
});

test('cancelling a bill with a surcharge takes both back', async () => {
  const place = await openOwing(scene, 'credit-surcharge');
  const number = await place.connectOld();
  const [bill] = await place.bill({ [number]: 1000 });
  const billID = bill?.billID ?? 0;
  await bookSurcharge(scene, place.tenantId, billID, 10_000);
  await place.pay({ amount: 400 });
  assert.deepEqual(await balances(place), [700, 0]);
  await place.client.cancelBill({ data: { billID, reason: 'Wrong' } });
  assert.deepEqual(await balances(place), [0, 400]);
  await assertChecks(scene, place.tenantId);
});

test('a credit note of a bill of several subscriptions credits them in the order of their ids', async () => {
  const place = await openOwing(scene, 'credit-account', { postType: 'Post Account' });
  const users = [{ partyNumber: place.party, connectionGroupLabel: 'House' }];
  const first = await place.connectOld({ users });
  const second = await place.connectOld({ users });
  const [bill] = await place.bill({ [first]: 60, [second]: 40 });
  const billID = bill?.billID ?? 0;
  await credit(place, { billID, lines: [{ component: 'fee', amount: 70 }] });
  const owed = async (connectionNumber: string) => {
    const { data } = await place.client.getConnections({ connectionNumber });
    return data.connections[0]?.accounts?.find((one) => one.title === 'Receivable')?.balance;
  };
  assert.deepEqual([await owed(first), await owed(second)], [0, 30]);
  const above = credit(place, { billID, lines: [{ component: 'fee', amount: 30.01 }] });
  await refuses(above, 'AMOUNT_ABOVE_OPEN', { statusCode: 422 });
  await assertChecks(scene, place.tenantId);
});

test('a reference is credited once for ever; of several rows all are made or none', async () => {
  const place = await openOwing(scene, 'credit-reference');
  const number = await place.connectOld();
  const [bill] = await place.bill({ [number]: 100 });
  const billID = bill?.billID ?? 0;
  const lines = [{ component: 'fee', amount: 60 }];
  const { headers } = await credit(place, { billID, lines, reference: 'X' });
  const again = await credit(place, { billID, lines, reference: 'X' });
  assert.equal(again.headers.get('x-resource-id'), headers.get('x-resource-id'));
  assert.equal(await place.owed(), 40);
  const other = credit(place, { billID, lines: [{ component: 'fee', amount: 1 }], reference: 'X' });
  await refuses(other, 'DUPLICATE', { statusCode: 409, field: 'creditNotes[0].reference' });
  const reason = 'Misread';
  const two = place.client.makeCreditNotes({
    creditNotes: [
      { billID, reason, lines: [{ component: 'fee', amount: 30 }] },
      { billID, reason, lines: [{ component: 'fee', amount: 10.01 }] },
    ],
  });
  await refuses(two, 'AMOUNT_ABOVE_OPEN', { field: 'creditNotes[1].lines[0].amount' });
  assert.equal(await place.owed(), 40);
  await assertChecks(scene, place.tenantId);
});

test('a credit note has a document with its lines, its reason and its bill', async () => {
  const place = await openOwing(scene, 'credit-document', { components });
  const number = await place.connectOld();
  const [bill] = await place.bill({ [number]: { energy: 900, vat: 100 } });
  const billID = bill?.billID ?? 0;
  await place.pay({ amount: 800 });
  const lines = [
    { component: 'energy', amount: 450 },
    { component: 'vat', amount: 50 },
  ];
  const { headers } = await credit(place, { billID, lines });
  const creditNoteID = Number(headers.get('x-resource-id'));
  const { data } = await place.client.getCreditNoteDocument({ creditNoteID, format: 'HTML' });
  const html = Buffer.from(data.base64, 'base64').toString();
  const words = [
    'CN-2027-000001',
    bill?.billNumber ?? '?',
    'Energy',
    '450.00',
    'Misread',
    '300.00',
  ];
  for (const word of words) assert.ok(html.includes(word), word);
  const { data: pdf } = await place.client.getCreditNoteDocument({ creditNoteID });
  assert.equal(Buffer.from(pdf.base64, 'base64').toString('latin1', 0, 5), '%PDF-');
  const missing = place.client.getCreditNoteDocument({ creditNoteID: 99 });
  await refuses(missing, 'CREDIT_NOTE_NOT_FOUND', { statusCode: 404, field: 'creditNoteID' });
});

test('what cannot be credited is refused with its field', async () => {
  const place = await openOwing(scene, 'credit-refused');
  const number = await place.connectOld();
  const [bill] = await place.bill({ [number]: 100 });
  const billID = bill?.billID ?? 0;
  const at = (name: string) => `creditNotes[0].${name}`;
  const lines = [{ component: 'fee', amount: 1 }];
  await refuses(credit(place, { billID: 999, lines }), 'BILL_NOT_FOUND', { field: at('billID') });
  const unknown = credit(place, { billID, lines: [{ component: 'gas', amount: 1 }] });
  await refuses(unknown, 'COMPONENT_NOT_FOUND', { field: at('lines[0].component') });
  const both = credit(place, { billID, lines, fullBill: true });
  await refuses(both, 'REQUIRED_FIELD', { statusCode: 400, field: at('lines') });
  await refuses(credit(place, { billID }), 'REQUIRED_FIELD', { field: at('lines') });
  const below = credit(place, { billID, lines: [{ component: 'fee', amount: -1 }] });
  await refuses(below, 'INVALID_NUMBER', { statusCode: 400, field: at('lines[0].amount') });
  await place.client.cancelBill({ data: { billID, reason: 'Wrong' } });
  await refuses(credit(place, { billID, lines }), 'INVALID_STATE', { statusCode: 409 });
});
