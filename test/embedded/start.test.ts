import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import {
  chown,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { crashEmbedded } from '../../src/base/postgres/embedded.ts';
import { memorySettings } from '../../src/base/postgres/settings.ts';
import { isRoot, openScene, openUsedScene, query } from './scene.ts';

// The user id of `nobody` on Linux; any that is not root's will do.
const nobody = 65534;

test('a first start creates the database, and a restart keeps its data', async (t) => {
  const scene = await openScene(t);
  const first = await scene.start();
  assert.equal(first.adopted, false);
  await query(first.owner, 'create table kept as select generate_series(1, 1000) as number');
  await first.stop();
  await first.stop();
  await assert.rejects(query(first.owner, 'select'), /ENOENT|ECONNREFUSED/);
  const second = await scene.start();
  assert.equal(second.adopted, false);
  const [row] = await query(second.owner, 'select count(*)::int as rows from kept');
  assert.equal(row.rows, 1000);
});

test('the database is durable, checksummed, UTF-8 and reachable by its socket only', async (t) => {
  const scene = await openUsedScene(t);
  const embedded = await scene.start({ settings: { work_mem: '5MB' } });
  const wanted = {
    ...{ fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', data_checksums: 'on' },
    ...{ data_sync_retry: 'off', server_encoding: 'UTF8', listen_addresses: '', jit: 'off' },
    ...{ max_wal_size: '4GB', max_connections: '100', random_page_cost: '1.1', work_mem: '5MB' },
    ...{ logging_collector: 'on', log_rotation_size: '10MB', TimeZone: 'UTC' },
  };
  for (const [name, value] of Object.entries(wanted)) {
    const [row] = await query(embedded.superuser, `select current_setting('${name}') as value`);
    assert.equal(row.value, value, name);
  }
  const [database] = await query(
    embedded.owner,
    `select datlocprovider, datlocale, pg_get_userbyid(datdba) as owner
       from pg_database where datname = current_database()`,
  );
  assert.deepEqual(database, { datlocprovider: 'b', datlocale: 'C.UTF-8', owner: 'billwright' });
  const folders = [scene.dataFolder, embedded.owner.host];
  for (const folder of folders) assert.equal((await stat(folder)).mode & 0o777, 0o700, folder);
});

test('the two roles have the rights they need and no others', async (t) => {
  const scene = await openUsedScene(t);
  const embedded = await scene.start();
  const rights = `select rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolreplication
      from pg_roles where rolname = current_user`;
  const none = { rolsuper: false, rolcreaterole: false, rolcreatedb: false };
  const restNone = { rolbypassrls: false, rolreplication: false };
  assert.deepEqual(await query(embedded.api, rights), [{ ...none, ...restNone }]);
  const owner = { rolsuper: false, rolcreaterole: true, rolcreatedb: true };
  const ownerRest = { rolbypassrls: true, rolreplication: false };
  assert.deepEqual(await query(embedded.owner, rights), [{ ...owner, ...ownerRest }]);
  await assert.rejects(query(embedded.api, 'create table refused (id int)'), /permission denied/);
  await query(embedded.owner, "alter role billwright_api set statement_timeout = '5s'");
  await query(embedded.superuser, 'alter role billwright_api superuser');
  await embedded.stop();
  const again = await scene.start();
  assert.deepEqual(await query(again.api, rights), [{ ...none, ...restNone }], 'put right again');
});

test('a moved data folder works, by an odd name and by one too long for a socket', async (t) => {
  const scene = await openScene(t);
  const first = await scene.start();
  await query(first.owner, 'create table kept as select 1 as one');
  await first.stop();
  const odd = join(scene.folder, `it's, "a" \\ näme`);
  await rename(scene.dataFolder, odd);
  const second = await scene.start({ dataFolder: odd });
  assert.ok(second.owner.host.startsWith(odd), 'the socket is inside');
  assert.deepEqual(await query(second.owner, 'select one from kept'), [{ one: 1 }]);
  await second.stop();
  const long = join(scene.folder, 'a'.repeat(120));
  await rename(odd, long);
  const third = await scene.start({ dataFolder: long });
  t.after(() => rmdir(third.owner.host));
  assert.ok(!third.owner.host.startsWith(long), 'the socket is elsewhere');
  assert.equal((await stat(third.owner.host)).mode & 0o777, 0o700);
  assert.deepEqual(await query(third.owner, 'select one from kept'), [{ one: 1 }]);
  await third.stop();
});

test('a database of another PostgreSQL version is refused and left alone', async (t) => {
  const scene = await openScene(t);
  const cluster = join(scene.dataFolder, 'postgres', 'cluster');
  await mkdir(cluster, { recursive: true });
  if (isRoot) await chown(cluster, nobody, nobody);
  await writeFile(join(cluster, 'PG_VERSION'), '17\n');
  await assert.rejects(
    scene.start(),
    /made by PostgreSQL 17, and this program brings PostgreSQL 18/,
  );
  assert.equal(await readFile(join(cluster, 'PG_VERSION'), 'utf8'), '17\n');
});

test('a folder that is not a database is refused and left alone', async (t) => {
  const scene = await openScene(t);
  const cluster = join(scene.dataFolder, 'postgres', 'cluster');
  await mkdir(cluster, { recursive: true });
  if (isRoot) await chown(cluster, nobody, nobody);
  await writeFile(join(cluster, 'letter.txt'), 'dear');
  await assert.rejects(scene.start(), /is not a PostgreSQL database; it is left alone/);
  assert.equal(await readFile(join(cluster, 'letter.txt'), 'utf8'), 'dear');
});

test('a start that fails says what PostgreSQL said', async (t) => {
  const scene = await openUsedScene(t);
  await (await scene.start()).stop();
  await assert.rejects(scene.start({ settings: { shared_buffers: 'plenty' } }), (error: Error) => {
    const said = /could not be started.*invalid value for parameter "shared_buffers": "plenty"/s;
    assert.match(error.message, said);
    assert.doesNotMatch(error.message, /shut down/, 'what the server before it said');
    return true;
  });
  await assert.rejects(
    scene.start({ settings: { shared_preload_libraries: 'nothing_like_it' } }),
    /could not access file "nothing_like_it"/,
  );
  const embedded = await scene.start();
  assert.deepEqual(await query(embedded.owner, 'select 1 as one'), [{ one: 1 }]);
});

test('a full disk is named, leaves nothing half made, and is got over', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'billwright-disk-'));
  t.after(() => rmdir(folder));
  // 20 MB hold less than a new database, 75 MB one and a little.
  const mount = ['-t', 'tmpfs', '-o', 'size=20m,mode=755', 'tmpfs', folder];
  if (!isRoot || spawnSync('mount', mount).status !== 0) return t.skip('mount is not allowed');
  const dataFolder = join(folder, 'data');
  const scene = await openScene(t);
  const start = () => scene.start({ dataFolder });
  try {
    await assert.rejects(start(), /^Error: the disk of .* is full/);
    assert.ok(!readdirSync(join(dataFolder, 'postgres')).join().includes('cluster'));
    spawnSync('mount', ['-o', 'remount,size=75m', folder]);
    await (await start()).stop();
    const fill = join(folder, 'fill');
    spawnSync('dd', ['if=/dev/zero', `of=${fill}`, 'bs=1M']);
    await assert.rejects(start(), /^Error: the disk of .* is full/);
    await rm(fill);
    assert.deepEqual(await query((await start()).owner, 'select 1 as one'), [{ one: 1 }]);
  } finally {
    await crashEmbedded(dataFolder);
    spawnSync('umount', ['-l', folder]);
  }
});

test('memory settings follow the memory of the machine within limits', () => {
  const gigabyte = 1024 ** 3;
  assert.equal(memorySettings(gigabyte / 4).shared_buffers, '64MB'); // 256 / 8 = 32, at least 64
  assert.equal(memorySettings(4 * gigabyte).shared_buffers, '512MB'); // 4096 / 8
  assert.equal(memorySettings(64 * gigabyte).shared_buffers, '2048MB'); // 8192, at most 2048
  assert.equal(memorySettings(4 * gigabyte).work_mem, '4MB');
});
