// Interest that runs by the day on what is overdue: every day counts on one bill.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billed } from '../support/cancelled-bills.ts';
import { assertChecks } from '../support/checks.ts';
import { forms } from '../support/forms.ts';
import { august, july, openOffer, september } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';
import { insertOpening } from '../support/term-rows.ts';

const scene = await openScene();
scene.runJobs();

for (const postType of forms(['Post Subscription', 'Post Party'] as const)) {
  test(`${postType}: days that another term has billed bear no interest again`, async () => {
    const place = await openOffer(
      scene,
      `interest-${postType.slice(5).toLowerCase()}`,
      {
        postType,
        dueDateOffset: 0,
        components: [
          { name: 'fee', label: 'Fee', type: 'Charge', sequence: 1 },
          { name: 'interest', label: 'Interest', type: 'Surcharge', sequence: 2 },
        ],
      },
      {
        componentRules: [
          { component: 'fee', formula: '10 * segment.days' },
          { component: 'interest', scope: 'Term', formula: 'account.overdueAmountDays / 1000' },
        ],
      },
    );
    const isAlone = postType === 'Post Subscription';
    const numbers = [await place.connectOld({ billedThrough: '31052026' })];
    if (!isAlone) numbers.push(await place.connectOld({ billedThrough: '31052026' }));
    const amounts = async (days: Parameters<typeof place.open>[0]) => {
      const [bill, ...others] = await billed(place, await place.open({ ...days, postType }));
      assert.equal(others.length, 0);
      const lines = bill?.lines.map((line) => line.amount) ?? [];
      return isAlone ? lines : lines.slice(lines.length / 2);
    };
    assert.deepEqual(await amounts({ startDate: '01/06/2026', endDate: '30/06/2026' }), [300]);
    const begun = { startDate: '01/07/2026', endDate: '15/07/2026' };
    // 300 * 15 / 1000
    assert.deepEqual(
      await amounts({ ...begun, type: 'OffCycle', connectionNumbers: numbers }),
      [150, 4.5],
    );
    // (300 + 154.50) * 16 / 1000 = 7.272
    assert.deepEqual(await amounts(july), [160, 7.27]);
    // 300 * 31 + 154.50 * 31 + 167.27 * 31, over 1000 = 19.27487
    assert.deepEqual(await amounts(august), [310, 19.27]);
    await assertChecks(scene, place.tenantId);
  });
}

/** 10 a day, and a surcharge; returns the amounts of the only bill of a term. */
async function openSurcharged(workspace: string, formula: string) {
  const place = await openOffer(
    scene,
    workspace,
    {
      components: [
        { name: 'fee', label: 'Fee', type: 'Charge', sequence: 1 },
        { name: 'late', label: 'Late', type: 'Surcharge', sequence: 2 },
      ],
    },
    {
      componentRules: [
        { component: 'fee', formula: '10 * segment.days' },
        { component: 'late', scope: 'Term', formula },
      ],
    },
  );
  await place.connectOld({ billedThrough: '31052026' });
  const amounts = async (term: Parameters<typeof place.open>[0]) => {
    const [bill] = await billed(place, await place.open(term));
    return bill?.lines.filter(({ amount }) => amount !== 0).map(({ amount }) => amount);
  };
  return { ...place, amounts };
}

const june = { startDate: '01/06/2026', endDate: '30/06/2026' };

test('a line break inside account.overdue does not change the amount', async () => {
  const { amounts } = await openSurcharged('line-break', 'account.\n  overdue * 10%');
  assert.deepEqual(await amounts({ ...june, dueDate: '30/06/2026' }), [300]);
  // 300 * 10%
  assert.deepEqual(await amounts({ ...july, dueDate: '30/09/2026' }), [310, 30]);
});

test('what is due on the last day of a term is overdue in the next', async () => {
  const { amounts } = await openSurcharged('last-day', 'account.overdue * 10%');
  assert.deepEqual(await amounts({ ...june, dueDate: '31/07/2026' }), [300]);
  assert.deepEqual(await amounts({ ...july, dueDate: '30/08/2026' }), [310]);
  // (300 + 310) * 10%
  assert.deepEqual(await amounts({ ...august, dueDate: '31/12/2026' }), [310, 61]);
});

