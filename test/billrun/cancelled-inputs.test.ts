// What was uploaded, given by hand and read for a bill that is cancelled: billed again once where
// that was asked for, and otherwise not at all.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billed, cancel, termAgain } from '../support/cancelled-bills.ts';
import { assertChecks } from '../support/checks.ts';
import { august, july, type OfferPlace, openOffer, september } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';
import { newMeter } from '../support/subscriptions.ts';

const scene = await openScene();
scene.runJobs();

const schedule = { operation: 'schedule' as const };

/** A customer with 30 calls at 2 and a visit for 500 in July, after something happened to him. */
async function openCalls(
  workspace: string,
  happens: (place: OfferPlace, number: string) => Promise<unknown> = async () => {},
) {
  const source = 'Uploaded' as const;
  const place = await openOffer(
    scene,
    workspace,
    {
      unmeteredInputs: [{ name: 'calls', source }],
      components: [
        { name: 'callCharge', label: 'Calls', type: 'Charge', sequence: 1 },
        { name: 'visit', label: 'Visit', type: 'Charge', sequence: 2, manual: 'Optional' },
      ],
    },
    {
      componentRules: [
        { component: 'callCharge', scope: 'Term', formula: 'usage.calls * 2' },
        { component: 'visit', scope: 'Term', formula: '0' },
      ],
      usageData: [{ input: 'calls', source }],
    } as never,
  );
  const number = await place.connectOld();
  await happens(place, number);
  const send = (termID: number, list: string, row: unknown[]) => {
    const data = JSON.stringify({ termID, [list]: [row] });
    return { ...schedule, data: { data } };
  };
  const upload = (termID: number, quantity: string) =>
    place.client.uploadUsage(send(termID, 'usage', [number, 'calls', quantity]));
  const give = (termID: number, value: string) =>
    place.client.postManualComponentValues(send(termID, 'compsData', [number, 'visit', value]));
  const first = await place.open(july);
  await upload(first, '30');
  await give(first, '500');
  const [bill] = await billed(place, first);
  assert.ok(bill);
  assert.equal(bill.billAmount, 560);
  return { place, number, upload, give, billID: bill.billID };
}

test('the next term takes over the inputs of a rebill term that is never billed, once', async () => {
  for (const isCancelled of [false, true]) {
    const { place, billID } = await openCalls(`left-${isCancelled}`);
    await cancel(place, billID, true);
    const termID = await termAgain(place, billID);
    if (isCancelled) await place.client.cancelTerm({ data: { termID, reason: 'not needed' } });
    const [next] = await billed(place, await place.open(august));
    assert.deepEqual([next?.billedFrom, next?.billAmount], ['01/07/2026', 560]);
    await assertChecks(scene, place.tenantId);
  }
});

test('what is taken out of the new term is not billed again', async () => {
  const { place, upload, give, billID } = await openCalls('taken-out');
  await cancel(place, billID, true);
  const again = await termAgain(place, billID);
  await give(again, '');
  await upload(again, '40');
  const [bill] = await billed(place, again);
  assert.equal(bill?.billAmount, 80);
  // And once more, out of the term that billed it again.
  await cancel(place, bill?.billID ?? 0, true);
  const [next] = await billed(place, await place.open(august));
  assert.equal(next?.billAmount, 80);
  await assertChecks(scene, place.tenantId);
});

test('uploads of a cancelled bill without rebill are not billed later, also after a disconnection', async () => {
  const { place, number, billID } = await openCalls('cut-off', (one, connectionNumber) =>
    one.client.disconnectConnection({
      data: { connectionNumber, effectiveDate: '21/07/2026', kind: 'Temporary', reason: 'unpaid' },
    }),
  );
  await cancel(place, billID);
  await place.client.reconnectConnection({
    data: { connectionNumber: number, effectiveDate: '05/08/2026' },
  });
  const [next] = await billed(place, await place.open(august));
  assert.deepEqual([next?.billedFrom, next?.billAmount], ['05/08/2026', 0]);
  await assertChecks(scene, place.tenantId);
});

