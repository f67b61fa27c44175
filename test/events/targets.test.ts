// Which addresses the program sends to: what leads into private networks gets no connection.
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { after, test } from 'node:test';
import { isPublicAddress, rangesOf } from '../../src/base/outside/addresses.ts';
import { post } from '../../src/base/outside/post.ts';
import { type OutsideRules, readTarget, resolveName } from '../../src/base/outside/target.ts';
import { localRules } from '../support/local-rules.ts';
import { openReceiver } from '../support/receiver.ts';

const strict: OutsideRules = { allowed: rangesOf([]), allowsHttp: false, resolve: resolveName };

/** Counts connections, whatever they say. */
let connections = 0;
const trap = createTcpServer((socket) => {
  connections += 1;
  socket.destroy();
});
await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
const { port } = trap.address() as AddressInfo;
after(() => trap.close());

function send(url: string, rules: OutsideRules, timeoutMs = 2_000) {
  return post({ url, headers: {}, body: '{}', timeoutMs }, rules);
}

const refusedUrls = [
  `https://127.0.0.1:${port}/`,
  `https://127.1:${port}/`,
  `https://0x7f.1:${port}/`,
  `https://0x7f000001:${port}/`,
  `https://2130706433:${port}/`,
  `https://017700000001:${port}/`,
  `https://0177.0.0.1:${port}/`,
  `https://%31%32%37.0.0.1:${port}/`,
  `https://１２７.0.0.1:${port}/`,
  `https://127.0.0.1.:${port}/`,
  `https://[::1]:${port}/`,
  `https://[::ffff:127.0.0.1]:${port}/`,
  `https://[::ffff:7f00:1]:${port}/`,
  `https://[::ffff:10.0.0.1]/`,
  `https://[::ffff:169.254.169.254]/`,
  `https://[0:0:0:0:0:ffff:7f00:1]:${port}/`,
  `https://[::ffff:0:7f00:1]:${port}/`,
  `https://[::127.0.0.1]:${port}/`,
  `https://[::1%25lo]:${port}/`,
  `https://[64:ff9b::7f00:1]/`,
  `https://[64:ff9b:1::7f00:1]/`,
  `https://[2001:0:4136:e378:8000:63bf:80ff:fffe]/`,
  `https://[fec0::1]/`,
  `https://[ff02::1]/`,
  `https://①②⑦.0.0.1:${port}/`,
  `https://127.0.0.1%2f@example.com/`,
  `https://[2002:7f00:1::]/`,
  `https://[fe80::1]/`,
  `https://[fd00::1]/`,
  `https://[::]:${port}/`,
  `https://0.0.0.0:${port}/`,
  'https://10.1.2.3/',
  'https://172.16.0.1/',
  'https://192.168.1.1/',
  'https://100.64.0.1/',
  'https://169.254.169.254/latest/meta-data/',
  `https://localhost:${port}/`,
  `https://localhost.:${port}/`,
  `https://any.localhost:${port}/`,
  `http://127.0.0.1:${port}/`,
  'http://example.com/',
  `https://user:secret@127.0.0.1:${port}/`,
  'https://user@example.com/',
  'https://example.com@127.0.0.1/',
  'https://8.8.8.8:5432/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'https://example.com/#part',
  'https://exa\tmple.com/',
  'https:\\\\127.0.0.1\\',
  'nonsense',
];

test('urls that lead into private networks, in any spelling, are refused without a connection', async () => {
  for (const url of refusedUrls) {
    const { outcome, detail } = await send(url, strict);
    assert.equal(outcome, 'Refused', `${url}: ${outcome}, ${detail}`);
  }
  assert.equal(connections, 0);
});

