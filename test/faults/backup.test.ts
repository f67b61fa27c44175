// A backup is made while bills are posted, and restored in another PostgreSQL, under another user.
// Backups and restores are killed, files are damaged, and disks are full.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import { createClient } from '../../sdk/client.ts';
import {
  archiveEnd,
  type Member,
  memberBytes,
  readArchive,
} from '../../src/base/db/backup/archive.ts';
import { startEmbedded } from '../../src/base/postgres/embedded.ts';
import { assertChecks, type Place } from '../support/checks.ts';
import { ask, clientOf, digestOf, jobEnds, makeFullTerm } from '../support/full-term.ts';
import { closeLastingGate } from '../support/gate.ts';
import { finish, isLinux, openPlace, processesIn, until } from '../support/program.ts';
import { adminPassword } from '../support/scene.ts';
import { openSupervisor } from '../support/supervisor.ts';

const subscriptions = 40;
const steps = ['generate', 'post', 'publish'] as const;
const supervisor = await openSupervisor();
const { place, rows } = supervisor;
const folder = await mkdtemp(join(tmpdir(), 'billwright-backup-'));
await chmod(folder, 0o755);
const programs = await openPlace('file');
const file = join(folder, 'running.backup');
const canLimit = isLinux && spawnSync('prlimit', ['--version']).status === 0;

// Another PostgreSQL, as an operator has it, with a user and a database of other names.
const other = await startEmbedded({
  dataFolder: join(folder, 'other'),
  use: 'claim',
  settings: { fsync: 'off' },
  log: () => {},
});
after(async () => {
  await other.stop();
  await rm(folder, { recursive: true, force: true });
});

async function asSuperuser(...statements: string[]): Promise<void> {
  const client = new pg.Client(other.superuser);
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}
await asSuperuser(
  'create role operator login createrole bypassrls',
  'grant billwright_api to operator with admin option',
);

function urlOf(database: string): Record<string, string> {
  const host = encodeURIComponent(other.owner.host);
  return {
    DATABASE_URL: `postgresql://operator@/${database}?host=${host}`,
    BILLWRIGHT_DATA: join(folder, database),
    BILLWRIGHT_ALLOW_UNSAFE_DATABASE: '1',
    SCHEDULE_WAIT_SECONDS: '0',
  };
}

function command(args: readonly string[], env: Record<string, string>) {
  return finish(programs.run(args, env));
}

const placeOf = (database: string): Place => {
  const own = { ...other.superuser, database };
  return { cluster: { owner: own, api: own, superuser: own }, databaseName: database };
};

test('a backup made while bills are posted is restored, and the term ends as an undisturbed one', async () => {
  const calm = await makeFullTerm(place, supervisor.baseUrl(), 'calm', subscriptions);
  const calmClient = clientOf(supervisor.baseUrl(), calm);
  for (const step of steps) await jobEnds(rows, calm, await ask(calmClient, step));
  const busy = await makeFullTerm(place, supervisor.baseUrl(), 'busy', subscriptions);
  const client = clientOf(supervisor.baseUrl(), busy);
  await jobEnds(rows, busy, await ask(client, 'generate'));
  const gate = await closeLastingGate(
    rows,
    'bills',
    `new.tenant_id = ${busy.tenantId} and new.status = 'Posted'`,
  );
  const jobId = await ask(client, 'post');
  await gate.reached();
  const backup = await supervisor.command(['backup', file]);
  assert.equal(backup.code, 0, backup.output);
  assert.match(
    backup.output,
    /running\.backup has [\d,]+ rows of \d+ tables in [\d.]+ [KM]B, after /,
  );
  assert.equal(statSync(file).mode & 0o777, 0o600);
  await gate.open();
  await jobEnds(rows, busy, jobId);

  await asSuperuser('create database moved owner operator');
  const restored = await command(['restore', file], urlOf('moved'));
  assert.equal(restored.code, 0, restored.output);
  assert.match(restored.output, /Restored [\d,]+ rows of \d+ tables as of /);
  assert.match(restored.output, /All checks passed\./);
  const moved = placeOf('moved');
  assert.deepEqual(await digestOf(moved, calm.tenantId), await digestOf(place, calm.tenantId));

  const program = programs.run(['start'], urlOf('moved'));
  const baseUrl = await program.ready();
  const again = createClient({ baseUrl, headers: { 'X-Workspace': 'busy' } });
  const login = { username: 'admin@busy.example', password: adminPassword };
  const token = (await again.login(login)).data.accessToken;
  const there = new pg.Client({ ...other.superuser, database: 'moved' });
  await there.connect();
  const rowsThere = async (text: string, values: readonly unknown[]) =>
    (await there.query(text, [...values])).rows;
  try {
    const posted = await jobEnds(rowsThere, busy, jobId);
    assert.equal(posted.status, 'Succeeded', JSON.stringify(posted.error));
    const session = clientOf(baseUrl, { ...busy, token });
    const publishing = await ask(session, 'publish');
    assert.equal((await jobEnds(rowsThere, busy, publishing)).status, 'Succeeded');
  } finally {
    await there.end();
  }
  assert.equal((await program.end('SIGTERM')).code, 0);
  const expected = await digestOf(place, calm.tenantId);
  assert.deepEqual(await digestOf(moved, busy.tenantId), expected);
  await assertChecks(moved, busy.tenantId);
});

