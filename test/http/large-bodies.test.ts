// Large and hostile bodies: the token first, the limits next, and no other caller waits.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogue } from '../../src/operations/catalogue.ts';
import { ask, exchange, requestText } from '../support/http.ts';
import { longestTurn } from '../support/longest-turn.ts';
import { openScene } from '../support/scene.ts';
import { prepareSubscriptions } from '../support/working-requests.ts';

const scene = await openScene();
const admin = await scene.workspace('raw');
const auditor = await scene.loginAs(admin, ['Auditor']);
const mib = 2 ** 20;
/** Processor time for which one call may keep all others waiting. */
const turnMsMax = 150;

const stranger = { 'X-Workspace': 'raw' };
const known = { ...stranger, Authorization: admin.token ?? '' };
const unknownToken = { ...stranger, Authorization: `1.${'A'.repeat(43)}` };

type Name = 'makeReadings' | 'login' | 'listUsers' | 'updateUser' | 'importData' | 'makeUsers';

function bytesOf(name: Name, fields: string): Uint8Array<ArrayBuffer> {
  const { method, action } = catalogue[name];
  const words = JSON.stringify({ method, action, apiVersion: 'v2' }).slice(0, -1);
  return new Uint8Array(Buffer.from(`${words},${fields}}`));
}

/** A call, and the longest time for which others waited for it. */
async function timed(name: Name, fields: string, headers: Record<string, string>) {
  const body = bytesOf(name, fields);
  const sent = () => ask(scene.baseUrl, catalogue[name].path, { headers, body });
  const { result, turnMs } = await longestTurn(sent);
  return { ...result, code: result.envelope.error?.code, turnMs };
}

const zeros = `"readings":[${'0,'.repeat(4_999_999)}0]`;

test('five million items without a token are refused for the missing token, at once', async () => {
  const before = process.memoryUsage().rss;
  const { code, turnMs } = await timed('makeReadings', zeros, stranger);
  assert.equal(code, 'TOKEN_MISSING');
  assert.ok(turnMs < turnMsMax, `${turnMs} ms`);
  const grown = (process.memoryUsage().rss - before) / mib;
  assert.ok(grown < 200, `${grown} MiB more`);
});

test('five million items with an unknown token are refused for the token', async () => {
  const { code, turnMs } = await timed('makeReadings', zeros, unknownToken);
  assert.equal(code, 'TOKEN_INVALID');
  assert.ok(turnMs < turnMsMax, `${turnMs} ms`);
});

test('five million items with a valid token are counted, not copied', async () => {
  const { code, turnMs } = await timed('makeReadings', zeros, known);
  assert.equal(code, 'TOO_MANY_ITEMS');
  assert.ok(turnMs < turnMsMax, `${turnMs} ms`);
});

test('a body that is promised and never sent is refused for its token at once', async () => {
  const length = { 'Content-Type': 'application/json', 'Content-Length': 9 * mib };
  for (const [headers, code] of [
    [length, 'TOKEN_MISSING'],
    [{ ...length, Authorization: unknownToken.Authorization }, 'TOKEN_INVALID'],
    [{ ...length, Authorization: auditor.token ?? '' }, 'PERMISSION_DENIED'],
  ] as const) {
    const answer = await exchange(scene.baseUrl, async (socket) => {
      socket.write(requestText(catalogue.makeReadings.path, headers));
      await new Promise((resolve) => socket.once('data', resolve));
      socket.end();
    });
    assert.match(answer, new RegExp(`"code":"${code}"`));
  }
});

