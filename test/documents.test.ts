// The documents say what is so.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { errorsPage } from '../src/commands/errors-page.ts';
import { placeholderNames } from '../src/domain/documents/template.ts';

const root = new URL('../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

test('docs/errors.md is what the table of codes makes it', () => {
  assert.equal(read('docs/errors.md'), errorsPage(), 'run npm run billwright -- errors-page');
});

test('docs/configuration.md has every variable that is read, and no other', () => {
  const source = read('src/config.ts');
  const known = [...source.matchAll(/env(?:\.|, ')([A-Z][A-Z_]+)/g)].map((found) => found[1]);
  const told = [...read('docs/configuration.md').matchAll(/^\| `([A-Z_]+)`/gm)].map(
    (found) => found[1],
  );
  assert.deepEqual([...new Set(told)].sort(), [...new Set(known)].sort());
});

test('docs/bills.md names every placeholder, and no other', () => {
  const table = read('docs/bills.md').split('| Placeholder |')[1] ?? '';
  const told = [...table.matchAll(/`((?:bill|letterhead|payment)\.[A-Za-z.]+)`/g)].map(
    (found) => found[1],
  );
  assert.deepEqual(told.toSorted(), placeholderNames.toSorted());
});

test('every link between the documents leads somewhere', () => {
  for (const path of [
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    'docs/api.md',
    'docs/running.md',
    'docs/configuration.md',
    'docs/bills.md',
    'docs/meters-and-readings.md',
    'docs/import-export.md',
    'docs/plans.md',
    'docs/subscriptions.md',
  ]) {
    for (const [, target] of read(path).matchAll(/\]\((?!https?:)([^)#]+)\)/g)) {
      assert.ok(existsSync(new URL(target ?? '', new URL(path, root))), `${path}: ${target}`);
    }
  }
});

test('ARCHITECTURE.md names every folder of src', () => {
  const text = read('ARCHITECTURE.md');
  const folders = ['commands', 'http', 'worker', 'operations', 'billrun', 'jobs', 'domain', 'base'];
  for (const folder of folders) {
    assert.ok(existsSync(new URL(`src/${folder}`, root)));
    assert.match(text, new RegExp(`\`src/${folder}/\``));
  }
});

test('every room of the domain has a README, and its file names exist', () => {
  const rooms = readdirSync(new URL('src/domain', root)).map((name) => `src/domain/${name}/`);
  for (const room of [...rooms, 'src/jobs/', 'src/billrun/']) {
    for (const [, file] of read(`${room}README.md`).matchAll(/`([\w/-]+\.ts)`/g)) {
      const isThere = [room, 'src/'].some((base) => existsSync(new URL(`${base}${file}`, root)));
      assert.ok(isThere, `${room}README.md names ${file}`);
    }
  }
});
