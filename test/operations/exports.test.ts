// Whole tables as CSV, and route sheets that go out empty and come back filled in.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { refuses } from '../support/client.ts';
import { openMetered } from '../support/metered.ts';
import { newService } from '../support/pricing.ts';
import { openScene } from '../support/scene.ts';
import { newOffer } from '../support/subscriptions.ts';

const scene = await openScene();
const { admin } = await openMetered(scene, 'exports');
const offer = await newOffer(admin, {
  connectionInputs: [{ name: 'load', type: 'Number' }],
  batches: [{ batchCode: 'NORTH' }],
});

function rowsOf(lines: readonly string[]): Record<string, string>[] {
  return parse(lines.join('\r\n'), { columns: true }) as Record<string, string>[];
}

const nasty = [
  '=cmd|x',
  'Khan;=cmd',
  '＝cmd',
  '@SUM(A1)',
  '+1+1',
  '-1+1',
  '\u202etxt',
  'a"b,c',
  'x\ny',
  '🙂',
  'n'.repeat(200),
];

test('names that look like formulas go out as text and come back as they were', async () => {
  await admin.makeUsers({ userType: 'customer', users: nasty.map((name) => ({ name })) });
  const { data, headers } = await admin.exportData({ kind: 'Parties' });
  const rows = rowsOf(data.lines);
  assert.equal(headers.get('x-total-count'), String(rows.length));
  const names = rows.map((row) => row.name ?? '');
  for (const name of names) assert.doesNotMatch(name, /(^|;)[=+\-@\t\r＝＋－＠]/);
  const other = await scene.workspace('exports-elsewhere');
  await other.importData({ kind: 'Parties', content: data.lines.join('\r\n') });
  const back = await other.exportData({ kind: 'Parties' });
  assert.deepEqual(back.data.lines, data.lines);
  const { data: listed } = await other.listUsers();
  for (const name of nasty)
    assert.ok(
      listed.users.some((user) => user.name === name),
      name,
    );
});

test('meters, subscriptions and readings come in elsewhere as they went out', async () => {
  const meters = [
    { number: 91001, brand: '=Itron', meterType: 1, purchaseDate: '15/01/2024', mf: 4 },
  ];
  await admin.makeMeters({ meters });
  const { serviceCode, tariffCode, postType } = offer;
  await admin.makeConnections({
    batchUpload: true,
    connection: {
      serviceCode,
      tariffCode,
      postType,
      batchCode: 'NORTH',
      connectionRefNo: 'OUT-1',
      connectionDate: '01032025',
      connectionInputs: [{ name: 'load', value: '5' }],
      meters: [{ number: 91001, initialReading: '10' }],
      users: [{ partyNumber: 100001, connectionGroupLabel: 'House 9' }],
      address: { city: 'Lahore', street: '=1+1' },
    },
  });
  const readings = [{ number: 91001, value: '70', readingDate: '01/04/2025', remark: '@x' }];
  await admin.makeReadings({ readings });
  const subscriptions = rowsOf((await admin.exportData({ kind: 'Subscriptions' })).data.lines);
  const row = subscriptions.find((one) => one.connectionRefNo === 'OUT-1');
  assert.deepEqual(
    [row?.meterNumber, row?.initialReading, row?.installDate, row?.['input.load'], row?.street],
    ['91001', '70', '01/04/2025', '5', "'=1+1"],
  );
  const read = rowsOf(
    (await admin.exportData({ kind: 'Readings', fromDate: '01/04/2025', toDate: '30/04/2025' }))
      .data.lines,
  );
  assert.deepEqual(
    read.map((one) => [one.number, one.value, one.consumption, one.remark]),
    [['91001', '70', '240', "'@x"]],
  );
  const meterLines = (await admin.exportData({ kind: 'Meters' })).data.lines;
  const other = await openMetered(scene, 'receiver');
  await other.admin.importData({ kind: 'Meters', content: meterLines.join('\r\n') });
  const back = (await other.admin.exportData({ kind: 'Meters' })).data.lines;
  const inActive = meterLines.map((line) => line.replace(',Active,', ',InActive,'));
  assert.deepEqual(back, inActive);
});

test('a login that may not read a kind may not export it', async () => {
  const reader = await scene.loginAs(admin, ['Meter Reader']);
  await reader.exportData({ kind: 'Readings' });
  await refuses(reader.exportData({ kind: 'Parties' }), 'PERMISSION_DENIED');
  await refuses(admin.exportData({ kind: 'Things' as 'Meters' }), 'INVALID_ENUM');
});

