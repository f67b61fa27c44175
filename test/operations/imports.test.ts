// Files of parties, meters, subscriptions, readings and customers, taken in as a whole or not at
// all.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BillingError, RequestOf } from '../../sdk/client.ts';
import { refuses } from '../support/client.ts';
import { openMetered } from '../support/metered.ts';
import { openScene } from '../support/scene.ts';
import { newOffer } from '../support/subscriptions.ts';
import { hashRows } from '../support/two-workspaces.ts';

const scene = await openScene();
const { admin, hung } = await openMetered(scene, 'imports');
const offer = await newOffer(admin, {
  connectionInputs: [{ name: 'load', type: 'Number', required: 1 }],
  batches: [{ batchCode: 'B1' }],
});
await scene.enter(admin);

type Import = RequestOf<'importData'>;
type Kind = Import['kind'];

const file = (...lines: string[]) => `${lines.join('\r\n')}\r\n`;
const take = (kind: Kind, content: string, options: Partial<Import> = {}) =>
  admin.importData({ kind, content, ...options });

/** Line, column and code of each problem. */
async function problemsOf(call: Promise<unknown>): Promise<(string | null)[][]> {
  const refusal = (await call.then(
    () => assert.fail('was not refused'),
    (error) => error,
  )) as BillingError;
  return refusal.error.details.map(({ field, code }) => [field, code]);
}

async function storesNothing(work: () => Promise<unknown>): Promise<void> {
  const before = await hashRows(scene.sql);
  await work();
  assert.deepEqual(await hashRows(scene.sql), before);
}

