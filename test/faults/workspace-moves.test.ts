// A workspace is exported, imported under another name and deleted, beside others that stay as they
// are. Programs are killed in the middle.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import pg from 'pg';
import { createClient } from '../../sdk/client.ts';
import { assertChecks } from '../support/checks.ts';
import { ask, clientOf, digestOf, jobEnds, makeFullTerm } from '../support/full-term.ts';
import { closeLastingGate } from '../support/gate.ts';
import { openPlace, query, until } from '../support/program.ts';
import { adminPassword } from '../support/scene.ts';
import { openSupervisor } from '../support/supervisor.ts';
import { hashRows } from '../support/two-workspaces.ts';

const supervisor = await openSupervisor();
const { place, rows, dataFolder } = supervisor;
const folder = await mkdtemp(join(tmpdir(), 'billwright-moves-'));
await chmod(folder, 0o755);
after(() => rm(folder, { recursive: true, force: true }));
const programs = await openPlace('file');

const moving = await makeFullTerm(place, supervisor.baseUrl(), 'moving', 40);
const neighbour = await makeFullTerm(place, supervisor.baseUrl(), 'neighbour', 40);
for (const term of [moving, neighbour]) {
  const client = clientOf(supervisor.baseUrl(), term);
  for (const step of ['generate', 'post'] as const) {
    await jobEnds(rows, term, await ask(client, step));
  }
}

/** All rows of the neighbour; it is suspended meanwhile, so that no daily task changes them. */
async function neighbourRows(): Promise<Record<string, string>> {
  const client = new pg.Client({ ...place.cluster.superuser, database: place.databaseName });
  await client.connect();
  try {
    return await hashRows(client, neighbour.tenantId);
  } finally {
    await client.end();
  }
}
const suspended = await supervisor.command(['workspace', 'suspend', 'neighbour']);
assert.equal(suspended.code, 0, suspended.output);
await until(
  async () =>
    (await rows('select from seal_queue where tenant_id = $1', [neighbour.tenantId])).length === 0,
  'everything of the neighbour is sealed',
);
const before = await neighbourRows();

async function succeeds(args: readonly string[]): Promise<string> {
  const { code, output } = await supervisor.command(args);
  assert.equal(code, 0, output);
  return output;
}

async function fails(args: readonly string[], message: RegExp): Promise<void> {
  const { code, output } = await supervisor.command(args);
  assert.notEqual(code, 0, output);
  assert.match(output, message);
}

const tenantOf = async (name: string): Promise<number> => {
  const [row] = await rows('select tenant_id from workspaces where workspace = $1', [name]);
  return Number(row?.tenant_id);
};

test('an export is refused while a job runs, and works when the job is paused', async () => {
  const client = clientOf(supervisor.baseUrl(), moving);
  const gate = await closeLastingGate(rows, 'bill_documents', `new.tenant_id = ${moving.tenantId}`);
  const jobId = await ask(client, 'publish');
  await gate.reached();
  const file = join(folder, 'running.workspace');
  await fails(
    ['workspace', 'export', 'moving', file],
    /Job \d+ \(.*\) is running in workspace moving\. Wait until it has ended, or pause it/,
  );
  assert.equal(existsSync(file), false);
  await gate.open();
  await jobEnds(rows, moving, jobId);
});

const file = join(folder, 'moving.workspace');

test('an imported workspace has the same bills, documents, seals, audit trail and logins', async () => {
  await succeeds(['workspace', 'suspend', 'moving']);
  assert.match(await succeeds(['workspace', 'export', 'moving', file]), /has the workspace moving/);
  await fails(['workspace', 'import', file], /A workspace named 'moving' exists already/);
  await fails(
    ['restore', file],
    /contains the workspace 'moving': use billwright workspace import/,
  );
  const output = await succeeds(['workspace', 'import', file, '--name', 'moved']);
  assert.match(output, /Imported workspace moved: [\d,]+ rows of \d+ tables as of /);
  assert.match(output, /All checks passed\./);
  const tenantId = await tenantOf('moved');
  assert.notEqual(tenantId, moving.tenantId);
  assert.deepEqual(await digestOf(place, tenantId), await digestOf(place, moving.tenantId));
  await assertChecks(place, tenantId);
  const [found] = await rows(
    `select t.status, (select count(*) from sessions where tenant_id = $1)::integer as sessions
     from tenants t where t.tenant_id = $1`,
    [tenantId],
  );
  assert.deepEqual(found, { status: 'Suspended', sessions: 0 });
  for (const table of ['audit_entries', 'seals', 'logins', 'document_contents', 'seal_queue']) {
    const count = `select count(*)::integer as count from ${table} where tenant_id = $1`;
    const [own] = await rows(count, [tenantId]);
    const [theirs] = await rows(count, [moving.tenantId]);
    if (table !== 'seal_queue') assert.ok(own.count > 0, table);
    // The source is still sealed, also while it is suspended.
    if (!table.startsWith('seal')) assert.equal(own.count, theirs.count, table);
  }
  await succeeds(['workspace', 'resume', 'moved']);
  const baseUrl = supervisor.baseUrl();
  const client = createClient({ baseUrl, headers: { 'X-Workspace': 'moved' } });
  const login = { username: 'admin@moving.example', password: adminPassword };
  client.useToken((await client.login(login)).data.accessToken);
  const page = { pageNumber: 0, size: 1 };
  assert.equal((await client.getBills({ page })).headers.get('x-total-count'), '40');
  assert.deepEqual(await neighbourRows(), before);
});

