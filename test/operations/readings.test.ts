// Entering and listing readings.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestOf } from '../../sdk/client.ts';
import { refuses } from '../support/client.ts';
import { at, type Reading, read, seen } from '../support/entered-readings.ts';
import { openMetered } from '../support/metered.ts';
import { openScene } from '../support/scene.ts';
import { hashRows } from '../support/two-workspaces.ts';

const scene = await openScene();
const { admin, newMeter, hung } = await openMetered(scene, 'readings');
await scene.enter(admin);

async function storesNothing(work: () => Promise<unknown>): Promise<void> {
  const before = await hashRows(scene.sql);
  await work();
  assert.deepEqual(await hashRows(scene.sql), before);
}

test('a reading is accepted and measured against the one before', async () => {
  const { connection, number } = await hung({ value: '100', mf: 3 });
  const facts = { source: 'App', remark: 'Behind the fence', externalRef: `a-${number}` };
  const more = { imageUrl: 'https://example.com/1.jpg', readingTime: '08:30' };
  const done = await read(admin, at(number, '11/01/2026', '107.0', { ...facts, ...more }));
  assert.deepEqual(done.data, {});
  assert.equal(done.message, '1 reading stored');
  const { data } = await admin.getReadings({ number });
  const { createdAt, modifiedAt, ...shown } = data.readings.at(-1) ?? {};
  assert.deepEqual(shown, {
    readingID: Number(done.headers.get('x-resource-id')),
    number,
    register: 'kWh',
    unit: 'kWh',
    connectionNumber: connection,
    value: '107',
    readingDate: '11/01/2026',
    readingTime: '08:30:00',
    readingType: 'Actual',
    status: 'Accepted',
    consumption: '21',
    days: 10,
    dailyAverage: '2.1',
    rollover: 0,
    flags: [],
    termID: null,
    source: 'App',
    remark: 'Behind the fence',
    imageUrl: 'https://example.com/1.jpg',
    externalRef: `a-${number}`,
    createdBy: 'admin@readings.example',
    modifiedBy: 'admin@readings.example',
  });
  assert.equal(createdAt, modifiedAt);
});

test('far more or far less than the last intervals goes under review; so does a decrease', async () => {
  const { number } = await hung();
  // 10 a day, twice: from then on 3 to 30 a day are usual.
  await read(admin, at(number, '11/01/2026', '100'), at(number, '21/01/2026', '200'));
  const done = await read(admin, at(number, '31/01/2026', '501'));
  assert.match(
    done.message,
    /^1 reading stored, 1 under review: meter \d+ on 31\/01\/2026 \(usage is far above the average\)\. Decide on each with review-reading\.$/,
  );
  await read(admin, at(number, '01/02/2026', '500', { readingType: 'Check' }));
  await read(admin, at(number, '10/02/2026', '530'));
  await read(admin, at(number, '20/02/2026', '100'));
  assert.deepEqual(await seen(admin, number), [
    ['11/01/2026', '100', 'Accepted', '100', 10, []],
    ['21/01/2026', '200', 'Accepted', '100', 10, []],
    ['31/01/2026', '501', 'Review', '301', 10, ['High']],
    ['01/02/2026', '500', 'Accepted', '300', 11, []],
    ['10/02/2026', '530', 'Review', '30', 9, ['Low']],
    ['20/02/2026', '100', 'Review', null, null, ['Decreased']],
  ]);
});

test('with fewer than two intervals, or under a unit a day, nothing is high or low', async () => {
  const { number } = await hung();
  await read(admin, at(number, '11/01/2026', '100'), at(number, '21/01/2026', '9000'));
  const { number: small } = await hung();
  await read(
    admin,
    at(small, '11/01/2026', '1'),
    at(small, '21/01/2026', '2'),
    at(small, '31/01/2026', '11'),
    at(small, '10/02/2026', '11'),
  );
  for (const meter of [number, small]) {
    assert.deepEqual(
      new Set((await seen(admin, meter)).map((one) => one[2])),
      new Set(['Accepted']),
    );
  }
});

test('the factors of the metered input take the place of 3 and 0.3', async () => {
  const highLow = { highFactor: 1.5, lowFactor: 0.9 };
  const meteredInputs = [{ name: 'energy', unit: 'kWh', highLow }];
  const strict = await openMetered(scene, 'strict', { meteredInputs });
  await scene.enter(strict.admin);
  const { number } = await strict.hung();
  await scene.enter(admin);
  const rows = ['100', '200', '351'].map((value, index) => ({
    number,
    value,
    readingDate: `${index + 1}1/01/2026`,
  }));
  await strict.admin.makeReadings({ readings: rows });
  const { data } = await strict.admin.getReadings({ number, status: 'Review' });
  assert.deepEqual(
    data.readings.map((one) => [one.value, one.flags]),
    [['351', ['High']]],
  );
});