test('a route sheet lists what is still to be read, in the order of addresses, and comes back', async () => {
  const { serviceCode, tariffCode, postType } = offer;
  const houses: [string, string, number][] = [
    ['10', 'Mall Road', 92003],
    ['2', 'Mall Road', 92001],
    ['2-A', 'Mall Road', 92002],
    ['1', 'Abbot Road', 92000],
    ['', '', 92004],
  ];
  const meters = houses.map(([, , number]) => {
    return { number, brand: 'Itron', meterType: 1, purchaseDate: '15/01/2024', mf: 2 };
  });
  await admin.makeMeters({ meters });
  await admin.makeConnections({
    batchUpload: true,
    connection: houses.map(([buildingNo, street, number]) => ({
      serviceCode,
      tariffCode,
      postType,
      connectionDate: '01012026',
      meters: [{ number, initialReading: '100' }],
      users: [{ partyNumber: 100001 }],
      address: { city: street === '' ? 'Multan' : 'Lahore', street, buildingNo },
    })),
  });
  const readAll = (readingDate: string, value: string) =>
    admin.makeReadings({
      readings: houses.map(([, , number]) => ({ number, value, readingDate })),
    });
  await readAll('31/01/2026', '250');
  await readAll('02/03/2026', '400');
  const filter = { serviceCode, batchCode: 'DEFAULT', readingDate: '01/04/2026' };
  const none = await admin.getRouteSheet(filter);
  assert.equal(none.data.lines.length, 1, 'all were read since the last bill');
  const { data, headers } = await admin.getRouteSheet({ ...filter, sinceDate: '03/03/2026' });
  const rows = rowsOf(data.lines);
  assert.equal(headers.get('x-total-count'), '5');
  assert.deepEqual(
    rows.map((row) => row.number),
    ['92000', '92001', '92002', '92003', '92004'],
  );
  // 10 a day in units of 2: 5 on the register, 30 days on.
  const { kind, mf, previousDate, previousReading, expectedLow, expectedHigh, value, register } =
    rows[0] ?? {};
  assert.deepEqual(
    { kind, mf, previousDate, previousReading, expectedLow, expectedHigh, value, register },
    {
      kind: 'Cumulative',
      mf: '2',
      previousDate: '02/03/2026',
      previousReading: '400',
      expectedLow: '445',
      expectedHigh: '850',
      value: '',
      register: '',
    },
  );
  const [header = '', first = '', second = '', ...rest] = data.lines;
  const filled = (line: string, text: string) => line.replace(/,,,$/, `,01/04/2026,${text},`);
  const content = [header, filled(first, '550'), filled(second, '9000'), ...rest].join('\r\n');
  const done = await admin.importData({ kind: 'Readings', content });
  assert.equal(done.message, '2 rows imported');
  const left = await admin.getRouteSheet({ ...filter, sinceDate: '03/03/2026' });
  assert.equal(left.data.lines.length, 4, 'three are left, and what is under review was read');
  const { data: review } = await admin.getReadings({ status: 'Review', number: 92001 });
  assert.equal(review.readings.length, 1);
  assert.deepEqual(review.readings[0]?.flags, ['High']);
  await refuses(admin.getRouteSheet({ serviceCode: 'NONE' }), 'SERVICE_NOT_FOUND');
  await refuses(admin.getRouteSheet({ serviceCode, batchCode: 'X' }), 'BATCH_NOT_FOUND');
});

test('a subscription goes out with the reading up to which it was billed, not with later ones', async () => {
  const [oldMeter, newMeter, billed] = [91_101, 91_102, 91_103];
  const facts = { brand: 'Itron', meterType: 1, purchaseDate: '15/01/2024', mf: 1 };
  await admin.makeMeters({
    meters: [oldMeter, newMeter, billed].map((number) => ({ ...facts, number })),
  });
  const bulk = { ...offer, connectionInputs: [{ name: 'load', value: '5' }], partyID: 1 };
  const meter = (number: number, installDate: string) => ({
    connectionRefNo: `UP-TO-${number}`,
    meters: [{ number, installDate, initialReading: '10' }],
  });
  const old = { ...bulk, connectionDate: '01012025', billedThrough: '31032025' };
  await admin.makeConnections({
    batchUpload: true,
    connection: [
      { ...old, ...meter(oldMeter, '01/01/2025') },
      { ...old, ...meter(newMeter, '15/04/2025') },
      { ...old, ...meter(billed, '01/01/2025') },
    ],
  });
  const at = (number: number, readingDate: string, value: string) => ({
    number,
    readingDate,
    value,
  });
  await admin.makeReadings({
    readings: [
      at(oldMeter, '31/03/2025', '70'),
      at(oldMeter, '30/04/2025', '90'),
      at(newMeter, '30/04/2025', '50'),
      at(billed, '31/03/2025', '70'),
      at(billed, '03/04/2025', '72'),
      at(billed, '30/04/2025', '90'),
    ],
  });
  await takeByPostedTerm(billed, '2025-04-03');
  const rows = rowsOf((await admin.exportData({ kind: 'Subscriptions' })).data.lines);
  assert.deepEqual(
    rows
      .filter((row) => row.connectionRefNo?.startsWith('UP-TO-'))
      .map((row) => [Number(row.meterNumber), row.initialReading, row.installDate]),
    [
      [oldMeter, '70', '31/03/2025'],
      [newMeter, '10', '15/04/2025'],
      [billed, '72', '03/04/2025'],
    ],
  );
});