test('an import that is killed leaves nothing, and the next one succeeds', async () => {
  const holder = new pg.Client({ ...place.cluster.superuser, database: place.databaseName });
  await holder.connect();
  await holder.query('begin; lock table subledger_entries in share mode');
  const args = ['workspace', 'import', file, '--name', 'killed'];
  const program = programs.run(args, { BILLWRIGHT_DATA: dataFolder });
  await until(async () => {
    const waiting = await rows(`select from pg_stat_activity
      where wait_event_type = 'Lock' and application_name = 'billwright import'`);
    return waiting.length > 0;
  }, 'the import waits for a table');
  await program.end('SIGKILL');
  await holder.query('rollback');
  await holder.end();
  await until(async () => {
    const left = await rows(
      `select from pg_stat_activity where application_name = 'billwright import'`,
    );
    return left.length === 0;
  }, 'its connection is gone');
  assert.ok(Number.isNaN(await tenantOf('killed')));
  const orphans = await rows(
    'select from bills where tenant_id not in (select tenant_id from workspaces)',
  );
  assert.equal(orphans.length, 0);
  await succeeds(['workspace', 'import', file, '--name', 'killed']);
  assert.deepEqual(await neighbourRows(), before);
});

test('a deletion is undone within its days, and later a killed worker goes on with it', async () => {
  const last = join(folder, 'last.workspace');
  const ended = await succeeds(['workspace', 'delete', 'moved', last, '--days', '5']);
  assert.match(
    ended,
    /is suspended, and is deleted after \d{4}-\d\d-\d\d\. Until then, workspace restore moved undoes it/,
  );
  await fails(['workspace', 'resume', 'moved'], /Workspace moved is to be deleted\./);
  await fails(['workspace', 'delete', 'moved', join(folder, 'x')], /is to be deleted already/);
  assert.match(await succeeds(['workspace', 'restore', 'moved']), /is not deleted. It is Active/);
  await fails(['workspace', 'restore', 'moved'], /Workspace moved is not to be deleted/);
  const tenantId = await tenantOf('moved');
  await assertChecks(place, tenantId);

  // No role of the program can delete what is only appended to, before and after.
  for (const role of ['billwright_api', 'billwright_worker']) {
    await assert.rejects(
      query(
        dataFolder,
        `begin; set local role ${role}; set local app.tenant = '${tenantId}';
        select delete_ended_rows('journals', 10)`,
      ),
      { code: '42501' },
      role,
    );
  }
  const final = join(folder, 'final.workspace');
  await rows(`create function stop_here() returns trigger language plpgsql as
    $$ begin perform pg_sleep(600); return old; end $$`);
  await rows(`create trigger stop_here before delete on logins
    for each row when (old.tenant_id = ${tenantId}) execute function stop_here()`);
  await succeeds(['workspace', 'delete', 'moved', final, '--days', '0']);
  await until(
    async () => {
      const asleep = await rows(`select from pg_stat_activity where wait_event = 'PgSleep'`);
      return asleep.length > 0;
    },
    'a worker is in the middle of the deletion',
    120_000,
  );
  await fails(['workspace', 'restore', 'moved'], /could be undone ended on/);
  assert.match(await succeeds(['workspace', 'list']), /^moved\tbeing deleted$/m);
  await supervisor.kill('worker', Math.random);
  await rows(`select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep'`);
  await rows('drop function stop_here cascade');
  await supervisor.recovered();
  await until(async () => Number.isNaN(await tenantOf('moved')), 'it is deleted', 120_000);

  const tables = await rows(`select c.relname from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
      and c.relname <> 'ended_workspaces'`);
  for (const { relname } of tables) {
    const left = await rows(`select from ${relname} where tenant_id = $1`, [tenantId]);
    assert.equal(left.length, 0, relname);
  }
  assert.deepEqual(await neighbourRows(), before);
  await assertChecks(place, neighbour.tenantId);

  // Its last export brings it back, with another tenant id.
  await succeeds(['workspace', 'import', final]);
  const again = await tenantOf('moved');
  assert.ok(again > tenantId);
  assert.deepEqual(await digestOf(place, again), await digestOf(place, moving.tenantId));
});