test('a register that passed its highest value goes on from zero', async () => {
  const { number } = await hung({ value: '999900' });
  await read(admin, at(number, '11/01/2026', '100'));
  const { number: far } = await hung({ value: '900000' });
  await read(admin, at(far, '11/01/2026', '500000'));
  await read(admin, at(far, '12/01/2026', '500001', { rollover: true }));
  const { data } = await admin.getReadings({ number });
  assert.deepEqual([data.readings.at(-1)?.consumption, data.readings.at(-1)?.rollover], ['200', 1]);
  assert.deepEqual(await seen(admin, far), [
    ['11/01/2026', '500000', 'Review', null, null, ['Decreased']],
    ['12/01/2026', '500001', 'Accepted', '600001', 11, []],
  ]);
});

test('a reading between two others changes the usage of the later one', async () => {
  const { number } = await hung();
  await read(admin, at(number, '31/01/2026', '300'));
  await read(admin, at(number, '21/01/2026', '150'), at(number, '11/01/2026', '100'));
  await read(admin, at(number, '25/01/2026', '301'));
  assert.deepEqual(await seen(admin, number), [
    ['11/01/2026', '100', 'Accepted', '100', 10, []],
    ['21/01/2026', '150', 'Accepted', '50', 10, []],
    ['25/01/2026', '301', 'Review', null, null, ['Decreased']],
    ['31/01/2026', '300', 'Accepted', '150', 10, []],
  ]);
});

test('several registers are read by name, each by its own kind', async () => {
  const number = await newMeter({ meterType: 2 });
  const connection = await hungAt(number);
  const read3 = (readingDate: string, peak: string, off: string, demand: string) =>
    read(
      admin,
      at(number, readingDate, peak, { register: 'kWhPeak' }),
      at(number, readingDate, off, { register: 'KWHOFFPEAK' }),
      at(number, readingDate, demand, { register: 'kW' }),
    );
  await read3('31/01/2026', '10', '20', '4.25');
  await read3('28/02/2026', '30', '60', '3.5');
  const { data } = await admin.getReadings({
    connectionNumber: connection,
    fromDate: '01/02/2026',
  });
  assert.deepEqual(
    data.readings.map((one) => [one.register, one.consumption, one.days]),
    [
      ['kWhPeak', '20', 28],
      ['kWhOffPeak', '40', 28],
      ['kW', '3.5', 28],
    ],
  );
  const field = 'readings[0].register';
  await refuses(read(admin, at(number, '01/03/2026', '1')), 'REGISTER_REQUIRED', { field });
});

/** Installs a meter that measures nothing the context bills. */
async function hungAt(number: number): Promise<string> {
  const { connection, number: other } = await hung();
  await admin.removeMeter({
    data: { connectionNumber: connection, number: other, removeDate: '02/01/2026' },
  });
  const { rows } = await scene.sql.query(
    `insert into meter_assignments (tenant_id, assignment_id, meter_id, subscription_id,
       install_date, mf, created_at, created_by, modified_at, modified_by, ts)
     select s.tenant_id, 900000 + m.meter_id, m.meter_id, s.subscription_id, '2026-01-02', 1, now(),
       'x', now(), 'x', 1
     from subscriptions s, meters m
     where s.tenant_id = m.tenant_id and s.subscription_number = $1 and m.number = $2
     returning tenant_id, assignment_id, subscription_id`,
    [connection, number],
  );
  await scene.sql.query(
    `insert into assignment_registers (tenant_id, assignment_id, position, subscription_id, input)
     select $1, $2, n, $3, null from generate_series(1, 3) n`,
    [rows[0].tenant_id, rows[0].assignment_id, rows[0].subscription_id],
  );
  await scene.sql.query(
    `insert into readings (tenant_id, reading_id, assignment_id, position, reading_date, value,
       reading_type, status, created_at, created_by, modified_at, modified_by)
     select $1, 900000 + n, $2, n, '2026-01-02', 0, 'Installation', 'Accepted', now(), 'x', now(),
       'x'
     from generate_series(1, 2) n`,
    [rows[0].tenant_id, rows[0].assignment_id],
  );
  return connection;
}

