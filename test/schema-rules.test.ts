// What the catalogue shows of the rules for SQL: a later database of several machines can route it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutShard } from '../src/base/db/faults.ts';
import { findRoutingFaults } from './support/routing-faults.ts';
import { openScene } from './support/scene.ts';

const { sql } = await openScene();

test('policies, functions, triggers, the registry and roles keep the rules for SQL', async () => {
  assert.deepEqual(await findRoutingFaults(sql), []);
});

const mutations: Record<string, { change: string; fault: RegExp }> = {
  'a policy has a subquery': {
    change: `alter policy tenant_wall on parties
      using (tenant_id = (select current_tenant()))`,
    fault: /policy of parties has a subquery/,
  },
  'the body of a SQL function is not a string': {
    change: 'create function one() returns integer language sql return 1',
    fault: /body of function one/,
  },
  'a trigger compares the name of its table': {
    change: `create function look() returns trigger language plpgsql
      as $$ begin if tg_table_name = 'parties' then return null; end if; return new; end $$`,
    fault: /look compares/,
  },
  'a trigger joins a transition table to another table': {
    change: `create function look() returns trigger language plpgsql as $$ begin
        perform 1 from added a join parties p on p.party_id = a.party_id; return null; end $$;
      create trigger looked after insert on parties referencing new table as added
        for each statement execute function look()`,
    fault: /look joins a transition table/,
  },
  'a trigger updates a table from a transition table': {
    change: `create function look() returns trigger language plpgsql as $$ begin
        update tenants t set ts = 1 from (select tenant_id from added) a
        where t.tenant_id = a.tenant_id; return null; end $$;
      create trigger looked after insert on parties referencing new table as added
        for each statement execute function look()`,
    fault: /look joins a transition table/,
  },
  'a trigger inserts from a transition table': {
    change: `create function look() returns trigger language plpgsql as $$ begin
        insert into seal_queue (tenant_id, item) select tenant_id, 'x' from added;
        return null; end $$;
      create trigger looked after insert on parties referencing new table as added
        for each statement execute function look()`,
    fault: /look joins a transition table/,
  },
  'the registry has a column that changes': {
    change: 'alter table workspaces add seen_at timestamptz',
    fault: /registry has a column seen_at/,
  },
};

for (const [what, { change, fault }] of Object.entries(mutations)) {
  test(`the catalogue shows when ${what}`, async () => {
    await sql.query('begin');
    try {
      await sql.query(change);
      const faults = await findRoutingFaults(sql);
      assert.ok(
        faults.some((one) => fault.test(one)),
        `not found among: ${faults.join('; ')}`,
      );
    } finally {
      await sql.query('rollback');
    }
  });
}

test('the number of a shard is no part of the name of a constraint', () => {
  assert.equal(withoutShard('parties_party_number_key_102008'), 'parties_party_number_key');
  assert.equal(withoutShard('parties_party_number_key'), 'parties_party_number_key');
});
