// Some months of who gets back more than is charged, or has paid ahead: what a credit covers is not
// overdue.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post } from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { august, july, openOffer, september } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

const october = { startDate: '01/10/2026', endDate: '31/10/2026' };
const months = [july, august, september, october];

/**
 * A house with panels: so much is charged each month, and a thousandth a day of what is overdue.
 */
async function billedFor(workspace: string, nets: readonly number[], opening?: string) {
  const source = 'Uploaded' as const;
  const place = await openOffer(
    scene,
    workspace,
    {
      dueDateOffset: 0,
      unmeteredInputs: ['taken', 'given'].map((name) => ({ name, source })),
      components: [
        { name: 'net', label: 'Net', type: 'Charge', sequence: 1 },
        { name: 'interest', label: 'Interest', type: 'Surcharge', sequence: 2 },
      ],
    },
    {
      componentRules: [
        { component: 'net', formula: 'usage.taken - usage.given' },
        { component: 'interest', scope: 'Term', formula: 'account.overdueAmountDays / 1000' },
      ],
      usageData: ['taken', 'given'].map((input) => ({ input, source })),
    },
  );
  const accounts = opening ? [{ title: 'Receivable' as const, balance: opening }] : [];
  const number = await place.connectOld({ accounts });
  const billed: unknown[] = [];
  for (const [index, net] of nets.entries()) {
    const termID = await place.open(months[index] ?? {});
    const input = net > 0 ? 'taken' : 'given';
    const data = JSON.stringify({ termID, usage: [[number, input, String(Math.abs(net))]] });
    await place.client.uploadUsage({ operation: 'schedule', data: { data } });
    await generate(place, termID);
    const [bill] = await billsOf(place, termID);
    const amounts = bill?.lines.map((line) => line.amount) ?? [];
    billed.push([amounts, bill?.arrears, bill?.payableWithinDueDate, bill?.creditBalance]);
    await post(place, termID);
  }
  await assertChecks(scene, place.tenantId);
  return billed;
}

test('what was given in one month pays the next, and no interest runs on it', async () => {
  assert.deepEqual(await billedFor('panels-first', [-600, 600, 100, 100]), [
    [[-600], 0, 0, 600],
    [[600], -600, 0, 0],
    [[100], 0, 100, 0],
    // 100 * 31 / 1000; the 600 of August were paid by July
    [[100, 3.1], 100, 203.1, 0],
  ]);
});

test('what is given later settles what fell due first', async () => {
  assert.deepEqual(await billedFor('panels-later', [600, -600, 100]), [
    [[600], 0, 600, 0],
    // 600 * 31 / 1000
    [[-600, 18.6], 600, 18.6, 0],
    // 18.6 * 30 / 1000 = 0.558
    [[100, 0.56], 18.6, 119.16, 0],
  ]);
});

test('what was paid ahead elsewhere covers as many months as it goes', async () => {
  assert.deepEqual(await billedFor('panels-ahead', [600, 600, 100], '-1000'), [
    [[600], -1000, 0, 400],
    [[600], -400, 200, 0],
    // 200 of the 1,200 are left: 200 * 30 / 1000
    [[100, 6], 200, 306, 0],
  ]);
});
