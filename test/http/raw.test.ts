// Bytes that no client library would send: each is answered or cut off, and the server lives on.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { ask, exchange, requestText } from '../support/http.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
const admin = await scene.workspace('raw');
const path = '/billing/users/make-users';
const known = { Authorization: admin.token ?? '', Connection: 'close' };
const json = { ...known, 'Content-Type': 'application/json' };
const words = '"method":"Create","action":"Create Parties","apiVersion":"v2"';
const good = `{${words},"userType":"customer","users":[{"name":"A"}]}`;
/** Would be stored if anything skipped validation. */
const bad = `{${words},"userType":"customer","users":[{"name":""}]}`;

async function parties(): Promise<number> {
  return Number((await admin.listUsers()).headers.get('x-total-count'));
}

let before = await parties();
afterEach(async () => {
  assert.equal(await parties(), before, 'something was stored');
});

function codeOf(answer: string): string | undefined {
  return /"code":"([A-Z_]+)"/.exec(answer)?.[1];
}

function send(headers: Record<string, string | number>, body: string): Promise<string> {
  const length = { 'Content-Length': Buffer.byteLength(body) };
  return exchange(scene.baseUrl, requestText(path, { ...headers, ...length }, body));
}

test('odd content types never let a body past validation', async () => {
  const types = [
    'application/json\t; charset=utf-8',
    'application/json ;charset=utf-8',
    'application/json\tx',
    'application/json;\tcharset=utf-8',
    'application/json; charset="utf-8',
    'application/json\x0b',
    'application/json%00',
    'application//json',
    'APPLICATION/JSON;;',
    '"application/json"',
    'text/json',
    '*',
    '*/*',
    '',
  ];
  for (const type of types) {
    const answer = await send({ ...known, 'Content-Type': type }, bad);
    assert.match(answer, /^HTTP\/1\.1 (200 OK\r\n[\s\S]*X-Status-Code: 415|400 )/i, type);
  }
  for (const type of [
    '\tapplication/json',
    'application/json \t',
    'application/json;charset=utf-8',
  ]) {
    assert.equal(codeOf(await send({ ...known, 'Content-Type': type }, bad)), 'REQUIRED_FIELD');
  }
  assert.equal(codeOf(await send(known, bad)), 'UNSUPPORTED_MEDIA_TYPE', 'no content type');
});

test('of two content types the first counts, and the body is validated', async () => {
  const head = requestText(path, { ...json, 'Content-Length': bad.length }).trimEnd();
  const answer = await exchange(scene.baseUrl, `${head}\r\nContent-Type: text/plain\r\n\r\n${bad}`);
  assert.equal(codeOf(answer), 'REQUIRED_FIELD');
});

