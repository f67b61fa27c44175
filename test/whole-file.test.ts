import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { writeNamedFile } from '../src/base/whole-file.ts';

const folder = await mkdtemp(join(tmpdir(), 'billwright-whole-'));
after(() => rm(folder, { recursive: true, force: true }));
const path = join(folder, 'parties.csv');

async function* texts(end: 'ends' | 'fails') {
  yield 'one\r\n';
  yield 'two\r\n';
  if (end === 'fails') throw new Error('the database is gone');
}

test('a file that cannot be written to its end is not there', async () => {
  await assert.rejects(writeNamedFile(path, texts('fails')), /the database is gone/);
  assert.deepEqual(await readdir(folder), []);
});

test('what was there before stays until the new one is complete, and keeps its mode', async () => {
  await writeFile(path, 'before');
  await chmod(path, 0o600);
  await assert.rejects(writeNamedFile(path, texts('fails')), /the database is gone/);
  assert.equal(await readFile(path, 'utf8'), 'before');
  await writeNamedFile(path, texts('ends'));
  assert.equal(await readFile(path, 'utf8'), 'one\r\ntwo\r\n');
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.deepEqual(await readdir(folder), ['parties.csv']);
});

test('a device is written to as it is', async () => {
  await writeNamedFile('/dev/null', texts('ends'));
  assert.ok((await stat('/dev/null')).isCharacterDevice());
});
