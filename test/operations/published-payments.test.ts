// Published examples of payments, credits and credit notes, through the API with their figures.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type Loose, publishedCases } from '../rating/published-plan.ts';
import { assertChecks } from '../support/checks.ts';
import { openOwing } from '../support/owing.ts';
import type { Service } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

function published(id: string): { inputs: Loose; expected: Loose } {
  const found = publishedCases.find((one) => one.id === id);
  assert.ok(found, id);
  return found;
}

const components = [
  { name: 'fee', label: 'Fee', type: 'Charge', manual: 'Optional', settlementPriority: 1 },
  {
    name: 'interest',
    label: 'Interest',
    type: 'Charge',
    manual: 'Optional',
    settlementPriority: 2,
  },
  { name: 'vat', label: 'VAT', type: 'Tax', manual: 'Optional' },
  { name: 'rebate', label: 'Rebate', type: 'Discount', manual: 'Optional' },
] as NonNullable<Service['components']>;

const allocations = [
  ['society-alloc-principal-first', 'Component Priority'],
  ['society-alloc-chronological', 'Chronology'],
] as const;

for (const [id, paymentSettlementMethod] of allocations) {
  test(`${id}: a payment leaves principal and interest as published`, async () => {
    const { inputs, expected } = published(id);
    const service = { components, paymentSettlementMethod } as Partial<Service>;
    const place = await openOwing(scene, id, service);
    const number = await place.connectOld();
    for (const { principal, interest } of inputs.months ?? [inputs]) {
      await place.bill({ [number]: { fee: Number(principal), interest: Number(interest) } });
    }
    await place.pay({ amount: Number(inputs.payment) });
    const { data } = await place.client.getBills({});
    const left = (name: string) =>
      data.bills
        .flatMap((bill) => bill.components ?? [])
        .filter((one) => one.component === name)
        .reduce((sum, one) => sum + one.outstandingAmount, 0);
    assert.equal(left('fee'), Number(expected.principalLeft));
    assert.equal(left('interest'), Number(expected.interestLeft));
    await assertChecks(scene, place.tenantId);
  });
}

for (const id of ['lago-credit-rounding-200', 'lago-credit-rounding-weekly']) {
  test(`${id}: a credit note is the sum of its rounded lines`, async () => {
    const { inputs, expected } = published(id);
    const place = await openOwing(scene, id, { components });
    const number = await place.connectOld();
    const price = Number(inputs.price);
    // 200 * 25 % = 50; the other source prints its tax.
    const tax = Number(expected.invoiceTax ?? (price * Number(inputs.taxPercent)) / 100);
    const [bill] = await place.bill({ [number]: { fee: price, vat: tax } });
    const lines = [
      { component: 'fee', amount: expected.net },
      { component: 'vat', amount: expected.tax },
    ];
    const note = { billID: bill?.billID ?? 0, lines, reason: 'Not used' };
    await place.client.makeCreditNotes({ creditNotes: [note] });
    const { data } = await place.client.getCreditNotes({});
    assert.equal(data.creditNotes[0]?.amount, Number(expected.total));
    // What was billed less the credit note.
    const open = price + tax - Number(expected.total);
    assert.equal((await place.owed()).toFixed(2), open.toFixed(2));
  });
}

test('kb-credit-then-charge: a credit of the customer pays the next bill first', async () => {
  const { inputs, expected } = published('kb-credit-then-charge');
  const place = await openOwing(scene, 'kb-credit', { components, autoApplyWallet: 1 });
  const number = await place.connectOld();
  const credit = { connectionNumber: number, component: 'fee', kind: 'Credit' } as const;
  await place.client.makeAdjustments({
    adjustments: [{ ...credit, amount: -inputs.credit, reference: 'KB', reason: 'Goodwill' }],
  });
  const [bill] = await place.bill({ [number]: Number(inputs.charge) });
  assert.equal(bill?.walletApplied, Number(expected.creditApplied));
  assert.equal(await place.owed(), Number(expected.balance));
});

test('lago-doc-invoice-order: after tax, a credit note and prepaid money lower what is due', async () => {
  const { inputs, expected } = published('lago-doc-invoice-order');
  const place = await openOwing(scene, 'lago-order', { components, autoApplyWallet: 1 });
  const number = await place.connectOld();
  const credited = Number(inputs.creditNotes);
  const [before] = await place.bill({ [number]: credited });
  await place.pay({ amount: credited });
  const whole = { billID: before?.billID ?? 0, fullBill: true, reason: 'Not used' };
  await place.client.makeCreditNotes({ creditNotes: [whole] });
  await place.pay({ amount: Number(inputs.prepaid) });
  // 50 + 20 - 10 = 60, and 10 % of it
  const fee = Number(inputs.subscriptions) + Number(inputs.usage);
  const vat = Number(expected.tax);
  const [bill] = await place.bill({ [number]: { fee, rebate: -inputs.coupons, vat } });
  assert.equal(bill?.billAmount, Number(expected.subtotalIncl));
  // 66 - 20 - 30
  assert.equal(await place.owed(), Number(expected.totalDue));
});

const here = 'operations/published-payments.test.ts';
const interest = 'billrun/interest.test.ts';

/** Published examples of payments, credits and late payment, each with its test through the API. */
const testedIn: Record<string, string> = {
  'society-alloc-principal-first': here,
  'society-alloc-chronological': here,
  'lago-credit-rounding-200': here,
  'lago-credit-rounding-weekly': here,
  'kb-credit-then-charge': here,
  'lago-doc-invoice-order': here,
  'society-interest-10d': interest,
  'society-interest-paid-late': interest,
  'society-interest-partial': interest,
};
/** Fees and interest by full months are components of a plan, in rating/published.test.ts. */
const ratedOnly = ['epa-late-31d', 'epa-late-91d'];

const aboutPayments = new Set([
  'accountCredit',
  'creditNoteRounding',
  'invoiceTotalOrder',
  'lateFeeFlatPlusInterest',
  'lateInterestSimple',
  'paymentAllocation',
]);

test('every published example of payments, credits and late payment has a test', () => {
  const models = publishedCases.filter(({ model }) => aboutPayments.has(model));
  const ids = models.map(({ id }) => id).sort();
  assert.deepEqual(ids, [...Object.keys(testedIn), ...ratedOnly].sort());
  for (const [id, file] of Object.entries(testedIn)) {
    const text = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
    // Besides the list above.
    const named = text.split(`'${id}`).length - 1 - (file === here ? 1 : 0);
    assert.ok(named > 0, `${id} in ${file}`);
  }
});
