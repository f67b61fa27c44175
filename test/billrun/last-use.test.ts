// Bills made in advance: usage in the last term of an owner who leaves when it ends.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post, unpost } from '../support/bill-run.ts';
import { cancel, termAgain } from '../support/cancelled-bills.ts';
import { assertChecks } from '../support/checks.ts';
import { codeOf } from '../support/delivery.ts';
import { forms } from '../support/forms.ts';
import { august, july, openOffer, september } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';
import { newMeter } from '../support/subscriptions.ts';
import { termOf } from '../support/terms.ts';

const scene = await openScene();
scene.runJobs();

let houses = 0;

const energy = { component: 'energyCharge', scope: 'Term', formula: 'usage.energy * 10' } as const;

/** 310 a month and a service fee of 20 ahead, 10 a unit afterwards, and a tenth of all as tax. */
async function openHouse(postType = 'Post Subscription', rules: object[] = [previous]) {
  houses += 1;
  const categories = ['taxed'];
  const place = await openOffer(
    scene,
    `last-${houses}`,
    {
      postType,
      postBilling: 0,
      meteredInputs: [{ name: 'energy', unit: 'kWh', register: 'kWh' }],
      components: [
        { name: 'fee', label: 'Fee', type: 'Charge', sequence: 1, categories },
        { name: 'service', label: 'Service', type: 'Charge', sequence: 2, categories },
        { name: 'energyCharge', label: 'Energy', type: 'Charge', sequence: 3, categories },
        { name: 'gst', label: 'GST', type: 'Tax', sequence: 4 },
      ],
    } as never,
    {
      componentRules: [
        { component: 'fee', formula: '310', prorate: 'Days' },
        { component: 'service', scope: 'Term', formula: '20' },
        { component: 'gst', scope: 'Term', formula: 'SUMCAT("taxed") * 0.1' },
        ...rules,
      ] as never,
      usageData: [],
    },
  );
  const number = await newMeter(place.client);
  const meter = { number, installDate: '30/06/2026', initialReading: '0' };
  const connection = await place.connectOld({ postType, meters: [meter] });
  const lock = (termID: number) =>
    place.client.postMeterReadings({ operation: 'schedule', data: { termID, reading: 'current' } });
  const read = (value: string, readingDate: string) =>
    place.client.makeReadings({ readings: [{ number, value, readingDate }] });
  const bill = async (days: typeof july) => {
    const termID = await place.open({ ...days, postType });
    await lock(termID);
    await generate(place, termID);
    const shown = await billsOf(place, termID);
    await post(place, termID);
    return { termID, shown };
  };
  return { place, connection, number, lock, read, bill };
}

const previous = { ...energy, window: 'Previous' };

const linesOf = ({ lines }: { lines: { component: string; amount: number }[] }) =>
  lines.map((line) => [line.component, line.amount]);

// 150 units of August
const last = [
  ['energyCharge', 1500],
  ['gst', 150],
];

for (const postType of forms(['Post Subscription', 'Post Account'])) {
  test(`bill-connection bills what was used in the last month: ${postType}`, async () => {
    const { place, connection, number, read, lock, bill } = await openHouse(postType);
    await bill(july);
    await read('100', '31/07/2026');
    await bill(august);
    const data = { connectionNumber: connection, effectiveDate: '01/09/2026' };
    const readings = [{ number, value: '250' }];
    await place.client.disconnectConnection({ data: { ...data, readings } });
    const asked = () => place.client.billConnection({ data: { connectionNumber: connection } });
    const final = Number((await asked()).headers.get('x-term-id'));
    const { label, startDate } = await termOf(place.client, final);
    assert.deepEqual([label, startDate], ['Final Sep-2026', '01/09/2026']);
    const [draft] = await billsOf(place, final);
    assert.ok(draft);
    assert.deepEqual([linesOf(draft), draft.errors], [last, []]);
    assert.deepEqual([draft.days, draft.billedFrom, draft.billedTo], [0, null, null]);
    // 330 + 330 + 1000, and a tenth
    assert.equal(draft.arrears, 1826);
    await post(place, final);
    await assertChecks(scene, place.tenantId);
    assert.equal(await codeOf(asked()), 'INVALID_STATE');
    assert.deepEqual((await bill(september)).shown, [], 'it is billed once');
    await unpost(place, final);
    await generate(place, final);
    await post(place, final);
    await cancel(place, draft.billID, true);
    const again = await termAgain(place, draft.billID);
    await lock(again);
    await generate(place, again);
    const [remade] = await billsOf(place, again);
    assert.deepEqual(remade && linesOf(remade), last);
    await post(place, again);
    await assertChecks(scene, place.tenantId);
  });
}

