// Files of parties, meters, subscriptions, readings and customers, taken in as a whole or not at
// all.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { file, problemsOf, storesNothing, take } from '../support/imported-files.ts';
import { openMetered } from '../support/metered.ts';
import { openScene } from '../support/scene.ts';
import { newOffer } from '../support/subscriptions.ts';

const scene = await openScene();
const { admin, hung } = await openMetered(scene, 'imports');
const offer = await newOffer(admin, {
  connectionInputs: [{ name: 'load', type: 'Number', required: 1 }],
  batches: [{ batchCode: 'B1' }],
});
await scene.enter(admin);

test('parties come in with contacts and address, under the next numbers or their own', async () => {
  const done = await take(
    admin,
    'Parties',
    file(
      'Name,Party Number,user_type,e-mail,mobile,street,City,country',
      'Zoë Ünal,,,zoe@example.com,+92 300 1,Mall Road 1,Lahore,PAK',
      '"Khan, Asma",200500,vendor,,,,,',
      "'=cmd|x,,,,,,,",
    ).replace('e-mail', 'email'),
  );
  assert.equal(done.message, '3 rows imported');
  assert.deepEqual(done.data, {});
  const { data } = await admin.listUsers({ metaData: { search: 'zoë' } });
  const [zoe] = data.users;
  assert.deepEqual(
    [zoe?.email, zoe?.country, zoe?.contacts],
    ['zoe@example.com', 'PK', [{ contactType: 'Mobile', contactValue: '+92 300 1' }]],
  );
  const vendor = await admin.getUsers({ partyNumber: 200500 });
  assert.equal(vendor.data.user.userType, 'Vendor');
  const made = await admin.makeUsers({ userType: 'customer', users: [{ name: 'After' }] });
  assert.ok(Number(made.headers.get('x-party-number')) > 200_500, 'no number comes twice');
  const formula = await admin.listUsers({ metaData: { search: '=cmd' } });
  assert.equal(formula.data.users[0]?.name, '=cmd|x');
});

test('meters come in by the name or the id of their type, with dates of both forms', async () => {
  await take(
    admin,
    'Meters',
    file(
      'number;brand;meterType;purchaseDate;mf',
      '81001;Itron;electric single phase;15/01/2024;40',
      '81002;Itron;3;2024-01-16;',
    ),
  );
  const shown = async (number: number) => (await admin.getMeters({ number })).data.meters.meters[0];
  assert.deepEqual(
    [(await shown(81001))?.mf, (await shown(81002))?.meterType, (await shown(81002))?.purchaseDate],
    [40, 'Water', 20240116],
  );
});

const customerHeader =
  'name,serviceCode,tariffCode,batchCode,connectionRefNo,connectionDate,city,street,input.load,' +
  'meterNumber,meterType,initialReading,receivable';

function customer(name: string, ref: string, meter: string, more = '') {
  const { serviceCode, tariffCode } = offer;
  return `${name},${serviceCode},${tariffCode},B1,${ref},01/03/2020,Lahore,Mall Road,5,${meter},1,4711,${more}`;
}

test('a customer comes in with subscription, meter, first reading and opening balance', async () => {
  await take(admin, 'Customers', file(customerHeader, customer('Bilal', 'P-1', '82001', '150.50')));
  const { data } = await admin.getConnections({ connectionRefNo: 'P-1' } as never);
  const found = data.connections.find((one) => one.connectionRefNo === 'P-1');
  assert.equal(found?.status, 'Active');
  const meter = await admin.getReadings({ number: 82001 });
  assert.deepEqual(
    meter.data.readings.map((one) => [one.value, one.readingType, one.readingDate]),
    [['4711', 'Installation', '01/03/2020']],
  );
  const { rows } = await scene.sql.query(
    `select s.connection_inputs, b.receivable::int, p.name, s.is_metered
     from subscriptions s join parties p on p.party_id = s.party_id
     join subscription_balances b on b.subscription_id = s.subscription_id
     where s.reference_number = 'P-1'`,
  );
  assert.deepEqual(rows, [
    {
      connection_inputs: [{ name: 'load', value: '5' }],
      receivable: 15_050,
      name: 'Bilal',
      is_metered: true,
    },
  ]);
});

