// How PostgreSQL looks for the payers of payments, behind the walls between workspaces.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import type { Tx } from '../../src/base/db/pool.ts';
import type { Executor } from '../../src/base/db/sql.ts';
import { listPayers } from '../../src/domain/receivables/payers-store.ts';
import { openScene } from '../support/scene.ts';

// Rows of other files, once PostgreSQL has counted them, change the plan.
const scene = await openScene({ ownDatabase: true });

for (const payers of [1, 2]) {
  test(`the search for payers looks up each party by its id, with ${payers} of them`, async () => {
    const tenantId = await scene.tenantOf(await scene.workspace(`payer-plans-${payers}`));
    const client = new pg.Client({ ...scene.cluster.superuser, database: scene.databaseName });
    await client.connect();
    await client.query('begin');
    await client.query("select set_config('app.tenant', $1, true)", [String(tenantId)]);
    // Tables that are almost empty would be read whole.
    await client.query('set local enable_seqscan = off');
    await client.query('set local role billwright_api');
    let plan = '';
    const executor: Executor = {
      run: async ({ text, values }) => {
        const { rows } = await client.query(`explain ${text}`, [...values]);
        plan = rows.map((row) => row['QUERY PLAN']).join('\n');
        return { rows: [], count: 0 };
      },
    };
    const key = { partyId: null, partyNumber: null, connectionNumber: 'ELEC-1', billId: null };
    await listPayers(executor as Tx, tenantId, Array(payers).fill(key));
    await client.query('rollback');
    await client.end();
    assert.match(plan, /Index Scan using parties_pkey on parties .*\n.*Index Cond: .*party_id = /);
    assert.doesNotMatch(plan, /_id = COALESCE/);
  });
}