test('two lengths, a length with chunked encoding and a false length are refused', async () => {
  const twice = requestText(path, { ...json, 'Content-Length': bad.length }).trimEnd();
  const both = `${twice}\r\nContent-Length: ${bad.length + 5}\r\n\r\n${bad}`;
  const smuggled = `${twice}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
  const odd = requestText(path, { ...json, 'Content-Length': '1e3' }, bad);
  for (const bytes of [both, smuggled, odd]) {
    const answer = await exchange(scene.baseUrl, bytes);
    assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n/);
    assert.match(answer, /"success":false,"statusCode":400/);
  }
});

test('JSON nested 100,000 levels deep is refused at once', async () => {
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    const deep = `{"x":${open.repeat(1e5)}1${close.repeat(1e5)}}`;
    assert.equal(codeOf(await send(json, deep)), 'TOO_DEEP');
    assert.equal(codeOf(await send(json, open.repeat(1e5))), 'TOO_DEEP');
  }
});

test('11 MiB are refused with an answer, with or without a Content-Length', async () => {
  const body = `{${words},"x":"${'x'.repeat(11 * 1024 * 1024)}"}`;
  const told = await send(json, body);
  assert.match(told, /^HTTP\/1\.1 200 OK/);
  assert.equal(codeOf(told), 'REQUEST_TOO_LARGE');
  const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const head = requestText(path, { ...json, 'Transfer-Encoding': 'chunked' });
  assert.equal(codeOf(await exchange(scene.baseUrl, head + chunk)), 'REQUEST_TOO_LARGE');
});

test('bytes that are not UTF-8 are refused', async () => {
  const body = Buffer.concat([
    Buffer.from(`{${words},"userType":"customer","users":[{"name":"`),
    Buffer.from([0xc3, 0x28, 0xff]),
    Buffer.from('"}]}'),
  ]);
  const head = requestText(path, { ...json, 'Content-Length': body.length });
  const answer = await exchange(scene.baseUrl, Buffer.concat([Buffer.from(head), body]));
  assert.equal(codeOf(answer), 'MALFORMED_JSON');
  const overlong = Buffer.from([0xc0, 0xaf]);
  const headers = { 'X-Workspace': 'raw', Authorization: admin.token ?? '' };
  const { envelope } = await ask(scene.baseUrl, path, { headers, body: new Uint8Array(overlong) });
  assert.equal(envelope.error?.code, 'MALFORMED_JSON');
});

test('a compressed body is refused with words that say why', async () => {
  const body = new Uint8Array(gzipSync(`{${words},"userType":"customer","users":[]}`));
  const token = { 'X-Workspace': 'raw', Authorization: admin.token ?? '' };
  const headers = { ...token, 'Content-Encoding': 'gzip' };
  const { envelope } = await ask(scene.baseUrl, path, { headers, body });
  assert.equal(envelope.error?.code, 'MALFORMED_JSON');
  assert.match(envelope.message, /not compressed/);
});

test('escapes that hide a NUL or half a character are refused', async () => {
  for (const written of ['\\u0000', '\\ud800', '\\udc00\\ud800']) {
    const body = `{${words},"userType":"customer","users":[{"name":"a${written}b"}]}`;
    assert.equal(codeOf(await send(json, body)), 'INVALID_CHARACTER');
  }
});

test('a prototype in the body lends no field', async () => {
  const hidden = `{${words},"__proto__":{"userType":"customer","users":[{"name":"A"}]}}`;
  assert.equal(codeOf(await send(json, hidden)), 'REQUIRED_FIELD');
  const nested = `{${words},"userType":"customer","users":[{"__proto__":{"name":"A"}}]}`;
  assert.equal(codeOf(await send(json, nested)), 'REQUIRED_FIELD');
  const built = `{${words},"userType":"customer","constructor":{"prototype":{"users":1}}}`;
  assert.equal(codeOf(await send(json, built)), 'REQUIRED_FIELD');
});

test('a body that is cut off is no call', async () => {
  const half = good.slice(0, 40);
  const told = requestText(path, { ...json, 'Content-Length': good.length }, half);
  const chunked = requestText(
    path,
    { ...json, 'Transfer-Encoding': 'chunked' },
    `28\r\n${half}\r\n`,
  );
  const broken = requestText(
    path,
    { ...json, 'Transfer-Encoding': 'chunked' },
    'zz\r\nx\r\n0\r\n\r\n',
  );
  const logged = scene.logged.length;
  for (const bytes of [told, chunked]) {
    await exchange(scene.baseUrl, (socket) => {
      socket.end(bytes);
    });
    await exchange(scene.baseUrl, async (socket) => {
      socket.write(bytes);
      await new Promise((resolve) => setTimeout(resolve, 50));
      socket.destroy();
    });
  }
  assert.match(await exchange(scene.baseUrl, broken), /^HTTP\/1\.1 400 Bad Request/);
  const noise = scene.logged.slice(logged).filter((line) => /database|"level":(40|50)/.test(line));
  assert.deepEqual(noise, [], 'a caller that goes away is no fault of ours');
});

test('a slow body is accepted, holds no connection to the database and delays no other call', async () => {
  const head = requestText(path, { ...json, 'Content-Length': bad.length });
  const slow = Array.from({ length: 30 }, () =>
    exchange(scene.baseUrl, async (socket) => {
      socket.write(head);
      for (let i = 0; i < bad.length; i += 20) {
        socket.write(bad.slice(i, i + 20));
        await new Promise((resolve) => setTimeout(resolve, 40));
      }
    }),
  );
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(scene.api.pool.waitingCount, 0);
  assert.equal(scene.api.pool.totalCount, scene.api.pool.idleCount);
  await admin.listUsers();
  for (const answer of await Promise.all(slow)) assert.equal(codeOf(answer), 'REQUIRED_FIELD');
});

test('requests sent in one go are answered one by one, in their order', async () => {
  const keep = { ...json, Connection: 'keep-alive' };
  const codes: string[] = [];
  const bodies = [bad, '{', good, `{${words}}`];
  const bytes = bodies.map((body, i) => {
    const headers = i === bodies.length - 1 ? json : keep;
    return requestText(path, { ...headers, 'Content-Length': body.length }, body);
  });
  const answer = await exchange(scene.baseUrl, bytes.join(''));
  for (const [, code] of answer.matchAll(/X-Status-Code: (\d+)/gi)) codes.push(code ?? '');
  assert.deepEqual(codes, ['400', '400', '200', '400']);
  before += 1;
});

const list = '{"method":"Retrieve","action":"List Parties","apiVersion":"v2"}';

/** A call on list-users with this target and these lines for headers. */
function listing(target: string, ...lines: string[]): Promise<string> {
  const head = [
    `POST ${target} HTTP/1.1`,
    ...lines,
    'Content-Type: application/json',
    `Authorization: ${admin.token}`,
    `Content-Length: ${list.length}`,
    'Connection: close',
  ];
  return exchange(scene.baseUrl, `${head.join('\r\n')}\r\n\r\n${list}`);
}

const listPath = '/billing/users/list-users';

test('a request with two Host headers, or none, is refused with 400', async () => {
  const host = 'Host: raw.localhost';
  for (const lines of [
    [host, 'Host: other.localhost'],
    [host, 'host: raw.localhost'],
    ['HOST: other.localhost', host],
    [host, 'Host:'],
    [],
  ]) {
    for (const target of [listPath, '/health', '/billing/%zz', '/nothing']) {
      const answer = await listing(target, ...lines);
      assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n/, lines.join());
      assert.equal(codeOf(answer), 'MALFORMED_REQUEST');
      assert.match(answer, /"message":"The request has (no Host header|2 Host headers); send one"/);
    }
  }
  assert.match(await listing(listPath, host), /"success":true/);
});