test('without a valid token 64 KiB are accepted, with or without a Content-Length', async () => {
  const names = '"username":"nobody","password":"x",';
  const fits = await timed('login', `${names}"x":"${'x'.repeat(60_000)}"`, stranger);
  assert.equal(fits.code, 'LOGIN_FAILED');
  const over = `${names}"x":"${'x'.repeat(66_000)}"`;
  assert.equal((await timed('login', over, stranger)).code, 'REQUEST_TOO_LARGE');
  const body = Buffer.from(bytesOf('login', over)).toString();
  const head = { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' };
  const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const bytes = requestText(catalogue.login.path, { ...head, Connection: 'close' }) + chunk;
  assert.match(await exchange(scene.baseUrl, bytes), /"code":"REQUEST_TOO_LARGE"/);
});

test('1 MiB is accepted, and 10 MiB where an operation takes rows or a file', async () => {
  const filler = (bytes: number) => `"x":"${'x'.repeat(bytes)}"`;
  assert.equal((await timed('listUsers', filler(mib - 200), known)).envelope.success, true);
  assert.equal((await timed('listUsers', filler(mib), known)).code, 'REQUEST_TOO_LARGE');
  assert.equal((await timed('makeReadings', filler(10 * mib - 200), known)).code, 'REQUIRED_FIELD');
  const over = await timed('makeReadings', filler(10 * mib), known);
  assert.equal(over.code, 'REQUEST_TOO_LARGE');
  assert.match(over.envelope.message, /at most 10485760 bytes/);
});

test('a large body is not read for a caller without permission', async () => {
  const headers = { ...stranger, Authorization: auditor.token ?? '' };
  assert.equal((await timed('makeReadings', zeros, headers)).code, 'PERMISSION_DENIED');
});

test('problems of a body are not reported before the token is known to be valid', async () => {
  for (const body of ['{', '[]', '', `{"x":${'['.repeat(50)}`]) {
    const path = catalogue.listUsers.path;
    const first = await ask(scene.baseUrl, path, { headers: unknownToken, body });
    assert.equal(first.envelope.error?.code, 'TOKEN_INVALID', body);
  }
});

test('a hundred thousand readings are parsed and checked while others are served', async () => {
  const row = '{"number":40019001,"value":"250","readingDate":"28/02/2026","source":"Phone app"}';
  const rows = `"readings":[${Array(100_000).fill(row).join(',')}]`;
  const whole = await timed('makeReadings', rows, known);
  assert.equal(whole.code, 'METER_NOT_FOUND');
  assert.equal(whole.envelope.error?.details.length, 500);
  const broken = rows.replaceAll('"250"', '{}');
  const refused = await timed('makeReadings', broken, known);
  assert.equal(refused.code, 'INVALID_TYPE');
  assert.equal(refused.envelope.error?.details.length, 500);
  assert.equal(refused.envelope.error?.details[499]?.field, 'readings[499].value');
  assert.ok(refused.turnMs < turnMsMax, `${refused.turnMs} ms`);
  const cut = await timed('makeReadings', rows.slice(0, -1), known);
  assert.equal(cut.code, 'MALFORMED_JSON');
});

test('tens of thousands of readings of one register are judged while others are served', async () => {
  const client = await scene.workspace('judged');
  await client.makeUsers({ userType: 'customer', users: [{ name: 'First' }, { name: 'Second' }] });
  await prepareSubscriptions(client);
  const twoDigits = (number: number) => String(number).padStart(2, '0');
  const rows = Array.from({ length: 30_000 }, (_, i) => {
    const [hour, minute] = [Math.floor(i / 60) % 24, i % 60].map(twoDigits);
    const readingDate = `${twoDigits(1 + (Math.floor(i / 1_440) % 28))}/06/2025`;
    // Each is below the one before it, which is put under review.
    return {
      number: 601,
      value: String(50_000 - i),
      readingDate,
      readingTime: `${hour}:${minute}`,
    };
  });
  const fields = `"readings":${JSON.stringify(rows)}`;
  const headers = { 'X-Workspace': 'judged', Authorization: client.token ?? '' };
  const { envelope, turnMs } = await timed('makeReadings', fields, headers);
  assert.equal(envelope.success, true, envelope.message);
  assert.ok(turnMs < turnMsMax, `${turnMs} ms`);
});

test('of a long list the items behind the first are named by their places', async () => {
  const users = Array.from({ length: 900 }, (_, i) => ({ name: `Party ${i}` })) as object[];
  users[0] = { name: 7, nick: 'x' };
  users[450] = { name: 'A', country: 'XX' };
  users[899] = {};
  const fields = `"userType":"customer","users":${JSON.stringify(users)}`;
  const { envelope, headers } = await timed('makeUsers', fields, known);
  assert.deepEqual(
    envelope.error?.details.map(({ field, code }) => `${field} ${code}`),
    [
      'users[0].name INVALID_TYPE',
      'users[450].country INVALID_COUNTRY',
      'users[899].name REQUIRED_FIELD',
    ],
  );
  assert.equal(headers.get('x-ignored-fields'), 'users[0].nick');
});

test('objects with very many or very long names are refused before they are parsed', async () => {
  const many = Array.from({ length: 200_000 }, (_, i) => `"k${i}":0`).join(',');
  const answered = await timed('makeReadings', many, known);
  assert.equal(answered.code, 'TOO_MANY_ITEMS');
  assert.ok(answered.turnMs < turnMsMax, `${answered.turnMs} ms`);
  const long = await timed('makeReadings', `"${'k'.repeat(mib)}":0`, known);
  assert.equal(long.code, 'FIELD_TOO_LONG');
  const nested = `"x":[${Array(90_000)
    .fill(`[${'0,'.repeat(20)}0]`)
    .join(',')}]`;
  assert.equal((await timed('makeReadings', nested, known)).code, 'TOO_MANY_ITEMS');
});

test('a value of the wrong kind is refused without a look at what is in it', async () => {
  const rows = Array(90_000).fill('[0,0,0]').join(',');
  for (const fields of [
    `"readings":{"a":[${rows}]}`,
    `"readings":[{"number":[${rows}],"value":"1","readingDate":"01/01/2026"}]`,
  ]) {
    const { code, turnMs } = await timed('makeReadings', fields, known);
    assert.equal(code, 'INVALID_TYPE');
    assert.ok(turnMs < turnMsMax, `${turnMs} ms`);
  }
});

test('a repeated field counts as it was sent last, also where the first was long', async () => {
  const rows = `[${Array(60_000).fill('{"number":1}').join(',')}]`;
  const { code } = await timed('makeReadings', `"readings":${rows},"readings":[]`, known);
  assert.equal(code, 'REQUIRED_FIELD');
  const hidden = await timed('makeReadings', `"__proto__":{"readings":${rows}}`, known);
  assert.equal(hidden.code, 'REQUIRED_FIELD');
  assert.equal(hidden.headers.get('x-ignored-fields'), '__proto__');
  assert.equal(({} as { readings?: unknown }).readings, undefined);
});

test('base64 with ten million blanks is judged in one pass', async () => {
  const fields = `"kind":"Meters","contentBase64":"${' '.repeat(9 * mib)}!"`;
  const { code, turnMs } = await timed('importData', fields, known);
  assert.equal(code, 'INVALID_FORMAT');
  assert.ok(turnMs < turnMsMax, `${turnMs} ms`);
});

test('a header of 300,000 columns is refused with one problem', async () => {
  const names = Array.from({ length: 300_000 }, (_, i) => `column${i}`)
    .join(',')
    .slice(0, mib - 9);
  const content = JSON.stringify(`number,${names}\r\n1\r\n`);
  const { code, text, turnMs } = await timed(
    'importData',
    `"kind":"Meters","content":${content}`,
    known,
  );
  assert.equal(code, 'TOO_MANY_ITEMS');
  assert.ok(text.length < 10_000, `${text.length} bytes`);
  assert.ok(turnMs < turnMsMax, `${turnMs} ms`);
});
