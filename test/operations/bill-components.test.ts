// What is paid and open of each component of a bill.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertChecks } from '../support/checks.ts';
import { type Owing, openOwing } from '../support/owing.ts';
import type { Service } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

const loan = [
  { name: 'interest', label: 'Interest', type: 'Charge', settlementPriority: 2 },
  { name: 'principal', label: 'Principal', type: 'Charge', settlementPriority: 1 },
].map((component) => ({ ...component, manual: 'Optional' })) as NonNullable<Service['components']>;

/** Of each bill, the oldest first: what is paid and open of each component. */
async function components(place: Owing) {
  const { data } = await place.client.getBills({});
  return data.bills
    .toSorted((a, b) => (a.billID ?? 0) - (b.billID ?? 0))
    .map((bill) =>
      bill.components?.map((one) => [one.component, one.paidAmount, one.outstandingAmount]),
    );
}

test('Chronology pays the components of the oldest bills first, each bill by priority', async () => {
  const place = await openOwing(scene, 'components-loan', { components: loan });
  const number = await place.connectOld();
  for (const interest of [0, 15, 30, 45]) {
    await place.bill({ [number]: { principal: 1000, interest } });
  }
  await place.pay({ amount: 3500 });
  const [first, , , fourth] = await components(place);
  assert.deepEqual(first, [['principal', 1000, 0]]);
  // 3500 - 1000 - 1015 - 1030 = 455 of the fourth
  assert.deepEqual(fourth, [
    ['principal', 455, 545],
    ['interest', 0, 45],
  ]);
  await assertChecks(scene, place.tenantId);
});

test('Component Priority pays one component of all bills before the next', async () => {
  const place = await openOwing(scene, 'components-priority', {
    components: loan,
    paymentSettlementMethod: 'Component Priority',
  });
  const number = await place.connectOld();
  for (const interest of [15, 30]) await place.bill({ [number]: { principal: 1000, interest } });
  await place.pay({ amount: 1500 });
  assert.deepEqual(await components(place), [
    [
      ['principal', 1000, 0],
      ['interest', 0, 15],
    ],
    [
      ['principal', 500, 500],
      ['interest', 0, 30],
    ],
  ]);
  // 500 principal, then 15 and 5 of the interest
  await place.pay({ amount: 520 });
  assert.deepEqual(await components(place), [
    [
      ['principal', 1000, 0],
      ['interest', 15, 0],
    ],
    [
      ['principal', 1000, 0],
      ['interest', 5, 25],
    ],
  ]);
  await assertChecks(scene, place.tenantId);
});

test('taxes come first; a rebate and the rounding reduce the last component', async () => {
  const place = await openOwing(scene, 'components-rebate', {
    billRounding: { scale: 0, mode: 'HalfUp' },
    components: [
      { name: 'energy', label: 'Energy', type: 'Charge', settlementPriority: 1 },
      { name: 'rent', label: 'Rent', type: 'Charge' },
      { name: 'rebate', label: 'Rebate', type: 'Discount' },
      { name: 'vat', label: 'VAT', type: 'Tax' },
    ].map((component) => ({ ...component, manual: 'Optional' })) as NonNullable<
      Service['components']
    >,
  });
  const number = await place.connectOld();
  const [bill] = await place.bill({
    [number]: { energy: 70.2, rent: 30.1, rebate: -20, vat: 10 },
  });
  // 70.20 + 30.10 - 20 + 10 = 90.30, rounded down to 90
  assert.equal(bill?.billAmount, 90);
  await place.pay({ amount: 50 });
  const { data } = await place.client.getBills({ billID: bill?.billID ?? 0 });
  assert.deepEqual(data.bills[0]?.components?.map(Object.values), [
    ['vat', 10, 0, 10, 0],
    ['energy', 70.2, 0, 40, 30.2],
    ['rebate', -20, 0, 0, 0],
    // 30.10 less the rebate of 20 and the rounding of 0.30
    ['rent', 30.1, 0, 0, 9.8],
  ]);
  await assertChecks(scene, place.tenantId);
});

test('a bill of several subscriptions shows the components of all of them together', async () => {
  const place = await openOwing(scene, 'components-account', { postType: 'Post Account' });
  const users = [{ partyNumber: place.party, connectionGroupLabel: 'House' }];
  const first = await place.connectOld({ users });
  const second = await place.connectOld({ users });
  const [bill] = await place.bill({ [first]: 60, [second]: 40 });
  await place.pay({ amount: 70 });
  const { data } = await place.client.getBills({ billID: bill?.billID ?? 0 });
  assert.deepEqual(data.bills[0]?.components?.map(Object.values), [['fee', 100, 0, 70, 30]]);
});