test('a target with a host of its own is taken only where the Host header names the same', async () => {
  const host = 'Host: raw.localhost';
  assert.match(await listing(`http://raw.localhost${listPath}`, host), /"success":true/);
  assert.match(await listing(`HTTP://RAW.localhost${listPath}?x=1`, host), /"success":true/);
  assert.match(await listing('http://raw.localhost/health', host), /^HTTP\/1\.1 404/);
  for (const other of ['other.localhost', 'raw.localhost:81', 'raw.localhost@other', '']) {
    const answer = await listing(`http://${other}${listPath}`, host);
    assert.match(answer, /^HTTP\/1\.1 400 Bad Request\r\n/, other);
    assert.equal(codeOf(answer), 'MALFORMED_REQUEST');
  }
});

test('every answer says nosniff, also those that reach no operation', async () => {
  const get = (path: string, more = '') =>
    `GET ${path} HTTP/1.1\r\nHost: raw.localhost\r\n${more}Connection: close\r\n\r\n`;
  const post = (path: string, body: string) =>
    requestText(path, { ...json, 'Content-Length': body.length }, body);
  const requests = [
    ...['/', '/health', '/ready', '/metrics', '/docs', '/docs/start.js'].map((path) => get(path)),
    ...['/docs/swagger-ui.css', '/openapi.json', '/nothing', '/%zz'].map((path) => get(path)),
    get('/billing/users/list-users'),
    get('/health', 'Expect: miracles\r\n'),
    get('/health', 'Host: other.localhost\r\n'),
    post(listPath, list),
    post(listPath, '{'),
    post('/billing/nothing', list),
    post('/billing/%zz', list),
    'hello\r\n\r\n',
    'GET / HTTP/1.1\r\n\r\n',
    'BREW /pot HTTP/1.1\r\nHost: raw.localhost\r\n\r\n',
    requestText(path, { ...json, 'Content-Length': '1e3' }),
  ];
  for (const bytes of requests) {
    const answer = await exchange(scene.baseUrl, bytes);
    assert.equal(answer.match(/\r\nX-Content-Type-Options: nosniff\r\n/gi)?.length, 1, answer);
  }
});

test('what is no HTTP at all is turned away', async () => {
  for (const bytes of [
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc',
    'hello\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
  ]) {
    assert.match(await exchange(scene.baseUrl, bytes), /^HTTP\/1\.1 400 Bad Request/);
  }
  const huge = requestText(path, { ...json, 'X-Long': 'x'.repeat(100_000) }, '');
  assert.match(await exchange(scene.baseUrl, huge), /^HTTP\/1\.1 4\d\d /);
});
