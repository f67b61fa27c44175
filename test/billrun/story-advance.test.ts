// Some months that are billed in advance while their use is billed afterwards, and a bill between
// them that was left out.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post, type ShownBill } from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { august, july, openOffer, september } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';
import { skipBill } from '../support/skipped-bills.ts';
import type { Connection } from '../support/subscriptions.ts';

const scene = await openScene();
scene.runJobs();

const october = { startDate: '01/10/2026', endDate: '31/10/2026' };

const slabs = [
  { upTo: '100', rate: '1' },
  { upTo: null, rate: '2' },
];

type Uploads = readonly (readonly [quantity: string, date?: string])[];

/** 310 a month ahead, and data afterwards: 1 for each of the first 100 a month, 2 for others. */
async function openLine(
  workspace: string,
  scope: 'Segment' | 'Term',
  connection: Partial<Connection> = {},
) {
  const place = await openOffer(
    scene,
    workspace,
    {
      postBilling: 0,
      values: [{ name: 'slabs', type: 'Table', columns: ['upTo', 'rate'], default: slabs }],
      unmeteredInputs: [{ name: 'data', source: 'Uploaded' }],
      components: [
        { name: 'fee', label: 'Fee', type: 'Charge', sequence: 1 },
        { name: 'used', label: 'Data', type: 'Charge', sequence: 2 },
      ],
    },
    {
      componentRules: [
        { component: 'fee', formula: '310', prorate: 'Days' },
        {
          component: 'used',
          scope,
          window: 'Previous',
          formula: 'SLAB(usage.data, slabs, segment.months)',
        },
      ],
      usageData: [{ input: 'data', source: 'Uploaded' }],
    },
  );
  const number = await place.connectOld(connection);
  const opened = async (days: typeof july, uploads: Uploads = []) => {
    const termID = await place.open(days);
    const usage = uploads.map((upload) => [number, 'data', ...upload]);
    const data = JSON.stringify({ termID, usage });
    if (usage.length > 0) await place.client.uploadUsage({ operation: 'schedule', data: { data } });
    return termID;
  };
  return {
    place,
    billed: async (days: typeof july, uploads?: Uploads) => {
      const termID = await opened(days, uploads);
      await generate(place, termID);
      const [bill] = await billsOf(place, termID);
      await post(place, termID);
      const { lines } = (await place.client.explainBill({ billID: bill?.billID ?? 0 })).data;
      assert.deepEqual(
        lines.map((line) => [line.fromDate, line.toDate, line.amount]),
        bill?.lines.map((line) => [line.fromDate, line.toDate, line.amount]),
      );
      return linesOf(bill);
    },
    skip: async (days: typeof july, uploads: Uploads) =>
      skipBill(place, await opened(days, uploads)),
  };
}

const linesOf = (bill: ShownBill | undefined) =>
  bill?.lines.map((line) => [line.component, line.fromDate, line.toDate, line.amount]);

const feesOfSeptember = [
  // 310 * 31 / 30
  ['fee', '01/08/2026', '31/08/2026', 320.33],
  ['fee', '01/09/2026', '30/09/2026', 310],
];

test('after a skipped bill each month keeps the slabs of its own usage', async () => {
  const { place, billed, skip } = await openLine('ahead-segments', 'Segment');
  assert.deepEqual(await billed(july), [['fee', '01/07/2026', '31/07/2026', 310]]);
  // Of July.
  await skip(august, [['200']]);
  assert.deepEqual(await billed(september, [['20']]), [
    ...feesOfSeptember,
    // 100 + 100 * 2
    ['used', '01/07/2026', '31/07/2026', 300],
    ['used', '01/08/2026', '31/08/2026', 20],
  ]);
  assert.deepEqual(await billed(october, [['105']]), [
    ['fee', '01/10/2026', '31/10/2026', 310],
    // 100 + 5 * 2
    ['used', '01/09/2026', '30/09/2026', 110],
  ]);
  await assertChecks(scene, place.tenantId);
});

test('a rule of the term looks back on both months', async () => {
  const { billed, skip } = await openLine('ahead-terms', 'Term');
  await billed(july);
  await skip(august, [['131']]);
  assert.deepEqual(await billed(september, [['115']]), [
    ...feesOfSeptember,
    // 200 in two months, and 46 * 2
    ['used', '01/07/2026', '31/08/2026', 292],
  ]);
});

test('usage on a day of a skipped month is billed by the next bill', async () => {
  const { place, billed, skip } = await openLine('ahead-days', 'Segment');
  await billed(july, [['40', '10/07/2026']]);
  await skip(august, [['50', '15/08/2026']]);
  assert.deepEqual(await billed(september, [['60', '20/08/2026']]), [
    ...feesOfSeptember,
    ['used', '01/07/2026', '31/07/2026', 40],
    // 50 + 60: 100 + 10 * 2
    ['used', '01/08/2026', '31/08/2026', 120],
  ]);
  assert.deepEqual(await billed(october), [['fee', '01/10/2026', '31/10/2026', 310]]);
  await assertChecks(scene, place.tenantId);
});

test('use of the days before the first bill is billed with it', async () => {
  const days = { connectionDate: '16072026', billedThrough: '15072026' };
  const { place, billed } = await openLine('ahead-first', 'Segment', days);
  assert.deepEqual(await billed(august, [['62']]), [
    // 310 * 16 / 31
    ['fee', '16/07/2026', '31/07/2026', 160],
    ['fee', '01/08/2026', '31/08/2026', 310],
    // 100 * 16 / 31 = 51.61 at 1, 10.39 at 2
    ['used', '16/07/2026', '31/07/2026', 72.39],
  ]);
  assert.deepEqual(await billed(september, [['70']]), [
    ['fee', '01/09/2026', '30/09/2026', 310],
    ['used', '01/08/2026', '31/08/2026', 70],
  ]);
  await assertChecks(scene, place.tenantId);
});

test('usage of a skipped first bill is billed by the next bill', async () => {
  const { billed, skip } = await openLine('ahead-first-left-out', 'Segment');
  // Usage of June was not billed in this workspace.
  await skip(july, []);
  assert.deepEqual(await billed(august, [['120']]), [
    ['fee', '01/07/2026', '31/07/2026', 310],
    ['fee', '01/08/2026', '31/08/2026', 310],
    // 100 + 20 * 2
    ['used', '01/07/2026', '31/07/2026', 140],
  ]);
});