test('a credit settles what fell due first, before what is not due yet', async () => {
  const { amounts, tenantId } = await openSurcharged(
    'oldest-first',
    'account.overdueAmountDays / 1000',
  );
  assert.deepEqual(await amounts({ ...june, dueDate: '30/06/2026' }), [300]);
  // 300 * 31 / 1000
  assert.deepEqual(await amounts({ ...july, dueDate: '15/09/2026' }), [310, 9.3]);
  // Of 300 and 319.30 are left 269.30, of the second.
  await insertOpening(scene, tenantId, 1, -350_00, 'Payment');
  assert.deepEqual(await amounts({ ...august, dueDate: '31/12/2026' }), [310]);
  // 269.30 * 15 / 1000 = 4.0395
  assert.deepEqual(await amounts({ ...september, dueDate: '31/12/2026' }), [300, 4.04]);
});

/** 21 % a year on what is overdue, a rebate and a fee by hand; bills May, June and so on. */
async function openInterest(workspace: string) {
  const place = await openOffer(
    scene,
    workspace,
    {
      minimumDaysToPay: 0,
      autoApplyWallet: 0,
      components: [
        { name: 'fee', label: 'Fee', type: 'Charge', sequence: 1, manual: 'Optional' },
        { name: 'interest', label: 'Interest', type: 'Surcharge', sequence: 2 },
      ],
    } as Parameters<typeof openOffer>[2],
    {
      componentRules: [
        { component: 'fee', formula: '0' },
        { component: 'interest', scope: 'Term', formula: 'account.overdueAmountDays * 21% / 365' },
      ],
    },
  );
  const number = await place.connectOld({ connectionDate: '01052026', billedThrough: '30042026' });
  const bill = async (days: Parameters<typeof place.open>[0], fee: number) => {
    const termID = await place.open(days);
    await place.client.postManualComponentValues({
      operation: 'schedule',
      data: { data: JSON.stringify({ termID, compsData: [[number, 'fee', String(fee)]] }) },
    });
    const [made] = await billed(place, termID);
    return made?.lines.filter((line) => line.component === 'interest').map((line) => line.amount);
  };
  let references = 0;
  const pay = async (amount: number, paymentDate: string) => {
    references += 1;
    const { headers } = await place.client.makePayments({
      payments: [
        {
          reference: `I${references}`,
          partyNumber: place.party,
          amount,
          paymentDate,
          paymentMethod: 'Cash' as const,
        },
      ],
    });
    return Number(headers.get('x-resource-id'));
  };
  return { ...place, bill, pay };
}

const may = { startDate: '01/05/2026', endDate: '31/05/2026', dueDate: '31/05/2026' };
const laterOn = { dueDate: '31/12/2026' };

test('society-interest-paid-late: interest runs until the day of the payment', async () => {
  const { bill, pay, tenantId } = await openInterest('interest-paid');
  assert.deepEqual(await bill(may, 1_000), []);
  await pay(1_000, '15/06/2026');
  // 1,000 for 15 days at 21 % a year: 1,000 * 15 * 0.21 / 365 = 8.6301
  assert.deepEqual(await bill({ ...june, ...laterOn }, 0), [8.63]);
  assert.deepEqual(await bill({ ...july, ...laterOn }, 0), []);
  await assertChecks(scene, tenantId);
});

test('society-interest-10d: interest on 1,200 for 10 days at 21 % a year is 6.90', async () => {
  const { bill, pay } = await openInterest('interest-ten');
  assert.deepEqual(await bill(may, 1_200), []);
  await pay(1_200, '10/06/2026');
  // 1,200 * 10 * 0.21 / 365 = 6.9041, which rounds to 7
  assert.deepEqual(await bill({ ...june, ...laterOn }, 0), [6.9]);
});

test('society-interest-partial: interest on 500 of 1,000, none on the half paid in time', async () => {
  const { bill, pay, client } = await openInterest('interest-half');
  assert.deepEqual(await bill(may, 1_000), []);
  await pay(500, '31/05/2026');
  const paymentID = await pay(500, '20/06/2026');
  // 500 * 20 * 0.21 / 365 = 5.7534
  assert.deepEqual(await bill({ ...june, ...laterOn }, 0), [5.75]);
  await client.reversePayment({ data: { paymentID, reason: 'bounced' } });
  // The money was there until today, long after July.
  assert.deepEqual(await bill({ ...july, ...laterOn }, 0), []);
});