/** The members of an archive, changed and written again. */
async function rewritten(name: string, change: (member: Member) => Member): Promise<string> {
  const path = join(folder, name);
  const parts: Buffer[] = [];
  for await (const member of readArchive(file)) parts.push(...memberBytes(change(member)));
  writeFileSync(path, Buffer.concat([...parts, archiveEnd()]));
  return path;
}

const damaged: [string, RegExp, () => Promise<string>][] = [
  [
    'of which one byte differs',
    /cannot be used: .* damaged|SHA-256/,
    async () => {
      const bytes = readFileSync(file);
      const at = Math.floor(bytes.length / 2);
      bytes[at] = (bytes[at] as number) ^ 0xff;
      writeFileSync(join(folder, 'byte.backup'), bytes);
      return join(folder, 'byte.backup');
    },
  ],
  [
    'that ends too early',
    /cannot be used: it ends too early\./,
    async () => {
      const bytes = readFileSync(file);
      writeFileSync(join(folder, 'short.backup'), bytes.subarray(0, bytes.length - 4_000));
      return join(folder, 'short.backup');
    },
  ],
  [
    'in which an amount was changed',
    /the content of table journal_lines is not the one that was written \(SHA-256\)/,
    () =>
      rewritten('amount.backup', ({ name, bytes }) => {
        if (!name.startsWith('tables/journal_lines/')) return { name, bytes };
        const text = gunzipSync(bytes).toString();
        return {
          name,
          bytes: gzipSync(text.replace(/\d(?=\n)/, (digit) => `${9 - Number(digit)}`)),
        };
      }),
  ],
  [
    'of a newer program',
    /made by Billwright [\d.]+, which is newer: its database has run migration 9001 \(later\)/,
    () => {
      const later = { version: 9001, name: 'later', checksum: 'x' };
      return rewrittenHead('newer.backup', (head) => head.migrations.push(later));
    },
  ],
  [
    'that is another file',
    /is not an archive|ends too early/,
    async () => fileURLToPath(import.meta.url),
  ],
  ['that does not exist', /There is no file /, async () => join(folder, 'absent.backup')],
];

type Head = { migrations: object[] };

async function rewrittenHead(name: string, change: (head: Head) => void): Promise<string> {
  const { createHash } = await import('node:crypto');
  let hash = '';
  return rewritten(name, (member) => {
    if (member.name === 'backup.json') {
      const head = JSON.parse(member.bytes.toString());
      change(head);
      const bytes = Buffer.from(JSON.stringify(head));
      hash = createHash('sha256').update(bytes).digest('hex');
      return { name: member.name, bytes };
    }
    if (member.name !== 'manifest.json') return member;
    const manifest = { ...JSON.parse(member.bytes.toString()), head: hash };
    return { name: member.name, bytes: Buffer.from(JSON.stringify(manifest)) };
  });
}

for (const [what, message, make] of damaged) {
  test(`a file ${what} is refused, and nothing is made`, async () => {
    const dataFolder = join(folder, 'never');
    const { code, output } = await command(['restore', await make()], {
      BILLWRIGHT_DATA: dataFolder,
    });
    assert.equal(code, 1, output);
    assert.match(output, message);
    const hasTables = existsSync(join(dataFolder, 'postgres')) && output.includes('Restored');
    assert.equal(hasTables, false);
  });
}

test('a database that has a workspace, or tables of another program, is not overwritten', async () => {
  const full = await command(['restore', file], urlOf('moved'));
  assert.equal(full.code, 1);
  assert.match(
    full.output,
    /not empty: it has the workspaces busy, calm, demo\. A backup is restored/,
  );
  const running = await supervisor.command(['restore', file]);
  assert.equal(running.code, 1);
  assert.match(running.output, /the data folder .* is in use by process \d+/);
  await asSuperuser('create database foreign_tables owner operator');
  const client = new pg.Client({ ...other.superuser, database: 'foreign_tables' });
  await client.connect();
  await client.query('create table orders (id integer)');
  await client.end();
  const foreign = await command(['restore', file], urlOf('foreign_tables'));
  assert.equal(foreign.code, 1);
  assert.match(foreign.output, /has tables of another program/);
});

