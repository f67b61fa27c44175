// Assigning, replacing and removing meters.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { openMetered } from '../support/metered.ts';
import { openScene } from '../support/scene.ts';
import { newOffer } from '../support/subscriptions.ts';
import { hashRows } from '../support/two-workspaces.ts';

const scene = await openScene();
const { admin, newMeter, newSubscription, hung } = await openMetered(scene, 'moves');
await scene.enter(admin);

async function statusOf(number: number) {
  const { data } = await admin.getMeters({ number });
  const [meter] = data.meters.meters;
  return [meter?.status, meter?.meterHealth];
}

async function readingsOf(number: number) {
  const { data } = await admin.getReadings({ number });
  return data.readings.map((one) => [
    one.connectionNumber,
    one.readingDate,
    one.value,
    one.readingType,
    one.consumption,
    one.status,
  ]);
}

async function isMetered(connection: string) {
  const { rows } = await scene.sql.query(
    'select is_metered, ts::int8 from subscriptions where subscription_number = $1',
    [connection],
  );
  return rows[0] as { is_metered: boolean; ts: string };
}

async function storesNothing(work: () => Promise<unknown>): Promise<void> {
  const before = await hashRows(scene.sql);
  await work();
  assert.deepEqual(await hashRows(scene.sql), before);
}

function assign(connectionNumber: string, number: number, facts: object = {}) {
  const plain = { connectionNumber, number, installDate: '01/02/2026' };
  return admin.assignMeter({ data: { ...plain, ...facts } });
}

test('assign-meter makes the meter Active and the subscription metered, with the first reading', async () => {
  const [connection, number] = [await newSubscription(), await newMeter()];
  const before = await isMetered(connection);
  assert.equal(before.is_metered, false);
  const done = await assign(connection, number, {
    initialReadings: [{ register: 'kwh', value: 12 }],
  });
  assert.deepEqual(done.data, {});
  assert.equal(done.message, `Meter ${number} installed on ${connection}`);
  assert.deepEqual(await statusOf(number), ['Active', 'ok']);
  assert.deepEqual(await readingsOf(number), [
    [connection, '01/02/2026', '12', 'Installation', null, 'Accepted'],
  ]);
  const after = await isMetered(connection);
  assert.equal(after.is_metered, true);
  assert.ok(Number(after.ts) > Number(before.ts), 'a bill that was rated before is stale');
});

test('assign-meter refuses meters that cannot be installed there, and stores nothing', async () => {
  const { connection, number: hanging } = await hung();
  const other = await newSubscription();
  const faulty = await newMeter();
  await admin.updateMeter({ data: { number: faulty, meterHealth: 'tampered' } });
  const water = await newMeter({ meterType: 3 });
  const free = await newMeter();
  await storesNothing(async () => {
    const field = 'data.number';
    await refuses(assign(other, 999_999), 'METER_NOT_REGISTERED', { field, statusCode: 422 });
    await refuses(assign(other, hanging), 'METER_ALREADY_ASSIGNED', { field, statusCode: 409 });
    await refuses(assign(other, faulty), 'METER_NOT_ASSIGNABLE', { field, statusCode: 422 });
    await refuses(assign(other, water), 'METER_TYPE_NOT_ALLOWED', { field, statusCode: 422 });
    await refuses(assign(connection, free), 'METER_BINDING_AMBIGUOUS', { field, statusCode: 422 });
    await refuses(assign(other, free, { meteredInput: 'gas' }), 'UNKNOWN_INPUT', {
      field: 'data.meteredInput',
    });
    const initialReadings = [{ value: '1000000' }];
    await refuses(assign(other, free, { initialReadings }), 'INVALID_NUMBER', {
      field: 'data.initialReadings[0].value',
    });
    const named = [{ register: 'm3', value: '1' }];
    await refuses(assign(other, free, { initialReadings: named }), 'REGISTER_REQUIRED', {
      field: 'data.initialReadings[0].register',
    });
    const two = [{ register: 'kWh', value: '1' }, { value: '2' }];
    await refuses(assign(other, free, { initialReadings: two }), 'DUPLICATE_ROW', {
      field: 'data.initialReadings[1]',
      statusCode: 422,
    });
  });
});

test('a second meter adds to an input that is named', async () => {
  const { connection } = await hung();
  const second = await newMeter();
  await assign(connection, second, { meteredInput: 'energy' });
  assert.deepEqual(await statusOf(second), ['Active', 'ok']);
});