test('the regular term of the next day bills the usage too, and a returning owner continues from there', async () => {
  const { place, connection, number, read, bill } = await openHouse();
  await bill(july);
  await read('100', '31/07/2026');
  await bill(august);
  const change = { connectionNumber: connection };
  const readings = [{ number, value: '250' }];
  const off = { ...change, effectiveDate: '01/09/2026', kind: 'Temporary' as const, readings };
  await place.client.disconnectConnection({ data: off });
  const { shown } = await bill(september);
  assert.deepEqual(shown.map(linesOf), [last]);
  const october = { startDate: '01/10/2026', endDate: '31/10/2026' };
  assert.deepEqual((await bill(october)).shown, []);
  const on = { ...change, effectiveDate: '01/11/2026', force: true };
  await place.client.reconnectConnection({ data: on });
  const november = { startDate: '01/11/2026', endDate: '30/11/2026' };
  const [back] = (await bill(november)).shown;
  assert.deepEqual(back && linesOf(back), [
    ['fee', 310],
    ['service', 20],
    ['gst', 33],
  ]);
  await assertChecks(scene, place.tenantId);
});

test('an owner who returns the day after the last usage bill continues from its reading', async () => {
  const { place, connection, number, read, bill } = await openHouse();
  await bill(july);
  await read('100', '31/07/2026');
  await bill(august);
  const change = { connectionNumber: connection };
  const readings = [{ number, value: '250' }];
  const off = { ...change, effectiveDate: '01/09/2026', kind: 'Temporary' as const, readings };
  await place.client.disconnectConnection({ data: off });
  const { headers } = await place.client.billConnection({ data: change });
  await post(place, Number(headers.get('x-term-id')));
  const comeBack = (effectiveDate: string) =>
    place.client.reconnectConnection({ data: { ...change, effectiveDate, force: true } });
  assert.equal(await codeOf(comeBack('01/09/2026')), 'DATE_IN_POSTED_TERM');
  await comeBack('02/09/2026');
  // Read before September is billed, and billed by October.
  await read('400', '30/09/2026');
  const [back] = (await bill(september)).shown;
  assert.deepEqual(back && linesOf(back).slice(0, 2), [
    ['fee', 299.67], // 310 * 29/30
    ['service', 20],
  ]);
  const [next] = (await bill({ startDate: '01/10/2026', endDate: '31/10/2026' })).shown;
  assert.deepEqual(next && linesOf(next)[2], ['energyCharge', 1500]);
  await assertChecks(scene, place.tenantId);
});

test('without usage billed afterwards, no bill follows the last day', async () => {
  const { place, connection, bill } = await openHouse('Post Subscription', []);
  await bill(july);
  const data = { connectionNumber: connection, effectiveDate: '01/08/2026' };
  await place.client.disconnectConnection({ data });
  const asked = place.client.billConnection({ data: { connectionNumber: connection } });
  await assert.rejects(asked, { code: 'INVALID_STATE', message: /up to 31\/07\/2026 is billed/ });
  assert.deepEqual((await bill(august)).shown, []);
});

test('use that is uploaded for the last term is billed by the final bill', async () => {
  const place = await openOffer(
    scene,
    'last-upload',
    {
      postBilling: 0,
      unmeteredInputs: [{ name: 'data', source: 'Uploaded' }],
      components: [{ name: 'used', label: 'Data', type: 'Charge' }],
    },
    {
      componentRules: [{ component: 'used', window: 'Previous', formula: 'usage.data * 2' }],
      usageData: [{ input: 'data', source: 'Uploaded' }],
    },
  );
  const connectionNumber = await place.connectOld();
  const upload = (termID: number, ...rows: string[][]) => {
    const usage = rows.map((row) => [connectionNumber, 'data', ...row]);
    const data = { data: JSON.stringify({ termID, usage }) };
    return place.client.uploadUsage({ operation: 'schedule', data });
  };
  const first = await place.open(july);
  await upload(first, ['7', '10/07/2026']);
  await generate(place, first);
  await post(place, first);
  const off = { connectionNumber, effectiveDate: '01/08/2026' };
  await place.client.disconnectConnection({ data: off });
  const { headers } = await place.client.billConnection({ data: { connectionNumber } });
  const final = Number(headers.get('x-term-id'));
  await upload(final, ['5', '20/07/2026'], ['3', '31/07/2026']);
  await generate(place, final);
  const [bill] = await billsOf(place, final);
  assert.deepEqual(bill && linesOf(bill), [['used', 30]]);
  await post(place, final);
  await assertChecks(scene, place.tenantId);
});