test('a public url is accepted, an allowed private one is, and its neighbour is not', () => {
  for (const url of [
    'https://example.com/a?b=c',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]:8443/',
  ]) {
    assert.equal(readTarget(url, strict).href, url);
  }
  const rules = { ...strict, allowed: rangesOf(['10.1.0.0/255.255.0.0']) };
  assert.equal(readTarget('https://10.1.2.3:9000/', rules).port, '9000');
  assert.throws(() => readTarget('https://10.2.2.3/', rules), /public internet/);
  assert.throws(() => readTarget('http://10.1.2.3/', rules), /https/);
});

test('addresses that are not on the internet are known', () => {
  const inside = [
    '0.1.2.3',
    '192.0.2.1',
    '198.51.100.7',
    '203.0.113.9',
    '224.0.0.1',
    '255.255.255.255',
  ];
  const also = ['2001:db8::1', '2001::1', '3fff::1', '::', 'ff02::1', '100::1', 'fe80::1%eth0'];
  for (const address of [...inside, ...also])
    assert.equal(isPublicAddress(address), false, address);
  for (const address of ['1.1.1.1', '2a00:1450:4001::1']) assert.ok(isPublicAddress(address));
});

test('a name is resolved once for an attempt, and the connection goes to what was checked', async () => {
  const receiver = await openReceiver(Buffer.alloc(32), () => 0);
  const asked: string[] = [];
  // The name server answers an allowed address first, and a private one ever after.
  const rules: OutsideRules = {
    ...localRules,
    resolve: async (host) => {
      asked.push(host);
      return [asked.length === 1 ? '127.0.0.1' : '127.0.0.9'];
    },
  };
  const url = receiver.url.replace('127.0.0.1', 'rebinding.example.com');
  const first = await send(url, rules);
  assert.deepEqual([first.outcome, first.status], ['Answered', 200]);
  assert.equal(receiver.received[0]?.headers.host, new URL(url).host);
  const second = await send(url, rules);
  assert.equal(second.outcome, 'Refused');
  assert.deepEqual(asked, ['rebinding.example.com', 'rebinding.example.com']);
  assert.equal(receiver.connections(), 1);
  await receiver.close();
});

test('a name with one private address among public ones is refused', async () => {
  const rules = { ...strict, resolve: async () => ['8.8.8.8', '10.0.0.1'] };
  const { outcome } = await send('https://mixed.example.com/', rules);
  assert.equal(outcome, 'Refused');
});

test('a redirect is not followed, and counts as a failure', async () => {
  const receiver = await openReceiver(Buffer.alloc(32), () => 0);
  const location = `http://127.0.0.1:${port}/inside`;
  receiver.answer = () => ({ status: 302, headers: { location } });
  const { outcome, status } = await send(receiver.url, localRules);
  assert.deepEqual([outcome, status], ['Answered', 302]);
  assert.equal(connections, 0);
  await receiver.close();
});

test('a receiver that is silent, cuts the connection or answers without end costs its time and no more', async () => {
  const receiver = await openReceiver(Buffer.alloc(32), () => 0);
  receiver.answer = () => new Promise(() => {});
  const started = performance.now();
  const late = await send(receiver.url, localRules, 300);
  assert.equal(late.detail, 'No answer within 0.3 seconds');
  // The usual 15 seconds would be too long.
  assert.ok(performance.now() - started < 10_000);
  const cut = await send(`http://127.0.0.1:${port}/`, localRules);
  assert.deepEqual([cut.outcome, cut.detail], ['Failed', 'The connection was cut']);
  const before = process.memoryUsage().rss;
  receiver.answer = () => ({ status: 200, body: 'x'.repeat(64 * 1024 * 1024) });
  const long = await send(receiver.url, localRules);
  assert.equal(long.status, 200);
  assert.ok(process.memoryUsage().rss - before < 400 * 1024 * 1024);
  await receiver.close();
});

test('a name server that does not answer ends with the attempt', async () => {
  const rules = { ...strict, resolve: () => new Promise<string[]>(() => {}) };
  const { outcome, detail } = await send('https://silent.example.com/', rules, 200);
  assert.deepEqual([outcome, detail], ['Failed', 'No answer within 0.2 seconds']);
});
