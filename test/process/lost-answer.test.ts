// The program is killed when its call is committed and not yet answered. The caller, who cannot
// know that, repeats with the same Idempotency-Key: one effect, and the answer that was stored.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { environmentOf } from '../support/cluster.ts';
import { openPlace, type Program, until } from '../support/program.ts';
import { adminPassword } from '../support/scene.ts';
import { openWorkspaceDatabase } from '../support/workspace-database.ts';

const { cluster, databaseName, owner } = await openWorkspaceDatabase('lost');
const place = await openPlace();
const between = await openBetween(place.folder);
after(() => between.close());

/** PostgreSQL's message that a transaction is committed, as bytes of the wire. */
const committed = Buffer.from('C\0\0\0\x0bCOMMIT\0', 'latin1');

type Between = {
  /** From now on the next word of a commit is kept back, and all that would follow it. */
  keepBack(): void;
  hasKeptBack(): boolean;
  close(): Promise<void>;
};

/** A socket that passes everything on between the program and PostgreSQL, until it is stopped. */
async function openBetween(folder: string): Promise<Between> {
  let isKeeping = false;
  let hasKept = false;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(join(cluster.api.host, `.s.PGSQL.${cluster.api.port}`));
    near.pipe(far);
    far.on('data', (bytes: Buffer) => {
      if (isKeeping && bytes.includes(committed)) hasKept = true;
      if (!hasKept) near.write(bytes);
    });
    for (const socket of [near, far]) {
      open.add(socket);
      socket
        .on('error', () => {})
        .on('close', () => {
          open.delete(socket);
          near.destroy();
          far.destroy();
        });
    }
  });
  server.listen(join(folder, `.s.PGSQL.${cluster.api.port}`));
  await once(server, 'listening');
  return {
    keepBack: () => {
      isKeeping = true;
    },
    hasKeptBack: () => hasKept,
    close: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function serve(own: Record<string, string>): Program {
  return place.run(['serve'], { ...environmentOf(cluster, databaseName), ...own });
}

async function call(base: string, path: string, headers: Record<string, string>, body: object) {
  const answer = await fetch(new URL(path, base), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Workspace': 'lost', ...headers },
    body: JSON.stringify({ apiVersion: 'v2', ...body }),
  });
  return { headers: answer.headers, text: await answer.text() };
}

async function login(base: string): Promise<string> {
  const { text } = await call(
    base,
    '/billing/auth/login',
    {},
    {
      method: 'Login',
      action: 'Login User',
      username: 'admin@lost.example',
      password: adminPassword,
    },
  );
  return JSON.parse(text).data.accessToken;
}

async function counted(): Promise<{ parties: number; audited: number; stored: string[] }> {
  const { rows } = await owner.query(
    `select (select count(*)::integer from parties where name = 'Once') as parties,
       (select count(*)::integer from audit_entries where after ->> 'name' = 'Once') as audited,
       (select array_agg(body) from idempotency_keys where idempotency_key = 'once') as stored`,
  );
  return rows[0];
}

test('a call repeated after a kill between commit and answer gets the first answer', async () => {
  const host = encodeURIComponent(place.folder);
  const first = serve({
    API_DATABASE_URL: `postgresql://${cluster.api.user}@/${databaseName}?host=${host}`,
  });
  const firstBase = await first.ready();
  const token = await login(firstBase);
  const makeParty = (base: string, name: string, key: string) =>
    call(
      base,
      '/billing/users/make-users',
      { Authorization: token, 'Idempotency-Key': key },
      {
        method: 'Create',
        action: 'Create Parties',
        userType: 'customer',
        users: [{ name }],
      },
    );
  // The first event of a process takes a block of ids, by a commit of its own.
  await makeParty(firstBase, 'Before', 'before');
  const send = (base: string) => makeParty(base, 'Once', 'once');
  between.keepBack();
  const unanswered = send(firstBase).then(
    () => 'answered',
    () => 'no answer',
  );
  await until(between.hasKeptBack, 'the commit is kept back');
  const { stored } = await counted();
  assert.equal(stored.length, 1, 'it is committed, with its answer');
  assert.deepEqual(await first.end('SIGKILL'), { code: null, signal: 'SIGKILL' });
  assert.equal(await unanswered, 'no answer');

  const second = serve({});
  const secondBase = await second.ready();
  const repeats = [await send(secondBase), await send(secondBase)];
  for (const { headers, text } of repeats) {
    assert.equal(text, stored[0], 'byte for byte');
    assert.equal(headers.get('x-status-code'), '200');
    assert.equal(headers.get('idempotency-replayed'), 'true');
    assert.match(headers.get('x-party-number') ?? '', /^\d+$/);
  }
  assert.deepEqual(await counted(), { parties: 1, audited: 1, stored });
  assert.deepEqual(await second.end('SIGTERM'), { code: 0, signal: null });
});