test('of a file with three bad rows nothing is stored, and the three are named', async () => {
  const rows = Array.from({ length: 40 }, (_, index) =>
    customer(`Customer ${index}`, `Q-${index}`, String(83_000 + index)),
  );
  rows[3] = customer('Bad date', 'Q-3', '83003').replace('01/03/2020', '31/02/2020');
  rows[17] = customer('Bad plan', 'Q-17', '83017').replace(`,${offer.tariffCode},`, ',NONE,');
  rows[31] = customer('Same meter', 'Q-31', '83000');
  const content = file(customerHeader, ...rows);
  await storesNothing(scene, async () => {
    for (const dryRun of [true, false]) {
      assert.deepEqual(await problemsOf(take(admin, 'Customers', content, { dryRun })), [
        ['lines[5].connectionDate', 'INVALID_DATE'],
        ['lines[19].tariffCode', 'PLAN_NOT_FOUND'],
        ['lines[33].meterNumber', 'DUPLICATE'],
      ]);
    }
  });
});

test('other addresses of a file are addresses, of parties and of customers', async () => {
  const parties = file('name,mobile,otherEmail', 'A,1,a@example.com', 'B,1,nobody', 'C,,a@b');
  const row = customer('Astray', 'E-1', '85001');
  const customers = file(`otherEmail,${customerHeader}`, `nobody,${row}`);
  await storesNothing(scene, async () => {
    assert.deepEqual(await problemsOf(take(admin, 'Parties', parties)), [
      ['lines[3].otherEmail', 'INVALID_EMAIL'],
      ['lines[4].otherEmail', 'INVALID_EMAIL'],
    ]);
    assert.deepEqual(await problemsOf(take(admin, 'Customers', customers)), [
      ['lines[2].otherEmail', 'INVALID_EMAIL'],
    ]);
  });
});

test('a dry run finds what the real run finds, and stores nothing', async () => {
  const content = file(customerHeader, customer('Dry', 'D-1', '84001'));
  await storesNothing(scene, async () => {
    const done = await take(admin, 'Customers', content, { dryRun: true });
    assert.equal(done.message, '1 row can be imported');
  });
  assert.equal((await take(admin, 'Customers', content)).message, '1 row imported');
});

test('the same file again changes nothing, and the same rows in another file are refused', async () => {
  const row = customer('Twice', 'T-1', '85001');
  await take(admin, 'Customers', file(customerHeader, row));
  await storesNothing(scene, async () => {
    await refuses(take(admin, 'Customers', file(customerHeader, row)), 'DUPLICATE', {
      field: 'content',
    });
    await refuses(
      take(admin, 'Customers', file(customerHeader, row), { dryRun: true }),
      'DUPLICATE',
    );
    assert.deepEqual(
      await problemsOf(take(admin, 'Customers', `${file(customerHeader, row)}\r\n`)),
      [['lines[2].meterNumber', 'DUPLICATE']],
    );
    const again = take(admin, 'Customers', file(customerHeader, row), { again: true });
    assert.deepEqual(await problemsOf(again), [['lines[2].meterNumber', 'DUPLICATE']]);
  });
});

test('several rows of one customer share the party, by its number and name', async () => {
  const header = `partyNumber,${customerHeader}`;
  const rows = [customer('Rana', 'R-1', '86001'), customer('Rana', 'R-2', '86002')];
  await take(admin, 'Customers', file(header, ...rows.map((row) => `300001,${row}`)));
  const { rows: found } = await scene.sql.query(
    `select count(distinct party_id)::int as parties, count(*)::int as subscriptions
     from subscriptions where reference_number in ('R-1', 'R-2')`,
  );
  assert.deepEqual(found, [{ parties: 1, subscriptions: 2 }]);
  const other = `300001,${customer('Another name', 'R-3', '86003')}`;
  assert.deepEqual(await problemsOf(take(admin, 'Customers', file(header, other))), [
    ['lines[2].partyNumber', 'PARTY_KEY_MISMATCH'],
  ]);
});

