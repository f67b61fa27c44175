// Bills made in advance: usage in the term inside which an owner leaves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billsOf, generate, post } from '../support/bill-run.ts';
import { assertChecks } from '../support/checks.ts';
import { august, july, openOffer, september } from '../support/offer-place.ts';
import { openScene } from '../support/scene.ts';
import { newMeter, newParty } from '../support/subscriptions.ts';

const scene = await openScene();
scene.runJobs();

let houses = 0;

/** 310 a month ahead; afterwards 10 a unit that is measured, and 2 one that is uploaded. */
async function openHouse(scope: 'Segment' | 'Term' = 'Term') {
  houses += 1;
  const place = await openOffer(
    scene,
    `leaver-${houses}`,
    {
      postBilling: 0,
      meteredInputs: [{ name: 'energy', unit: 'kWh', register: 'kWh' }],
      unmeteredInputs: [{ name: 'data', source: 'Uploaded' }],
      components: [
        { name: 'fee', label: 'Fee', type: 'Charge', sequence: 1 },
        { name: 'energyCharge', label: 'Energy', type: 'Charge', sequence: 2 },
        { name: 'used', label: 'Data', type: 'Charge', sequence: 3 },
      ],
    } as never,
    {
      componentRules: [
        { component: 'fee', formula: '310', prorate: 'Days' },
        { component: 'energyCharge', scope, window: 'Previous', formula: 'usage.energy * 10' },
        { component: 'used', scope, window: 'Previous', formula: 'usage.data * 2' },
      ],
      usageData: [{ input: 'data', source: 'Uploaded' }],
    },
  );
  const number = await newMeter(place.client);
  const meter = { number, installDate: '30/06/2026', initialReading: '0' };
  const connectionNumber = await place.connectOld({ meters: [meter] });
  const change = { connectionNumber };
  const upload = (termID: number, quantity: string, day: string) => {
    const usage = [[connectionNumber, 'data', quantity, day]];
    const data = { data: JSON.stringify({ termID, usage }) };
    return place.client.uploadUsage({ operation: 'schedule', data });
  };
  /** The owner and the sums of each component; posted. */
  const bill = async (termID: number) => {
    const data = { termID, reading: 'current' };
    await place.client.postMeterReadings({ operation: 'schedule', data });
    await generate(place, termID);
    const [one] = await billsOf(place, termID);
    assert.deepEqual(one?.errors, []);
    await post(place, termID);
    const sumOf = (name: string) =>
      one.lines.reduce((sum, line) => sum + (line.component === name ? line.amount : 0), 0);
    return [one.partyNumber, sumOf('fee'), sumOf('energyCharge'), sumOf('used')];
  };
  const read = (value: string, readingDate: string) =>
    place.client.makeReadings({ readings: [{ number, value, readingDate }] });
  const askFinal = async () => {
    const { headers } = await place.client.billConnection({ data: change });
    return Number(headers.get('x-term-id'));
  };
  const leave = (effectiveDate: string, value: string) => {
    const readings = [{ number, value }];
    const data = { ...change, effectiveDate, kind: 'Temporary' as const, readings };
    return place.client.disconnectConnection({ data });
  };
  const handOn = async (transferDate: string, value: string) => {
    const toPartyNumber = await newParty(place.client, 'Next');
    const readings = [{ number, value }];
    await place.client.transferConnection({
      data: { ...change, transferDate, toPartyNumber, readings },
    });
    return toPartyNumber;
  };
  return { place, change, upload, bill, read, askFinal, leave, handOn };
}