/** As if the bill of March had been made of a reading in the days of grace. */
async function takeByPostedTerm(number: number, readingDate: string): Promise<void> {
  await scene.enter(admin);
  await scene.sql.query(
    `insert into terms (tenant_id, term_id, term_type, label, context_id, batch_id, billing_period_id,
       start_date, end_date, due_date, post_type, status, stage, created_at, created_by,
       modified_at, modified_by, ts)
     select s.tenant_id, 1, 'Regular', 'March', s.context_id, s.batch_id, 1, '2025-03-01', '2025-03-31',
       '2025-04-15', 'Post Subscription', 'Posted', 'Posted', now(), 'x', now(), 'x', 1
     from subscriptions s where s.reference_number = $1`,
    [`UP-TO-${number}`],
  );
  await scene.sql.query(
    `insert into term_readings (tenant_id, term_id, subscription_id, assignment_id, position,
       reading_id, reading_date, value, reading_type, locked_at, locked_by)
     select r.tenant_id, 1, s.subscription_id, r.assignment_id, r.position, r.reading_id,
       r.reading_date, r.value, r.reading_type, now(), 'x'
     from readings r
     join meter_assignments a using (tenant_id, assignment_id)
     join subscriptions s using (tenant_id, subscription_id)
     where s.reference_number = $1 and r.reading_date = $2`,
    [`UP-TO-${number}`, readingDate],
  );
}

test('days are named as ignored where what is exported has none', async () => {
  const days = { fromDate: '01/01/2026', toDate: '31/01/2026' };
  for (const kind of ['Parties', 'Meters', 'Subscriptions'] as const) {
    const { headers } = await admin.exportData({ kind, ...days });
    assert.equal(headers.get('x-ignored-fields'), 'fromDate,toDate', kind);
  }
  const { headers } = await admin.exportData({ kind: 'Readings', ...days });
  assert.equal(headers.get('x-ignored-fields'), null);
  const one = await admin.exportData({ kind: 'Meters', toDate: '31/01/2026', x: 1 } as never);
  assert.equal(one.headers.get('x-ignored-fields'), 'x,toDate');
});

test('an archived party goes out where a subscription is its own, and only there', async () => {
  const users = [{ name: 'Moved out' }, { name: 'Never moved in' }];
  const made = await admin.makeUsers({ userType: 'customer', users });
  const [partyNumber = 0, other = 0] = (made.headers.get('x-party-number') ?? '')
    .split(',')
    .map(Number);
  const { serviceCode, tariffCode, postType } = offer;
  await admin.makeConnections({
    batchUpload: true,
    connection: {
      serviceCode,
      tariffCode,
      postType,
      connectionDate: '01012020',
      status: 'Closed',
      users: [{ partyNumber }],
    },
  });
  for (const number of [partyNumber, other]) {
    await admin.updateUser({ user: { partyNumber: number, archiveStatus: 1 } });
  }
  const parties = await admin.exportData({ kind: 'Parties' });
  const numbers = rowsOf(parties.data.lines).map((row) => row.partyNumber);
  assert.equal(parties.headers.get('x-total-count'), String(numbers.length));
  const has = (number: number) => numbers.includes(String(number));
  assert.deepEqual([has(partyNumber), has(other)], [true, false]);
  const subscriptions = rowsOf((await admin.exportData({ kind: 'Subscriptions' })).data.lines);
  for (const row of subscriptions) assert.ok(numbers.includes(row.partyNumber ?? ''));
});

test('a route sheet of a term that does not exist is refused', async () => {
  const admin = await scene.workspace('route-of-no-term');
  const serviceCode = await newService(admin);
  await refuses(admin.getRouteSheet({ serviceCode, termID: 99 }), 'TERM_NOT_FOUND');
});
