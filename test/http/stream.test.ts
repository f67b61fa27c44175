// A whole list as a stream: at the reader's pace, at flat memory, with nothing left open.
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ask } from '../support/http.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene({ ownDatabase: true, apiConnections: 4 });
const admin = await scene.workspace('stream');
/** Few and long: the rows are made and read one by one, and the bytes are what counts here. */
const rowCount = 15_000;
/** The list is more text than this, and this is more than a kernel keeps for a socket. */
const listBytesMin = 20_000_000;
const body = '{"method":"Retrieve","action":"List Parties","apiVersion":"v2","page":null}';
const headers = { 'X-Workspace': 'stream', Authorization: admin.token ?? '' };

before(async () => {
  await scene.enter(admin);
  await scene.sql.query(
    `insert into parties (tenant_id, party_id, party_number, kind, name, email, country, contacts,
       search_text, created_at, created_by, modified_at, modified_by, ts)
     select current_tenant(), n, 100000 + n, 'Customer', 'Party ' || n, 'party' || n || '@example.com', 'PK',
       jsonb_build_array(jsonb_build_object('contactType', 'Mobile', 'contactValue',
         repeat('+92 300 1234567 ', 70))), 'party ' || n,
       now(), 'test', now(), 'test', n
     from generate_series(1, $1::int) n`,
    [rowCount],
  );
  await scene.sql.query('analyze parties');
});

const readers: Socket[] = [];
after(() => {
  for (const socket of readers) socket.destroy();
});

/** Asks for the whole list and reads no more than arrives by itself. */
async function stalledReader(): Promise<Socket> {
  const { hostname, port } = new URL(scene.baseUrl);
  const socket = connect({ port: Number(port), host: hostname });
  readers.push(socket);
  socket.on('error', () => {});
  const lines = Object.entries({ ...headers, 'Content-Type': 'application/json' });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const length = `Content-Length: ${body.length}\r\n`;
  socket.write(`POST /billing/users/list-users HTTP/1.1\r\nHost: x\r\n${head}${length}\r\n${body}`);
  await new Promise((resolve) => socket.once('readable', resolve));
  return socket;
}

async function openTransactions(): Promise<number> {
  const { rows } = await scene.sql.query(
    `select count(*)::int as open from pg_stat_activity
     where datname = current_database() and application_name = 'test api' and state <> 'idle'`,
  );
  return rows[0].open;
}

/** Waits until the server's side of all streams has stopped sending. */
async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 3_000; attempt += 1) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.fail(`not in time: ${what}`);
}

function connections(): Promise<number> {
  return new Promise((resolve, reject) =>
    scene.server.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
}

function allIdle(): boolean {
  const { pool } = scene.api;
  return pool.idleCount === pool.totalCount && pool.waitingCount === 0;
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** What the process holds after rubbish has been collected, in MB. */
function heldMb(): number {
  collect();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return (heapUsed + external + arrayBuffers) / 1e6;
}

test('the whole list arrives, each row once and in order, with its total', async () => {
  const answered = await ask(scene.baseUrl, '/billing/users/list-users', { headers, body });
  assert.equal(answered.headers.get('x-total-count'), String(rowCount));
  assert.equal(answered.envelope.message, `${rowCount} found`);
  assert.equal(answered.envelope.data.users.length, rowCount);
  assert.ok(answered.text.length > listBytesMin, `${answered.text.length} bytes`);
  for (const [i, user] of answered.envelope.data.users.entries()) assert.equal(user.partyID, i + 1);
});

test('readers that stop reading hold no transaction, and the server goes on answering', async () => {
  const before = heldMb();
  const sockets = await Promise.all(Array.from({ length: 10 }, stalledReader));
  await until('the pool is idle', allIdle);
  await until('no transaction is open', async () => (await openTransactions()) === 0);
  for (let i = 0; i < 20; i += 1) {
    await admin.listUsers({ page: { pageNumber: i, size: 10 } });
  }
  await until('the pool is idle', allIdle);
  const grown = heldMb() - before;
  // Ten lists held whole would be far more than this.
  assert.ok(grown < 60, `${grown} MB more`);
  for (const socket of sockets) assert.equal(socket.destroyed, false);
  for (const socket of sockets) socket.destroy();
});

test('a reader that goes away in the middle leaves nothing behind', async () => {
  await until('earlier readers are gone', async () => (await connections()) <= 2);
  const logged = scene.logged.length;
  for (let i = 0; i < 5; i += 1) {
    const socket = await stalledReader();
    assert.ok(socket.read(), 'the answer has begun');
    socket.destroy();
  }
  await until('the pool is idle', allIdle);
  await until('the sockets are closed', async () => (await connections()) <= 2);
  await until('no transaction is open', async () => (await openTransactions()) === 0);
  const complaints = scene.logged.slice(logged).filter((line) => /"level":50/.test(line));
  assert.deepEqual(complaints, []);
});

test('a reader that stops reading is cut off after the timeout, not after twice as long', async () => {
  const { server } = scene.server;
  const usual = server.timeout;
  assert.ok(usual > 0 && usual <= 60_000, 'an idle socket has a limit');
  const timeoutMs = 2_000;
  server.setTimeout(timeoutMs);
  try {
    const accepted: Socket[] = [];
    server.on('connection', (socket: Socket) => accepted.push(socket));
    const socket = await stalledReader();
    const serversEnd = accepted.find(({ remotePort }) => remotePort === socket.localPort);
    let written = 0;
    let stalledMs = performance.now();
    await until('the server has closed the socket', () => {
      const now = serversEnd?.bytesWritten ?? 0;
      if (now > written) stalledMs = performance.now();
      written = Math.max(written, now);
      return serversEnd?.destroyed === true;
    });
    const tookMs = performance.now() - stalledMs;
    assert.ok(tookMs < timeoutMs * 1.6, `${tookMs} ms`);
    socket.resume();
    await new Promise((resolve) => socket.once('close', resolve));
    assert.ok(socket.bytesRead < listBytesMin, 'the list was cut off');
  } finally {
    server.setTimeout(usual);
  }
  await until('the pool is idle', allIdle);
});

test('a fast reader and slow ones share the connections to the database', async () => {
  const stalled = await Promise.all(Array.from({ length: 6 }, stalledReader));
  const lists = await Promise.all(
    Array.from({ length: 1 }, () =>
      ask(scene.baseUrl, '/billing/users/list-users', { headers, body }),
    ),
  );
  for (const { envelope } of lists) assert.equal(envelope.data.users.length, rowCount);
  for (const socket of stalled) socket.destroy();
});

test('a list that the database interrupts ends as a broken answer, never as a whole one', async () => {
  const socket = await stalledReader();
  await until('the pool is idle', allIdle);
  await scene.sql.query('alter table parties rename to parties_away');
  try {
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => {
      text += chunk;
    });
    await new Promise((resolve) => socket.once('close', resolve));
    assert.doesNotMatch(text.slice(-200), /\]\}\}\r\n0\r\n\r\n$/);
    assert.ok(!text.endsWith('0\r\n\r\n'), 'the last chunk tells that the answer is complete');
  } finally {
    await scene.sql.query('alter table parties_away rename to parties');
  }
  assert.ok(
    scene.logged.some((line) => /"level":50/.test(line)),
    'the log tells of it',
  );
  await admin.listUsers({ page: { pageNumber: 0, size: 1 } });
});