for (const scope of ['Segment', 'Term'] as const) {
  test(`uploaded use of the days of a final bill is on it, and on no other: ${scope}`, async () => {
    const { place, change, upload, bill, read, askFinal, leave } = await openHouse(scope);
    const { party } = place;
    assert.deepEqual(await bill(await place.open(july)), [party, 310, 0, 0]);
    await read('100', '31/07/2026');
    await leave('11/08/2026', '150');
    const final = await askFinal();
    await upload(final, '5', '20/07/2026');
    await upload(final, '3', '05/08/2026');
    assert.deepEqual(await bill(final), [party, 100, 1500, 16]);
    const on = { ...change, effectiveDate: '05/09/2026', force: true };
    await place.client.reconnectConnection({ data: on });
    await read('400', '30/09/2026');
    // 310 * 26/30
    assert.deepEqual(await bill(await place.open(september)), [party, 268.67, 0, 0]);
    const october = { startDate: '01/10/2026', endDate: '31/10/2026' };
    assert.deepEqual(await bill(await place.open(october)), [party, 310, 2500, 0]);
    await assertChecks(scene, place.tenantId);
  });

  test(`an owner who leaves in the first term is billed for the usage: ${scope}`, async () => {
    const { place, upload, bill, askFinal, leave } = await openHouse(scope);
    await leave('11/07/2026', '50');
    const final = await askFinal();
    await upload(final, '3', '05/07/2026');
    assert.deepEqual(await bill(final), [place.party, 100, 500, 6]);
    await assertChecks(scene, place.tenantId);
  });

  test(`and so is each of several owners in one term: ${scope}`, async () => {
    const { place, upload, bill, read, askFinal, handOn } = await openHouse(scope);
    const second = await handOn('11/07/2026', '50');
    const third = await handOn('21/07/2026', '80');
    const first = await askFinal();
    await upload(first, '3', '05/07/2026');
    assert.deepEqual(await bill(first), [place.party, 100, 500, 6]);
    const next = await askFinal();
    await upload(next, '4', '15/07/2026');
    assert.deepEqual(await bill(next), [second, 100, 300, 8]);
    assert.deepEqual(await bill(await place.open(july)), [third, 110, 0, 0]);
    await read('100', '31/07/2026');
    assert.deepEqual(await bill(await place.open(august)), [third, 310, 200, 0]);
    await assertChecks(scene, place.tenantId);
  });

  for (const next of ['Regular', 'Final'] as const) {
    test(`use of the last days that were billed is on the next bill: ${next}, ${scope}`, async () => {
      const { place, change, bill, read, leave } = await openHouse(scope);
      const { party } = place;
      assert.deepEqual(await bill(await place.open(july)), [party, 310, 0, 0]);
      await read('100', '31/07/2026');
      const days = { startDate: '01/08/2026', endDate: '10/08/2026' };
      const connectionNumbers = [change.connectionNumber];
      const between = await place.open({ ...days, type: 'OffCycle', connectionNumbers });
      assert.deepEqual(await bill(between), [party, 310, 1000, 0]);
      await leave('11/08/2026', '150');
      const chosen = next === 'Final' ? { type: next, connectionNumbers } : {};
      const last = await place.open({ ...august, ...chosen });
      assert.deepEqual(await bill(last), [party, 0, 500, 0]);
      await assertChecks(scene, place.tenantId);
    });
  }

  test(`an owner with a final bill does not block the regular term: ${scope}`, async () => {
    const { place, change, bill, read, leave } = await openHouse(scope);
    assert.deepEqual(await bill(await place.open(july)), [place.party, 310, 0, 0]);
    await read('100', '31/07/2026');
    await leave('11/08/2026', '150');
    const days = { startDate: '01/08/2026', endDate: '10/08/2026' };
    const chosen = { type: 'Final' as const, connectionNumbers: [change.connectionNumber] };
    const final = await bill(await place.open({ ...days, ...chosen }));
    assert.deepEqual(final, [place.party, 310, 1500, 0]);
    assert.deepEqual(await bill(await place.open(august)), [place.party, 0, 0, 0]);
    await assertChecks(scene, place.tenantId);
  });

  test(`so it is where a Final term has the days of the bill before, too: ${scope}`, async () => {
    const { place, change, bill, leave } = await openHouse(scope);
    assert.deepEqual(await bill(await place.open(july)), [place.party, 310, 0, 0]);
    await leave('01/08/2026', '100');
    const days = { startDate: '01/07/2026', endDate: '05/08/2026' };
    const chosen = { type: 'Final' as const, connectionNumbers: [change.connectionNumber] };
    const final = await bill(await place.open({ ...days, ...chosen }));
    assert.deepEqual(final, [place.party, 0, 1000, 0]);
    await assertChecks(scene, place.tenantId);
  });
}
