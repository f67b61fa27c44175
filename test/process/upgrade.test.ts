// A database that version 0.2.0 made goes on under the present program: a small demo, with a year
// of bills, payments, journals and published documents. `test/upgrade/v0.2.0.backup` was taken
// from a data folder of that version, before any later migration had run.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { finish, openPlace } from '../support/program.ts';

const place = await openPlace('file');
const backup = fileURLToPath(new URL('../upgrade/v0.2.0.backup', import.meta.url));
const env = { BILLWRIGHT_DATA: `${place.folder}/upgraded` };

test('a database of version 0.2.0 is brought up to date, and nothing in it is lost', async () => {
  // The migrations of 0.2.0 run, then its rows are loaded, then the migrations since; at the end
  // `verify` computes every bill, balance and hash again, those of published documents too.
  const restored = await finish(place.run(['restore', backup], env));
  assert.equal(restored.code, 0, restored.output);
  const checked = await finish(place.run(['verify', '--workspace', 'demo'], env));
  assert.equal(checked.code, 0, checked.output);
});

test('a workspace that version 0.2.0 made bills its next term', async () => {
  const { code, output } = await finish(place.run(['demo', 'run'], env));
  assert.equal(code, 0, output);
  assert.match(output, /bills published/);
});