test('a backup that is killed leaves no file under its name, and the next one is complete', async () => {
  const killed = join(folder, 'killed.backup');
  const holder = new pg.Client({ ...place.cluster.superuser, database: place.databaseName });
  await holder.connect();
  await holder.query('begin; lock table subledger_entries in access exclusive mode');
  const program = programs.run(['backup', killed], { BILLWRIGHT_DATA: supervisor.dataFolder });
  const isWaiting = () =>
    rows(`select from pg_stat_activity where wait_event_type = 'Lock'
      and application_name = 'billwright backup'`);
  await until(async () => (await isWaiting()).length > 0, 'the backup waits for a table');
  await program.end('SIGKILL');
  await holder.end();
  assert.equal(existsSync(killed), false);
  const again = await supervisor.command(['backup', killed]);
  assert.equal(again.code, 0, again.output);
  const twice = await supervisor.command(['backup', killed]);
  assert.equal(twice.code, 1);
  assert.match(twice.output, /killed\.backup exists already\. Name another file, or remove it\./);
});

test('a restore that is killed leaves a database that is refused, until it is restored again', async () => {
  const env = { BILLWRIGHT_DATA: programs.ready('halfway') };
  const program = programs.run(['restore', file], env);
  const socket = { host: join(env.BILLWRIGHT_DATA, 'postgres', 'socket'), user: 'postgres' };
  await until(async () => {
    const client = new pg.Client({ ...socket, database: 'billwright' });
    client.on('error', () => {});
    try {
      await client.connect();
      const { rows: found } = await client.query(`select from pg_stat_activity
        where application_name = 'billwright restore' and query like 'copy "%'
          and query not like 'copy "a%'`);
      return found.length > 0;
    } catch {
      return false;
    } finally {
      await client.end().catch(() => {});
    }
  }, 'rows are copied');
  assert.equal((await program.end('SIGKILL')).signal, 'SIGKILL');
  for (const args of [
    ['verify'],
    ['start'],
    ['workspace', 'list'],
    ['backup', join(folder, 'x')],
  ]) {
    const refused = await command(args, env);
    assert.equal(refused.code, 1, args.join(' '));
    assert.match(
      refused.output,
      /The restore of .*running\.backup into this database was interrup/,
    );
  }
  const again = await command(['restore', file, '--suspend'], env);
  assert.equal(again.code, 0, again.output);
  assert.match(again.output, /Every workspace is suspended: billwright workspace resume NAME\./);
  const listed = await command(['workspace', 'list'], env);
  assert.match(listed.output, /^busy\tSuspended\t/m);
});

test('a full disk is reported, and leaves neither a file nor a half-restored database', async (t) => {
  if (!canLimit) return t.skip('prlimit is missing');
  const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
  const full = join(folder, 'full.backup');
  const env = { PATH: process.env.PATH, BILLWRIGHT_DATA: supervisor.dataFolder };
  const line = ['--fsize=65536:unlimited', process.execPath, main, 'backup', full];
  const child = spawn('prlimit', line, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (bytes) => (output += bytes));
  const [code] = await once(child, 'exit');
  assert.equal(code, 1, output);
  assert.match(output, /full\.backup was not written, and nothing is left of it: /);
  assert.equal(existsSync(full), false);

  // A table larger than a file of the log of PostgreSQL, which is not to be limited.
  await rows(`insert into events (tenant_id, event_id, type, data, at)
    select min(tenant_id), 1000000 + n, 'bill.posted', jsonb_build_object('text', repeat('x', 900)),
      now()
    from workspaces, generate_series(1, 25000) n group by n`);
  const large = join(folder, 'large.backup');
  assert.equal((await supervisor.command(['backup', large])).code, 0);
  await rows('delete from events where event_id > 1000000');
  await asSuperuser('create database tight owner operator');
  assert.equal((await command(['migrate'], urlOf('tight'))).code, 0);
  limitFiles(17_000_000);
  const tight = await command(['restore', large], urlOf('tight'));
  limitFiles('unlimited');
  assert.equal(tight.code, 1);
  assert.match(tight.output, /The disk of the database is full: nothing was restored\. Make room/);
  const again = await command(['restore', file], urlOf('tight'));
  assert.equal(again.code, 0, again.output);
});

function limitFiles(bytes: number | 'unlimited'): void {
  for (const { pid } of processesIn(join(folder, 'other'), 'postgres')) {
    const { uid, gid } = statSync(`/proc/${pid}`, { throwIfNoEntry: false }) ?? {};
    if (uid === undefined) continue;
    spawnSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`], { uid, gid });
  }
}

test('a role that row-level security binds makes the same backup, workspace by workspace', async () => {
  await asSuperuser('alter role operator nobypassrls');
  const bound = join(folder, 'bound.backup');
  const backup = await command(['backup', bound], urlOf('moved'));
  await asSuperuser('alter role operator bypassrls');
  assert.equal(backup.code, 0, backup.output);
  const free = join(folder, 'free.backup');
  assert.equal((await command(['backup', free], urlOf('moved'))).code, 0);
  assert.deepEqual(await rowsIn(bound), await rowsIn(free));
});

async function rowsIn(path: string): Promise<unknown> {
  for await (const { name, bytes } of readArchive(path)) {
    if (name !== 'manifest.json') continue;
    const { tables } = JSON.parse(bytes.toString()) as { tables: { name: string; rows: number }[] };
    return tables.map((table) => `${table.name} ${table.rows}`);
  }
  return assert.fail('no manifest');
}