test('meters are not moved ahead of time, before the connection, or in days that were billed', async () => {
  const connection = await newSubscription({ billedThrough: '2026-05-31' });
  const number = await newMeter();
  const on = (installDate: string) => assign(connection, number, { installDate });
  const field = 'data.installDate';
  await storesNothing(async () => {
    await refuses(on('31/12/2199'), 'DATE_IN_FUTURE', { field, statusCode: 422 });
    await refuses(on('31/05/2026'), 'DATE_IN_POSTED_TERM', { field, statusCode: 409 });
    await refuses(on('31/12/2025'), 'DATE_OUT_OF_ORDER', { field, statusCode: 422 });
    await refuses(assign('NONE-1', number), 'SUBSCRIPTION_NOT_FOUND', { statusCode: 404 });
  });
  await on('01/06/2026');
  await refuses(
    admin.removeMeter({ data: { connectionNumber: connection, number, removeDate: '31/05/2026' } }),
    'DATE_IN_POSTED_TERM',
  );
});

test('a closed subscription gets no meter', async () => {
  const [connection, number] = [await newSubscription(), await newMeter()];
  await scene.sql.query(
    `update subscriptions set status = 'Disconnected', disconnection_kind = 'Permanent'
     where subscription_number = $1`,
    [connection],
  );
  await scene.sql.query(
    "update subscriptions set status = 'Closed' where subscription_number = $1",
    [connection],
  );
  const refusal = await refuses(assign(connection, number), 'INVALID_STATE', { statusCode: 409 });
  assert.equal((refusal.error as { current?: string }).current, 'Closed');
});

test('replace-meter ends one meter and begins the other, which measures the same', async () => {
  const { connection, number: oldNumber } = await hung({ value: '100', mf: 2 });
  const newNumber = await newMeter({ mf: 5 });
  await admin.replaceMeter({
    data: {
      connectionNumber: connection,
      oldNumber,
      newNumber,
      replaceDate: '15/02/2026',
      finalReadings: [{ value: '160' }],
      initialReadings: [{ register: 'kWh', value: '7' }],
      reason: 'Display broken',
      oldMeterHealth: 'faulty',
    },
  });
  assert.deepEqual(await statusOf(oldNumber), ['InActive', 'faulty']);
  assert.deepEqual(await statusOf(newNumber), ['Active', 'ok']);
  assert.deepEqual(await readingsOf(oldNumber), [
    [connection, '01/01/2026', '100', 'Installation', null, 'Accepted'],
    [connection, '15/02/2026', '160', 'Removal', '120', 'Accepted'],
  ]);
  assert.deepEqual(await readingsOf(newNumber), [
    [connection, '15/02/2026', '7', 'Installation', null, 'Accepted'],
  ]);
  const { rows } = await scene.sql.query(
    `select r.input, a.remove_date::text, a.removal_reason, a.mf
     from meter_assignments a join assignment_registers r using (tenant_id, assignment_id)
     join subscriptions s on s.subscription_id = a.subscription_id
     where s.subscription_number = $1 order by a.assignment_id`,
    [connection],
  );
  assert.deepEqual(rows, [
    { input: 'energy', remove_date: '2026-02-15', removal_reason: 'Display broken', mf: 2 },
    { input: 'energy', remove_date: null, removal_reason: null, mf: 5 },
  ]);
  assert.equal((await isMetered(connection)).is_metered, true);
});

test('replace-meter is refused as a whole when either half is', async () => {
  const { connection, number: oldNumber } = await hung();
  const { number: elsewhere } = await hung();
  const free = await newMeter();
  const replace = (facts: object) => {
    const plain = { connectionNumber: connection, oldNumber, newNumber: free };
    return admin.replaceMeter({ data: { ...plain, replaceDate: '15/02/2026', ...facts } });
  };
  await storesNothing(async () => {
    const newField = { field: 'data.newNumber' };
    await refuses(replace({ newNumber: elsewhere }), 'METER_ALREADY_ASSIGNED', newField);
    await refuses(replace({ newNumber: oldNumber }), 'METER_ALREADY_ASSIGNED', newField);
    await refuses(replace({ newNumber: 999_999 }), 'METER_NOT_REGISTERED', newField);
    const oldField = { field: 'data.oldNumber' };
    await refuses(replace({ oldNumber: elsewhere }), 'METER_NOT_ASSIGNED', oldField);
    await refuses(replace({ finalReadings: [{ value: '9999999' }] }), 'INVALID_NUMBER', {
      field: 'data.finalReadings[0].value',
    });
    await refuses(
      replace({ finalReadings: [{ register: 'x', value: '1' }] }),
      'REGISTER_REQUIRED',
      {
        field: 'data.finalReadings[0].register',
      },
    );
  });
  const water = await newMeter({ meterType: 3 });
  await refuses(replace({ newNumber: water }), 'METER_TYPE_NOT_ALLOWED', {
    field: 'data.newNumber',
  });
});