test('parties come in with contacts and address, under the next numbers or their own', async () => {
  const done = await take(
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
  await take('Customers', file(customerHeader, customer('Bilal', 'P-1', '82001', '150.50')));
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
  await storesNothing(async () => {
    for (const dryRun of [true, false]) {
      assert.deepEqual(await problemsOf(take('Customers', content, { dryRun })), [
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
  await storesNothing(async () => {
    assert.deepEqual(await problemsOf(take('Parties', parties)), [
      ['lines[3].otherEmail', 'INVALID_EMAIL'],
      ['lines[4].otherEmail', 'INVALID_EMAIL'],
    ]);
    assert.deepEqual(await problemsOf(take('Customers', customers)), [
      ['lines[2].otherEmail', 'INVALID_EMAIL'],
    ]);
  });
});

test('a dry run finds what the real run finds, and stores nothing', async () => {
  const content = file(customerHeader, customer('Dry', 'D-1', '84001'));
  await storesNothing(async () => {
    const done = await take('Customers', content, { dryRun: true });
    assert.equal(done.message, '1 row can be imported');
  });
  assert.equal((await take('Customers', content)).message, '1 row imported');
});

test('the same file again changes nothing, and the same rows in another file are refused', async () => {
  const row = customer('Twice', 'T-1', '85001');
  await take('Customers', file(customerHeader, row));
  await storesNothing(async () => {
    await refuses(take('Customers', file(customerHeader, row)), 'DUPLICATE', { field: 'content' });
    await refuses(take('Customers', file(customerHeader, row), { dryRun: true }), 'DUPLICATE');
    assert.deepEqual(await problemsOf(take('Customers', `${file(customerHeader, row)}\r\n`)), [
      ['lines[2].meterNumber', 'DUPLICATE'],
    ]);
    const again = take('Customers', file(customerHeader, row), { again: true });
    assert.deepEqual(await problemsOf(again), [['lines[2].meterNumber', 'DUPLICATE']]);
  });
});

test('several rows of one customer share the party, by its number and name', async () => {
  const header = `partyNumber,${customerHeader}`;
  const rows = [customer('Rana', 'R-1', '86001'), customer('Rana', 'R-2', '86002')];
  await take('Customers', file(header, ...rows.map((row) => `300001,${row}`)));
  const { rows: found } = await scene.sql.query(
    `select count(distinct party_id)::int as parties, count(*)::int as subscriptions
     from subscriptions where reference_number in ('R-1', 'R-2')`,
  );
  assert.deepEqual(found, [{ parties: 1, subscriptions: 2 }]);
  const other = `300001,${customer('Another name', 'R-3', '86003')}`;
  assert.deepEqual(await problemsOf(take('Customers', file(header, other))), [
    ['lines[2].partyNumber', 'PARTY_KEY_MISMATCH'],
  ]);
});

test('subscriptions come in for parties and meters that are there', async () => {
  await take('Meters', file('number,brand,meterType,purchaseDate', '87001,Itron,1,15/01/2024'));
  const header =
    'partyNumber,serviceCode,tariffCode,connectionRefNo,input.load,meterNumber,initialReading';
  const row = (party: string, ref: string, load: string, meter: string, value: string) =>
    [party, offer.serviceCode, offer.tariffCode, ref, load, meter, value].join(',');
  await storesNothing(async () => {
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
    assert.deepEqual(await problemsOf(take('Subscriptions', content)), [
      ['lines[3].partyNumber', 'PARTY_NOT_FOUND'],
      ['lines[4].input.load', 'INVALID_INPUT_VALUE'],
      ['lines[5].connectionRefNo', 'DUPLICATE'],
      ['lines[6].meterNumber', 'METER_NOT_REGISTERED'],
      ['lines[7].initialReading', 'REQUIRED_FIELD'],
      ['lines[8].connectionInputs', 'MISSING_INPUT'],
    ]);
  });
  await take('Subscriptions', file(header, row('100001', 'S-1', '5', '87001', '12')));
  const { data } = await admin.getMeters({ number: 87001 });
  assert.equal(data.meters.meters[0]?.status, 'Active');
});

test('dates of a file are accepted as DD/MM/YYYY, YYYY-MM-DD and DDMMYYYY', async () => {
  const meters = [87101, 87102, 87103];
  const bought = ['15/01/2024', '2024-01-15', '15012024'];
  await take(
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
  await take('Subscriptions', file(header, ...meters.map(row)));
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
  await storesNothing(async () => {
    assert.deepEqual(await problemsOf(take('Readings', bad)), [
      ['lines[2].connectionNumber', 'SUBSCRIPTION_NOT_FOUND'],
      ['lines[3].value', 'REQUIRED_FIELD'],
      ['lines[4].readingDate', 'DUPLICATE_ROW'],
      ['lines[5].rollover', 'INVALID_TYPE'],
      ['lines[6]', 'INVALID_FORMAT'],
      ['lines[7].number', 'REQUIRED_FIELD'],
    ]);
  });
});

test('a header with columns that are unknown, missing or twice is refused', async () => {
  const content = file('number,brand,brand,metreType', '1,a,b,c');
  await storesNothing(async () => {
    assert.deepEqual(await problemsOf(take('Meters', content)), [
      ['lines[1].brand', 'DUPLICATE'],
      ['lines[1].metreType', 'UNKNOWN_FIELD'],
      ['lines[1].meterType', 'REQUIRED_FIELD'],
      ['lines[1].purchaseDate', 'REQUIRED_FIELD'],
    ]);
    await refuses(take('Meters', 'number,brand,meterType,purchaseDate\r\n'), 'REQUIRED_FIELD');
    await refuses(take('Meters', ''), 'REQUIRED_FIELD', { field: 'content' });
    await refuses(take('Meters', file('number,brand', '"1,2')), 'INVALID_FORMAT');
  });
});

test('bytes of any encoding come as base64', async () => {
  const content = file('number,brand,meterType,purchaseDate', '88001,Zoë & Söhne,1,15/01/2024');
  const bytes = Buffer.from(`\ufeff${content}`, 'utf16le');
  await admin.importData({ kind: 'Meters', contentBase64: bytes.toString('base64') });
  const { data } = await admin.getMeters({ number: 88001, metaData: { fields: ['brand'] } });
  assert.equal(data.meters.meters[0]?.brand, 'Zoë & Söhne');
});

test('of many bad rows the first 500 are named, and all are counted', async () => {
  const rows = Array.from({ length: 3_000 }, (_, index) => `x${index},Itron,1,15/01/2024`);
  const content = file('number,brand,meterType,purchaseDate', '88100,Itron,1,15/01/2024', ...rows);
  const problems = await problemsOf(take('Meters', content));
  assert.equal(problems.length, 500);
  assert.deepEqual(problems[0], ['lines[3].number', 'INVALID_TYPE']);
  assert.equal((await admin.getMeters({ number: 88100 })).data.meters.meters.length, 0);
});

test('a meter reader imports readings and nothing else', async () => {
  const reader = await scene.loginAs(admin, ['Meter Reader']);
  const { number } = await hung();
  const content = file('number,readingDate,value', `${number},31/01/2026,100`);
  await reader.importData({ kind: 'Readings', content });
  for (const kind of ['Parties', 'Meters', 'Subscriptions', 'Customers'] as const) {
    await refuses(reader.importData({ kind, content }), 'PERMISSION_DENIED');
  }
});

test('a type of meter is named by plain digits or by its name', async () => {
  const types = ['0x1', '1.0', '1e0', '+1'];
  const rows = types.map((type, index) => `${82001 + index},Itron,${type},01/01/2024`);
  const content = file('number,brand,meterType,purchaseDate', ...rows);
  const found = await problemsOf(take('Meters', content));
  assert.deepEqual(
    found,
    [2, 3, 4, 5].map((line) => [`lines[${line}].meterType`, 'METER_TYPE_NOT_FOUND']),
  );
});

test('content that is text is imported unchanged, whatever encoding is named', async () => {
  const encoding = 'windows-1252' as const;
  await take('Parties', file('name,city', 'Zoé Encoded,Köln'), { encoding });
  const { data } = await admin.listUsers({ name: 'encoded' });
  assert.deepEqual(
    data.users.map((user) => user.name),
    ['Zoé Encoded'],
  );
});

test('what is not the base64 of one file is refused, not taken in part', async () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const first = base64(file('name', 'Half A'));
  const send = (contentBase64: string, content: string | null = null) =>
    admin.importData({ kind: 'Parties', contentBase64, content });
  assert.match(first, /=$/);
  await storesNothing(async () => {
    const wrong = [`${first}${base64(file('Half B'))}`, `${first}!`, `data:text/csv;${first}`];
    for (const one of wrong) {
      await refuses(send(one), 'INVALID_FORMAT', { field: 'contentBase64', statusCode: 400 });
    }
    await refuses(send(first, file('name', 'Other')), 'INVALID_FORMAT');
  });
  const lines = first.replace(/(.{8})/g, '$1\r\n').replace(/=+/, '');
  assert.equal((await send(lines)).message, '1 row imported');
});

test('a file that is refused the second time names the local day of the first import', async () => {
  const content = file('name', 'Only once');
  await take('Parties', content);
  const { message } = await refuses(take('Parties', content), 'DUPLICATE');
  const today = scene.clock.now().toZonedDateTimeISO('Asia/Karachi').toPlainDate();
  const [year, month, date] = today.toString().split('-');
  assert.match(message, new RegExp(`on ${date}/${month}/${year} by admin@imports.example`));
});

test('a file that is sent several times at once is taken in once', async () => {
  const content = file('name', 'Sent at once');
  const sent = Array.from({ length: 6 }, () => take('Parties', content));
  const codes = (await Promise.allSettled(sent)).map((one) =>
    one.status === 'fulfilled' ? one.value.message : one.reason.code,
  );
  assert.deepEqual(codes.sort(), [
    '1 row imported',
    ...Array.from({ length: 5 }, () => 'DUPLICATE'),
  ]);
  const { data } = await admin.listUsers({ name: 'sent at once' });
  assert.equal(data.users.length, 1);
});

test('files that bring the same party number at once: one makes it, the others name their row', async () => {
  const outcomes = async (sent: Promise<{ message: string }>[]) => {
    const ended = await Promise.allSettled(sent);
    return ended.map((one) => (one.status === 'fulfilled' ? one.value.message : one.reason.code));
  };
  const parties = [1, 2, 3, 4].map((n) =>
    take('Parties', file('name,partyNumber', `Number ${n},300777`)),
  );
  assert.deepEqual((await outcomes(parties)).sort(), [
    '1 row imported',
    'DUPLICATE',
    'DUPLICATE',
    'DUPLICATE',
  ]);
  const { serviceCode, tariffCode } = offer;
  const customers = [1, 2, 3, 4].map((n) =>
    take(
      'Customers',
      file(
        'name,partyNumber,serviceCode,tariffCode,input.load',
        `One,300888,${serviceCode},${tariffCode},${n}`,
      ),
    ),
  );
  assert.deepEqual(
    await outcomes(customers),
    Array.from({ length: 4 }, () => '1 row imported'),
  );
  const { user } = (await admin.getUsers({ partyNumber: 300888 })).data;
  assert.equal(user.subscriptions.length, 4);
});

test('add-ons that are wrong are named by the column of their cell', async () => {
  const { serviceCode, tariffCode } = offer;
  const header = 'serviceCode,tariffCode,partyNumber,input.load,addons';
  const row = `${serviceCode},${tariffCode},100001,5,First|Second`;
  const found = await problemsOf(take('Subscriptions', file(header, row)));
  assert.deepEqual(found, [['lines[2].addons', 'ADDON_NOT_FOUND']]);
});
