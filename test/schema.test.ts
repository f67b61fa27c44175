// The wall between tenants, as PostgreSQL's own catalogue describes it.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { dumpSchema } from '../src/base/db/dump-schema.ts';
import { readMigrations } from '../src/base/db/migrate.ts';
import { openScene } from './support/scene.ts';
import { findSchemaFaults } from './support/schema-faults.ts';

const { sql } = await openScene({ ownDatabase: true });

test('every table, key, policy, view, function and role keeps tenants apart', async () => {
  assert.deepEqual(await findSchemaFaults(sql), []);
});

/** Mistakes that a migration could make in the schema, and the fault that must be found. */
const mutations: Record<string, { change: string; fault: RegExp }> = {
  'the owner is let through': {
    change: 'alter table parties no force row level security',
    fault: /parties does not force/,
  },
  'row-level security is switched off': {
    change: 'alter table tokens disable row level security',
    fault: /tokens has row-level security switched off/,
  },
  'a second permissive policy is added': {
    change: 'create policy reports on parties for select using (true)',
    fault: /parties has 2 policies/,
  },
  'a table has no policy': {
    change: 'drop policy tenant_wall on subscription_balances',
    fault: /subscription_balances has 0 policies/,
  },
  'a policy lets a missing tenant through': {
    change: `alter policy tenant_wall on logins
      using (tenant_id = current_tenant() or current_tenant() is null)`,
    fault: /tenant_wall of logins lets through/,
  },
  'what is written is checked less than what is read': {
    change: 'alter policy tenant_wall on parties with check (true)',
    fault: /WITH CHECK/,
  },
  'a policy is for one command only': {
    change: `drop policy tenant_wall on counters;
      create policy tenant_wall on counters for select using (tenant_id = current_tenant())`,
    fault: /not for all commands/,
  },
  'a unique index spans tenants': {
    change: 'create unique index names on billing_groups (name)',
    fault: /unique index names/,
  },
  'tenant_id does not lead a unique index': {
    change: 'create unique index numbers on parties (party_number, tenant_id)',
    fault: /unique index numbers/,
  },
  'a foreign key spans tenants': {
    change: `create unique index ids on parties (party_id);
      alter table logins add constraint loose
        foreign key (party_id) references parties (party_id)`,
    fault: /foreign key loose of logins can link/,
  },
  'a foreign key has no index': {
    change: 'drop index billing_accounts_group',
    fault: /foreign key .* of billing_accounts has no index/,
  },
  'a view reads as its owner': {
    change: 'create view everybody as select * from parties',
    fault: /view everybody reads/,
  },
  'a view is materialised': {
    change: 'create materialized view copies as select * from parties',
    fault: /materialised view copies/,
  },
  'a function runs as its owner': {
    change: `create function peek() returns setof parties language sql security definer
      set search_path = public, pg_temp as $$ select * from parties $$`,
    fault: /function peek runs/,
  },
  'a function that runs as its owner names no tenant': {
    change: `create or replace function find_parties_by_email(wanted text) returns setof bigint
      language sql stable security definer set search_path = public, pg_temp
      as $$ select party_id from parties where email = wanted $$`,
    fault: /find_parties_by_email names no tenant/,
  },
  'a known function loses its search_path': {
    change: 'alter function find_workspace(text) reset search_path',
    fault: /find_workspace has no fixed search_path/,
  },
  'a known function is opened to everybody': {
    change: 'grant execute on function find_workspace(text) to public',
    fault: /find_workspace can be called by everybody/,
  },
  'a table has no tenant': {
    change: 'create table notes (note_id bigint primary key)',
    fault: /table notes has no tenant_id/,
  },
  'a table has a tenant that may be null': {
    change: 'create table notes (tenant_id bigint, note text)',
    fault: /table notes has a tenant_id that may be null/,
  },
  'a number is shown from a shared sequence': {
    change: 'create sequence receipt_numbers',
    fault: /sequence receipt_numbers/,
  },
  'the audit trail can be changed': {
    change: 'grant update on audit_entries to billwright_api',
    fault: /billwright_api may update on audit_entries/,
  },
  'a column of the audit trail can be changed': {
    change: 'grant update (after) on audit_entries to billwright_api',
    fault: /billwright_api may update on audit_entries/,
  },
  'the registry can be read': {
    change: 'grant select on workspaces to billwright_api',
    fault: /billwright_api may select on workspaces/,
  },
  'the role that serves calls may become another': {
    change: 'grant billwright_search to billwright_api',
    fault: /billwright_api may become billwright_search/,
  },
  'the role that copies may write for any tenant': {
    change: 'grant insert on bills to billwright_bulk',
    fault: /billwright_bulk may insert on bills/,
  },
  'the role that copies may name a tenant': {
    change: 'grant insert (tenant_id) on bills to billwright_bulk',
    fault: /billwright_bulk may insert tenant_id of bills/,
  },
  'the role that copies may read': {
    change: 'grant select (bill_id) on bills to billwright_bulk',
    fault: /billwright_bulk may select bill_id of bills/,
  },
  'what is copied is of no tenant': {
    change: 'alter table bills alter tenant_id drop default',
    fault: /billwright_bulk writes bills for no tenant/,
  },
  'the role that serves calls may wait for ever': {
    change: 'alter role billwright_api reset statement_timeout',
    fault: /billwright_api has no statement_timeout/,
  },
};

for (const [what, { change, fault }] of Object.entries(mutations)) {
  test(`the catalogue shows when ${what}`, async () => {
    await sql.query('begin');
    try {
      await sql.query(change);
      const faults = await findSchemaFaults(sql);
      assert.ok(
        faults.some((one) => fault.test(one)),
        `not found among: ${faults.join('; ')}`,
      );
    } finally {
      await sql.query('rollback');
    }
  });
}

test('every table has a comment that says what a row is', async () => {
  const { rows } = await sql.query<{ name: string }>(
    `select relname as name from pg_class c
     where relnamespace = 'public'::regnamespace and relkind = 'r'
       and obj_description(c.oid, 'pg_class') is null`,
  );
  assert.deepEqual(rows, []);
});

test('migrations/schema.sql is what the migrations amount to', async () => {
  const folder = new URL('../migrations/', import.meta.url);
  const stored = await readFile(new URL('schema.sql', folder), 'utf8');
  const wanted = (await dumpSchema(sql, await readMigrations(folder))).split('\n');
  const lines = stored.split('\n');
  const at = wanted.findIndex((line, index) => line !== lines[index]);
  const message = `write it anew with \`npm run billwright -- schema\`: line ${at + 1} differs`;
  assert.deepEqual([lines[at], lines.length], [wanted[at], wanted.length], message);
});
