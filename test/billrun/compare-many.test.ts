// Where all bills of a term differ between two runs, a page deep among them reads what it shows:
// counted by PostgreSQL, as the role that serves calls.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openingFor, type Tx, transact } from '../../src/base/db/pool.ts';
import { sql } from '../../src/base/db/sql.ts';
import { listDifferences, listDiffering } from '../../src/domain/bills/review/compare-store.ts';
import { ask, clientOf, makeFullTerm } from '../support/full-term.ts';
import { termID } from '../support/residential-rows.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

/** More than are streamed at a time. */
const subscriptions = 1_100;
const deep = { pageNumber: 105, size: 10 };

async function contentsRead(tx: Tx): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0) as count
    from pg_stat_xact_user_tables where relname = 'bill_contents'
  `.execute(tx);
  return Number(rows[0]?.count);
}

test('two runs of which every bill differs are compared page by page and as a whole', async () => {
  const term = await makeFullTerm(scene, scene.baseUrl, 'compare-many', subscriptions);
  const client = clientOf(scene.baseUrl, term);
  await ask(client, 'generate');
  await client.updateTariff({
    tariff: {
      ...{ serviceCode: 'ELEC', code: 'RES-A1', effectiveDate: '01/07/2024' },
      valueFormulas: [
        { name: 'energySlabs', fromDate: '01/07/2024', rows: [{ upTo: null, rate: '30' }] },
        { name: 'fpaRate', fromDate: '01/07/2024', formula: '0.8543' },
      ],
    },
  } as never);
  await ask(client, 'generate');

  const { data: paged, headers } = await client.compareRuns({ termID, page: deep });
  assert.equal(headers.get('x-total-count'), String(subscriptions));
  const { data: whole } = await client.compareRuns({ termID });
  const numbers = whole.differences.map((one) => one.connectionNumber);
  assert.equal(new Set(numbers).size, subscriptions);
  assert.deepEqual(numbers, numbers.toSorted());
  const first = deep.pageNumber * deep.size;
  assert.deepEqual(paged.differences, whole.differences.slice(first, first + deep.size));

  const { tenantId } = term;
  const pair = { termId: termID, run: 2, against: 1 };
  const place = { afterUnitId: 0, offset: first, limit: deep.size };
  const opening = openingFor(tenantId);
  const read = await transact(scene.api, { opening, readOnly: true }, async (tx) => {
    // Those of transactions before may not have been told yet.
    const before = await contentsRead(tx);
    await listDifferences(tx, tenantId, pair, await listDiffering(tx, tenantId, pair, place));
    return (await contentsRead(tx)) - before;
  });
  assert.ok(read <= 4 * deep.size, `the contents of ${read} bills were read`);
});
