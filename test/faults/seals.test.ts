// What is written is sealed in blocks that follow from each other, whatever the order in which
// transactions commit and however many workers seal.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { tenantTransact } from '../../src/base/db/pool.ts';
import { createLog } from '../../src/base/log.ts';
import { checkSeals, sealBlock } from '../../src/domain/audit/seal.ts';
import { startSealing } from '../../src/worker/sealing.ts';
import { resultsOf } from '../support/checks.ts';
import { environmentOf } from '../support/cluster.ts';
import { finish, openPlace, until } from '../support/program.ts';
import { openScene } from '../support/scene.ts';
import { seal, tamper } from '../support/tampering.ts';

const scene = await openScene();
const place = await openPlace();

async function open(workspace: string) {
  const client = await scene.workspace(workspace);
  const { rows } = await scene.sql.query('select find_workspace($1) as id', [workspace]);
  return { client, tenantId: Number(rows[0].id) };
}

async function sealsOf(tenantId: number): Promise<{ items: string[]; audit_rows: number }[]> {
  const { rows } = await scene.sql.query(
    'select items, audit_rows from seals where tenant_id = $1 order by block',
    [tenantId],
  );
  return rows;
}

async function waiting(tenantId: number): Promise<string[]> {
  const { rows } = await scene.sql.query(
    'select item from seal_queue where tenant_id = $1 order by item',
    [tenantId],
  );
  return rows.map((row) => row.item);
}

const sealed = async (tenantId: number) =>
  (await resultsOf(scene, tenantId)).find(({ check }) => check === 'L17');

test('verify says how many audit entries wait for a seal, and none once they are sealed', async () => {
  const { client, tenantId } = await open('waiting');
  await seal(scene);
  await client.makeUsers({ userType: 'customer', users: [{ name: 'A' }, { name: 'B' }] });
  const before = await sealed(tenantId);
  assert.equal(before?.wrong, 0);
  assert.match(before?.note ?? '', /^\d+ audit entries not sealed yet$/);
  await seal(scene);
  const after = await sealed(tenantId);
  assert.deepEqual([after?.wrong, after?.note], [0, undefined]);
  assert.deepEqual(await waiting(tenantId), []);
  const env = environmentOf(scene.cluster, scene.databaseName);
  await client.makeUsers({ userType: 'customer', users: [{ name: 'C' }] });
  const { code, output } = await finish(place.run(['verify', '--workspace', 'waiting'], env));
  assert.equal(code, 0, output);
  assert.match(output, /^ {2}L17 .* checked {2}passed; 1 audit entry not sealed yet$/m);
});

test('entries that commit after later ones are sealed in a later block', async () => {
  const { tenantId } = await open('late');
  await seal(scene);
  const blocks = (await sealsOf(tenantId)).length;
  const insert = (requestId: string) => ({
    text: `insert into audit_entries (tenant_id, request_id, position, at, actor, actor_kind,
        operation, subject, subject_id)
      values ($1, $2, 0, now(), 'test', 'System', 'test', 'test', '1')`,
    values: [tenantId, requestId],
  });
  const slow = new pg.Client({ ...scene.cluster.owner, database: scene.databaseName });
  await slow.connect();
  try {
    await slow.query('begin');
    await slow.query(insert('01EARLY'));
    await scene.sql.query(insert('01LATER'));
    await seal(scene);
    await slow.query('commit');
  } finally {
    await slow.end();
  }
  assert.deepEqual(await waiting(tenantId), ['audit 01EARLY']);
  await seal(scene);
  const found = (await sealsOf(tenantId)).slice(blocks).map(({ items }) => items.join());
  assert.equal(found.length, 2);
  assert.match(found[0] ?? '', /^audit 01LATER 1 /);
  assert.match(found[1] ?? '', /^audit 01EARLY 1 /);
  assert.equal((await sealed(tenantId))?.wrong, 0);
});