test('every bad row is named, and then no row is stored', async () => {
  const { number } = await hung();
  const unassigned = await newMeter();
  await read(admin, at(number, '11/01/2026', '100', { externalRef: 'ref-1' }));
  await storesNothing(async () => {
    const refusal = await refuses(
      read(
        admin,
        at(number, '12/01/2026', '101'),
        at(999_999, '12/01/2026', '1'),
        at(unassigned, '12/01/2026', '1'),
        at(number, '31/12/2025', '1'),
        at(number, '13/01/2026', '1000000'),
        at(number, '14/01/2026', '1.5'),
        at(number, '15/01/2026', '-1'),
        at(number, '31/12/2199', '1'),
        at(number, '11/01/2026', '100'),
        at(number, '12/01/2026', '102'),
        at(number, '16/01/2026', '102', { externalRef: 'ref-1' }),
        at(number, '17/01/2026', '102', { register: 'm3' }),
      ),
      'ROWS_REJECTED',
      { statusCode: 422 },
    );
    assert.deepEqual(
      refusal.error.details.map((one) => [one.field, one.code]),
      [
        ['readings[1].number', 'METER_NOT_FOUND'],
        ['readings[2].number', 'METER_NOT_ASSIGNED'],
        ['readings[3].number', 'METER_NOT_ASSIGNED'],
        ['readings[4].value', 'INVALID_NUMBER'],
        ['readings[5].value', 'INVALID_NUMBER'],
        ['readings[6].value', 'INVALID_NUMBER'],
        ['readings[7].readingDate', 'DATE_IN_FUTURE'],
        ['readings[8].readingDate', 'DUPLICATE_ROW'],
        ['readings[9].readingDate', 'DUPLICATE_ROW'],
        ['readings[10].externalRef', 'DUPLICATE_ROW'],
        ['readings[11].register', 'REGISTER_REQUIRED'],
      ],
    );
    await refuses(read(admin, at(999_999, '12/01/2026', '1')), 'METER_NOT_FOUND', {
      statusCode: 404,
    });
    await refuses(read(admin, at(number, '31/02/2026', '1')), 'INVALID_DATE', { statusCode: 400 });
    await refuses(read(admin, at(number, '12/01/2026', 'x')), 'INVALID_NUMBER', {
      statusCode: 400,
    });
    const wrong = [{ readingTime: '24:00' }, { readingTime: '8:30' }];
    for (const facts of wrong) {
      await refuses(read(admin, at(number, '12/01/2026', '1', facts)), 'INVALID_DATETIME');
    }
    const type = { readingType: 'Installation' } as unknown as Partial<Reading>;
    await refuses(read(admin, at(number, '12/01/2026', '1', type)), 'INVALID_ENUM');
  });
});

test('the same upload again is refused row by row', async () => {
  const { number } = await hung();
  const rows = [at(number, '11/01/2026', '1'), at(number, '12/01/2026', '2')];
  await read(admin, ...rows);
  await storesNothing(async () => {
    const refusal = await refuses(read(admin, ...rows), 'DUPLICATE_ROW');
    assert.equal(refusal.error.details.length, 2);
  });
});

test('get-readings narrows by meter, subscription, state and days, and pages', async () => {
  const { connection, number } = await hung();
  await read(admin, ...[1, 2, 3, 4, 5].map((n) => at(number, `1${n}/01/2026`, String(n))));
  const values = async (filter: RequestOf<'getReadings'>) => {
    const { data, headers } = await admin.getReadings(filter);
    return [data.readings.map((one) => one.value), headers.get('x-total-count')];
  };
  assert.deepEqual(await values({ connectionNumber: connection }), [
    ['0', '1', '2', '3', '4', '5'],
    '6',
  ]);
  const days = { fromDate: '12/01/2026', toDate: '14/01/2026' };
  assert.deepEqual(await values({ number, ...days }), [['2', '3', '4'], '3']);
  assert.deepEqual(await values({ number, page: { pageNumber: 1, size: 4 } }), [['4', '5'], '6']);
  assert.deepEqual(await values({ number, connectionNumber: 'NONE' }), [[], '0']);
  assert.deepEqual(await values({ number: 5 }), [[], '0']);
  const all = await admin.getReadings({});
  const some = await admin.getReadings({ page: { pageNumber: 2, size: 7 } });
  assert.deepEqual(some.data.readings, all.data.readings.slice(14, 21));
  assert.equal(some.headers.get('x-total-count'), String(all.data.readings.length));
  await refuses(admin.getReadings({ status: 'x' as 'Review' }), 'INVALID_FILTER_VALUE');
  const { data } = await admin.getReadings({ number, metaData: { fields: ['value'] } });
  assert.deepEqual(data.readings[0], { value: '0' });
});

test('a customer enters and sees readings of its own meters only', async () => {
  const { number } = await hung();
  await admin.makeUsers({ userType: 'customer', users: [{ name: 'Other' }] });
  const own = await scene.loginAs(admin, ['Customer'], { partyNumber: 100001 });
  const other = await scene.loginAs(admin, ['Customer'], { partyNumber: 100002 });
  const readings = [at(number, '11/01/2026', '10', { readingType: 'Automatic' })];
  await refuses(other.makeReadings({ readings }), 'METER_NOT_FOUND');
  await own.makeReadings({ readings });
  const mine = await own.getReadings({ number });
  assert.deepEqual(
    mine.data.readings.map((one) => one.readingType),
    ['Installation', 'Customer'],
  );
  assert.deepEqual((await other.getReadings({ number })).data.readings, []);
  assert.deepEqual((await other.getReadings({})).data.readings, []);
  const reader = await scene.loginAs(admin, ['Meter Reader']);
  await reader.makeReadings({ readings: [at(number, '12/01/2026', '11')] });
});

test('readings that are entered at once for one register are measured one after the other', async () => {
  const { number } = await hung();
  const days = ['11', '12', '13', '14', '15', '16', '17', '18'];
  await Promise.all(days.map((day) => read(admin, at(number, `${day}/01/2026`, day))));
  assert.deepEqual(
    (await seen(admin, number)).map((one) => [one[1], one[3], one[4]]),
    [['11', '11', 10], ...days.slice(1).map((day) => [day, '1', 1])],
  );
});
