// Files of imports: headers, encodings, many bad rows, and files that are sent several times.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuses } from '../support/client.ts';
import { file, problemsOf, storesNothing, take } from '../support/imported-files.ts';
import { openMetered } from '../support/metered.ts';
import { openScene } from '../support/scene.ts';
import { newOffer } from '../support/subscriptions.ts';

const scene = await openScene();
const { admin, hung } = await openMetered(scene, 'import-files');
const offer = await newOffer(admin, {
  connectionInputs: [{ name: 'load', type: 'Number', required: 1 }],
  batches: [{ batchCode: 'B1' }],
});
await scene.enter(admin);

test('a header with columns that are unknown, missing or twice is refused', async () => {
  const content = file('number,brand,brand,metreType', '1,a,b,c');
  await storesNothing(scene, async () => {
    assert.deepEqual(await problemsOf(take(admin, 'Meters', content)), [
      ['lines[1].brand', 'DUPLICATE'],
      ['lines[1].metreType', 'UNKNOWN_FIELD'],
      ['lines[1].meterType', 'REQUIRED_FIELD'],
      ['lines[1].purchaseDate', 'REQUIRED_FIELD'],
    ]);
    await refuses(
      take(admin, 'Meters', 'number,brand,meterType,purchaseDate\r\n'),
      'REQUIRED_FIELD',
    );
    await refuses(take(admin, 'Meters', ''), 'REQUIRED_FIELD', { field: 'content' });
    await refuses(take(admin, 'Meters', file('number,brand', '"1,2')), 'INVALID_FORMAT');
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
  const problems = await problemsOf(take(admin, 'Meters', content));
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
  const found = await problemsOf(take(admin, 'Meters', content));
  assert.deepEqual(
    found,
    [2, 3, 4, 5].map((line) => [`lines[${line}].meterType`, 'METER_TYPE_NOT_FOUND']),
  );
});

test('content that is text is imported unchanged, whatever encoding is named', async () => {
  const encoding = 'windows-1252' as const;
  await take(admin, 'Parties', file('name,city', 'Zoé Encoded,Köln'), { encoding });
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
  await storesNothing(scene, async () => {
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
  await take(admin, 'Parties', content);
  const { message } = await refuses(take(admin, 'Parties', content), 'DUPLICATE');
  const today = scene.clock.now().toZonedDateTimeISO('Asia/Karachi').toPlainDate();
  const [year, month, date] = today.toString().split('-');
  assert.match(message, new RegExp(`on ${date}/${month}/${year} by admin@import-files.example`));
});

test('a file that is sent several times at once is taken in once', async () => {
  const content = file('name', 'Sent at once');
  const sent = Array.from({ length: 6 }, () => take(admin, 'Parties', content));
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
    take(admin, 'Parties', file('name,partyNumber', `Number ${n},300777`)),
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
      admin,
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
  const found = await problemsOf(take(admin, 'Subscriptions', file(header, row)));
  assert.deepEqual(found, [['lines[2].addons', 'ADDON_NOT_FOUND']]);
});
