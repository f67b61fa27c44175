// How migrations become those of a Citus cluster: what can be seen without one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadModule, parseSync } from 'libpg-query';
import { withHints, withOwnTenant } from '../src/base/db/citus/functions.ts';
import { statementsOf } from '../src/base/db/citus/statements.ts';
import { readMigrations } from '../src/base/db/migrate.ts';

await loadModule();

test('each migration is split into the statements that PostgreSQL finds in it', async () => {
  for (const { name, sql } of await readMigrations(new URL('../migrations/', import.meta.url))) {
    assert.equal(statementsOf(sql).length, parseSync(sql).stmts?.length, name);
  }
});

test('a semicolon in a text, a name, a comment or a body ends no statement', () => {
  const text = `select 'a;''b'; -- c; d
    select "e;f" /* g; */; do $x$ begin null; end $x$; select 1 - 2 / 3`;
  assert.deepEqual(statementsOf(text), [
    "select 'a;''b'",
    'select "e;f"',
    'do $x$ begin null; end $x$',
    'select 1 - 2 / 3',
  ]);
});

const body = ' begin return query select 1 from t where t.tenant_id = require_tenant(); end ';

test('a function asks for its workspace once, before its statements', () => {
  const one = { name: 'f()', language: 'plpgsql', isSet: true, isGeneric: false };
  const pinned = withOwnTenant({ ...one, body });
  assert.match(
    pinned,
    /declare\s+own_tenant_of_call constant bigint := require_tenant\(\);\s+begin/,
  );
  assert.match(pinned, /t\.tenant_id = own_tenant_of_call;/);
  assert.equal(withOwnTenant({ ...one, body: pinned }), pinned);
  const query = 'select 1 from t where t.tenant_id = require_tenant();';
  const made = withOwnTenant({ ...one, language: 'sql', body: query });
  assert.match(made, /return query select 1 from t where t\.tenant_id = own_tenant_of_call;/);
});

test('an error names its constraint in its hint too', () => {
  assert.equal(
    withHints("raise exception 'no' using constraint = 'one_fkey';"),
    `raise exception 'no' using constraint = 'one_fkey', hint = 'constraint "' || 'one_fkey' || '"';`,
  );
});