test('usage of a removed meter on a cancelled bill is not billed in a later term', async () => {
  const place = await openOffer(
    scene,
    'taken-down',
    {
      meteredInputs: [{ name: 'energy', unit: 'kWh', register: 'kWh' }],
      components: [{ name: 'energyCharge', label: 'Energy', type: 'Charge', sequence: 1 }],
    },
    {
      componentRules: [{ component: 'energyCharge', scope: 'Term', formula: 'usage.energy * 10' }],
      usageData: [{ input: 'energy', source: 'Metered', required: 1 }],
    },
  );
  const [old, number] = [await newMeter(place.client), await newMeter(place.client)];
  const connectionNumber = await place.connectOld({
    meters: [{ number: old, installDate: '30/06/2026', initialReading: '0' }],
  });
  const lock = (termID: number) =>
    place.client.postMeterReadings({ ...schedule, data: { termID, reading: 'current' } });
  const read = (value: string, readingDate: string) =>
    place.client.makeReadings({ readings: [{ number, value, readingDate }] });
  await place.client.replaceMeter({
    data: {
      connectionNumber,
      oldNumber: old,
      newNumber: number,
      replaceDate: '20/07/2026',
      finalReadings: [{ value: '60' }],
      initialReadings: [{ value: '0' }],
    },
  });
  await read('40', '31/07/2026');
  const first = await place.open(july);
  await lock(first);
  const [bill] = await billed(place, first);
  assert.equal(bill?.billAmount, 1_000);
  await cancel(place, bill?.billID ?? 0);
  await read('70', '31/08/2026');
  const second = await place.open(august);
  await lock(second);
  const [next] = await billed(place, second);
  assert.equal(next?.billAmount, 300);
  await assertChecks(scene, place.tenantId);
});

test('billed in advance: what was used on the days of a cancelled bill is on the next one', async () => {
  const source = 'Uploaded' as const;
  const place = await openOffer(
    scene,
    'used-ahead',
    {
      postBilling: 0,
      unmeteredInputs: [{ name: 'data', source }],
      components: [
        { name: 'fee', label: 'Fee', type: 'Charge', sequence: 1 },
        { name: 'used', label: 'Data', type: 'Charge', sequence: 2 },
      ],
    },
    {
      componentRules: [
        { component: 'fee', formula: '310', prorate: 'Days' },
        // 50 a month are free.
        {
          component: 'used',
          scope: 'Term',
          window: 'Previous',
          formula: 'MAX(0, usage.data - 50 * segment.months)',
        },
      ],
      usageData: [{ input: 'data', source }],
    },
  );
  const number = await place.connectOld();
  const ahead = async (days: typeof july, used: string) => {
    const termID = await place.open(days);
    const data = JSON.stringify({ termID, usage: [[number, 'data', used]] });
    await place.client.uploadUsage({ ...schedule, data: { data } });
    const [bill] = await billed(place, termID);
    const lines = bill?.lines.map((line) => [line.component, line.fromDate, line.amount]);
    return { billID: bill?.billID ?? 0, lines };
  };
  // The usage of June is not known.
  const first = await ahead(july, '0');
  await cancel(place, first.billID);
  const second = await ahead(august, '170');
  assert.deepEqual(second.lines, [
    ['fee', '01/08/2026', 310],
    ['used', '01/07/2026', 120],
  ]);
  await cancel(place, second.billID);
  const third = await ahead(september, '90');
  const ofSeptember = [
    ['fee', '01/09/2026', 310],
    ['used', '01/08/2026', 40],
  ];
  assert.deepEqual(third.lines, ofSeptember);
  await cancel(place, third.billID, true);
  const [again] = await billed(place, await termAgain(place, third.billID));
  assert.deepEqual(
    again?.lines.map((line) => [line.component, line.fromDate, line.amount]),
    ofSeptember,
  );
  await assertChecks(scene, place.tenantId);
});