test('remove-meter frees the meter for another subscription, where it goes on from its last value', async () => {
  const { connection, number } = await hung({ value: '500' });
  await admin.removeMeter({
    data: {
      connectionNumber: connection,
      number,
      removeDate: '01/03/2026',
      finalReadings: [{ value: '620' }],
      reason: 'Moved',
    },
  });
  assert.deepEqual(await statusOf(number), ['InActive', 'ok']);
  assert.equal((await isMetered(connection)).is_metered, false);
  const other = await newSubscription();
  await refuses(assign(other, number, { installDate: '28/02/2026' }), 'METER_ALREADY_ASSIGNED');
  await assign(other, number, { installDate: '01/03/2026' });
  assert.deepEqual(await readingsOf(number), [
    [connection, '01/01/2026', '500', 'Installation', null, 'Accepted'],
    [connection, '01/03/2026', '620', 'Removal', '120', 'Accepted'],
    [other, '01/03/2026', '620', 'Installation', null, 'Accepted'],
  ]);
});

test('a meter is not removed where it is not installed, nor before its last reading', async () => {
  const { connection, number } = await hung();
  const other = await newSubscription();
  const remove = (connectionNumber: string, removeDate: string) =>
    admin.removeMeter({ data: { connectionNumber, number, removeDate } });
  await refuses(remove(other, '01/03/2026'), 'METER_NOT_ASSIGNED', { field: 'data.number' });
  await admin.makeReadings({ readings: [{ number, value: '50', readingDate: '10/03/2026' }] });
  await refuses(remove(connection, '01/03/2026'), 'DATE_OUT_OF_ORDER', {
    field: 'data.removeDate',
  });
  await remove(connection, '10/03/2026');
  assert.equal((await readingsOf(number)).length, 2, 'it was read on its last day');
});

test('a last reading that is not given is estimated from the use before', async () => {
  const { connection, number } = await hung({ mf: 10 });
  await admin.makeReadings({
    readings: [
      { number, value: '31', readingDate: '01/02/2026' },
      { number, value: '59', readingDate: '01/03/2026' },
    ],
  });
  const data = { connectionNumber: connection, number, removeDate: '11/03/2026' };
  await admin.removeMeter({ data });
  assert.deepEqual((await readingsOf(number)).at(-1), [
    connection,
    '11/03/2026',
    '69',
    'Estimated',
    '100',
    'Accepted',
  ]);
});

test('a meter cannot be retired while it is installed, and can be after it is replaced', async () => {
  const { connection, number } = await hung();
  const newNumber = await newMeter();
  await refuses(admin.updateMeter({ data: { number, meterHealth: 'retired' } }), 'INVALID_STATE');
  await admin.replaceMeter({
    data: {
      connectionNumber: connection,
      oldNumber: number,
      newNumber,
      replaceDate: '15/02/2026',
      oldMeterHealth: 'retired',
    },
  });
  assert.deepEqual(await statusOf(number), ['InActive', 'retired']);
});

test('an exchange for a meter with several registers that fit is refused', async () => {
  const { connection, number } = await hung();
  const several = await newMeter({ meterType: 2 });
  const data = { connectionNumber: connection, oldNumber: number, newNumber: several };
  await refuses(
    admin.replaceMeter({ data: { ...data, replaceDate: '01/03/2026' } }),
    'METER_BINDING_AMBIGUOUS',
    { field: 'data.newNumber' },
  );
});

test('a meter is installed at a subscription whatever the number of the subscription', async () => {
  const numbers = [await newMeter(), await newMeter()] as const;
  const connectionNumber = 'N'.repeat(120);
  await admin.makeConnections({
    batchUpload: true,
    connection: { ...(await newOffer(admin)), partyID: 1, connectionNumber },
  });
  const { data: settled } = await admin.getConnections({ connectionNumber });
  const [connected = ''] = settled.connections.map((one) => one.connectionDate);
  const today = connected?.replace(/^(..)(..)/, '$1/$2/') ?? '';
  await assign(connectionNumber, numbers[0], { installDate: today });
  const { data } = await admin.getReadings({ connectionNumber });
  assert.equal(data.readings.length, 1);
  await admin.replaceMeter({
    data: {
      connectionNumber,
      oldNumber: numbers[0],
      newNumber: numbers[1],
      replaceDate: today,
      finalReadings: [{ value: '0' }],
    },
  });
  await admin.removeMeter({
    data: { connectionNumber, number: numbers[1], removeDate: today },
  });
  assert.deepEqual(await statusOf(numbers[1]), ['InActive', 'ok']);
});

test('messages about days and values are in the form in which those are sent', async () => {
  const connection = await newSubscription({ billedThrough: '2026-03-31' });
  const number = await newMeter();
  const { error: billed } = await refuses(assign(connection, number), 'DATE_IN_POSTED_TERM');
  assert.equal(billed.message, 'The subscription is billed up to 31/03/2026');
  const early = assign(connection, number, { installDate: '31/12/2025' });
  const { error: begins } = await refuses(early, 'DATE_OUT_OF_ORDER');
  assert.equal(begins.message, 'The subscription begins on 01/01/2026');
  const initialReadings = [{ value: '20.5' }];
  const half = assign(connection, number, { installDate: '01/04/2026', initialReadings });
  const { error: whole } = await refuses(half, 'INVALID_NUMBER');
  assert.equal(whole.message, 'Register kWh shows 0 to 999999 without decimals');
});