test('of two workers that seal at once, one seals and the chain stays whole', async () => {
  const { client, tenantId } = await open('two');
  const users = Array.from({ length: 40 }, (_, index) => ({ name: `U${index}` }));
  for (const user of users) await client.makeUsers({ userType: 'customer', users: [user] });
  const now = Temporal.Now.instant();
  const one = () => tenantTransact(scene.worker, tenantId, (tx) => sealBlock(tx, tenantId, now));
  const done = await Promise.all([one(), one(), one()]);
  assert.equal(done.filter((items) => items > 0).length, 1);
  const items = (await sealsOf(tenantId)).flatMap((row) => row.items);
  assert.equal(new Set(items).size, items.length);
  assert.equal((await sealed(tenantId))?.wrong, 0);
});

test('a caller does not wait for a worker that seals', async () => {
  const { client, tenantId } = await open('calm');
  const blocking = Promise.withResolvers<void>();
  const now = Temporal.Now.instant();
  const sealing = tenantTransact(scene.worker, tenantId, async (tx) => {
    const items = await sealBlock(tx, tenantId, now);
    await blocking.promise;
    return items;
  });
  await client.makeUsers({ userType: 'customer', users: [{ name: 'Quick' }] });
  blocking.resolve();
  assert.ok((await sealing) > 0);
  await seal(scene);
  assert.equal((await sealed(tenantId))?.wrong, 0);
});

test('a running worker seals every workspace without a request', async () => {
  const { client, tenantId } = await open('self');
  await client.makeUsers({ userType: 'customer', users: [{ name: 'A' }] });
  const log = createLog({ level: 'error', destination: { write: () => {} } });
  const sealing = startSealing({ database: scene.worker, clock: scene.clock, log });
  await until(async () => (await waiting(tenantId)).length === 0, 'everything is sealed');
  await sealing.stop();
});

test('API may neither write seals nor take anything out of the queue', async () => {
  const { tenantId } = await open('rights');
  await seal(scene);
  for (const statement of [
    `insert into seals select * from seals where tenant_id = ${tenantId}`,
    `delete from seal_queue where tenant_id = ${tenantId}`,
    `delete from audit_entries where tenant_id = ${tenantId}`,
    `update audit_entries set actor = 'x' where tenant_id = ${tenantId}`,
  ]) {
    const client = new pg.Client({ ...scene.cluster.api, database: scene.databaseName });
    await client.connect();
    try {
      await client.query("select set_config('app.tenant', $1, false)", [String(tenantId)]);
      await assert.rejects(client.query(statement), /permission denied/);
    } finally {
      await client.end();
    }
  }
});

test('thousands of entries are checked a few blocks at a time', async () => {
  const { tenantId } = await open('many');
  await scene.sql.query(
    `insert into audit_entries (tenant_id, request_id, position, at, actor, actor_kind, operation,
       subject, subject_id, after)
     select $1, '01MANY' || lpad(n::text, 8, '0'), p, now(), 'test', 'System', 'test', 'test',
       n::text, jsonb_build_object('n', n)
     from generate_series(1, 6000) n, generate_series(0, 1) p`,
    [tenantId],
  );
  await seal(scene);
  const read = <T>(work: Parameters<typeof tenantTransact<T>>[2]) =>
    tenantTransact(scene.owner, tenantId, work);
  const good = await checkSeals({ read }, tenantId, 5);
  assert.equal(good.wrong, 0);
  assert.ok(good.checked >= 12, String(good.checked));
  await tamper(
    scene,
    `update audit_entries set after = '{}' where tenant_id = ${tenantId}
       and request_id = '01MANY00004711' and position = 1;
     delete from audit_entries where tenant_id = ${tenantId} and request_id = '01MANY00000815'
       and position = 0`,
  );
  const bad = await checkSeals({ read }, tenantId, 5);
  assert.deepEqual(bad.examples, [
    'audit 01MANY00000815 has lost 1 row',
    'audit 01MANY00004711 was changed',
  ]);
});