test('subscriptions come in for parties and meters that are there', async () => {
  await take(
    admin,
    'Meters',
    file('number,brand,meterType,purchaseDate', '87001,Itron,1,15/01/2024'),
  );
  const header =
    'partyNumber,serviceCode,tariffCode,connectionRefNo,input.load,meterNumber,initialReading';
  const row = (party: string, ref: string, load: string, meter: string, value: string) =>
    [party, offer.serviceCode, offer.tariffCode, ref, load, meter, value].join(',');
  await storesNothing(scene, async () => {
    const content = file(
      header,
      row('100001', 'S-1', '5', '87001', '12'),
      row('999999', 'S-2', '5', '', ''),
      row('100001', 'S-3', 'x', '', ''),
      row('100001', 'S-1', '5', '', ''),
      row('100001', 'S-4', '5', '87002', '1'),
      row('100001', 'S-5', '5', '87001', ''),
      row('100001', 'S-6', '', '', ''),
    );
    assert.deepEqual(await problemsOf(take(admin, 'Subscriptions', content)), [
      ['lines[3].partyNumber', 'PARTY_NOT_FOUND'],
      ['lines[4].input.load', 'INVALID_INPUT_VALUE'],
      ['lines[5].connectionRefNo', 'DUPLICATE'],
      ['lines[6].meterNumber', 'METER_NOT_REGISTERED'],
      ['lines[7].initialReading', 'REQUIRED_FIELD'],
      ['lines[8].connectionInputs', 'MISSING_INPUT'],
    ]);
  });
  await take(admin, 'Subscriptions', file(header, row('100001', 'S-1', '5', '87001', '12')));
  const { data } = await admin.getMeters({ number: 87001 });
  assert.equal(data.meters.meters[0]?.status, 'Active');
});

test('dates of a file are accepted as DD/MM/YYYY, YYYY-MM-DD and DDMMYYYY', async () => {
  const meters = [87101, 87102, 87103];
  const bought = ['15/01/2024', '2024-01-15', '15012024'];
  await take(
    admin,
    'Meters',
    file(
      'number,brand,meterType,purchaseDate',
      ...meters.map((number, index) => `${number},Itron,1,${bought[index]}`),
    ),
  );
  const header =
    'partyNumber,serviceCode,tariffCode,connectionNumber,input.load,' +
    'connectionDate,billedThrough,meterNumber,initialReading';
  const days = ['01/03/2020,31/12/2025', '2020-03-01,2025-12-31', '01032020,31122025'];
  const { serviceCode, tariffCode } = offer;
  const row = (number: number, index: number) =>
    `100001,${serviceCode},${tariffCode},FORM-${number},5,${days[index]},${number},7`;
  await take(admin, 'Subscriptions', file(header, ...meters.map(row)));
  for (const number of meters) {
    const { data } = await admin.getConnections({ connectionNumber: `FORM-${number}` });
    const [found] = data.connections;
    assert.deepEqual([found?.connectionDate, found?.billedThrough], ['01032020', '31122025']);
    const readings = (await admin.getReadings({ number })).data.readings;
    assert.deepEqual(
      readings.map((one) => [one.readingDate, one.value]),
      [['31/12/2025', '7']],
    );
    const [meter] = (await admin.getMeters({ number })).data.meters.meters;
    assert.equal(meter?.purchaseDate, 20240115);
  }
});

test('readings come in, and lines that were not filled in are passed over', async () => {
  const { connection, number } = await hung();
  const header = 'connectionNumber,number,city,previousReading,readingDate,value,remark,rollover';
  const done = await take(
    admin,
    'Readings',
    file(
      header,
      `${connection},${number},Lahore,0,31/01/2026,100,,`,
      `${connection},${number},Lahore,0,,,,`,
      ',,,,,,,',
      ' ',
      `,${number},Lahore,0,2026-02-28,200,Guests,no`,
    ),
  );
  assert.equal(done.message, '2 rows imported');
  const { data } = await admin.getReadings({ number });
  assert.deepEqual(
    data.readings.map((one) => [one.readingDate, one.value, one.consumption]),
    [
      ['01/01/2026', '0', null],
      ['31/01/2026', '100', '100'],
      ['28/02/2026', '200', '100'],
    ],
  );
  const bad = file(
    header,
    `NONE,${number},,,31/03/2026,300,,`,
    `,${number},,,31/03/2026,,,`,
    `,${number},,,28/02/2026,250,,`,
    `,999999,,,28/02/2026,1,,perhaps`,
    `,${number},,,31/03/2026,300`,
    ',,,,31/03/2026,1,,',
  );
  await storesNothing(scene, async () => {
    assert.deepEqual(await problemsOf(take(admin, 'Readings', bad)), [
      ['lines[2].connectionNumber', 'SUBSCRIPTION_NOT_FOUND'],
      ['lines[3].value', 'REQUIRED_FIELD'],
      ['lines[4].readingDate', 'DUPLICATE_ROW'],
      ['lines[5].rollover', 'INVALID_TYPE'],
      ['lines[6]', 'INVALID_FORMAT'],
      ['lines[7].number', 'REQUIRED_FIELD'],
    ]);
  });
});
