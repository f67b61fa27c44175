// Random histories of customers: after each month the books balance, and a second workspace that
// lives through the same has the same in the end.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertChecks } from '../support/checks.ts';
import {
  type Histories,
  live,
  monthsOf,
  openHistories,
  standing,
} from '../support/payment-histories.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

/** HISTORIES customers live through HISTORY_MONTHS; the nightly run has thousands. */
const customers = Number(process.env.HISTORIES ?? 8);
const months = Number(process.env.HISTORY_MONTHS ?? 2);
const seed = Number(process.env.HISTORIES_SEED ?? Date.now() % 1_000_000);

const methods = (process.env.HISTORY_METHODS ?? 'Chronology').split(',');

/** Totals are those that are kept by due date; rows are read from the bills. */
async function assertAging({ client }: Histories): Promise<void> {
  const { data, headers } = await client.getReport({ report: 'Aging' });
  const cents = (amount: unknown) => Math.round(Number(amount) * 100);
  for (const [name, total] of Object.entries(data.totals)) {
    const sum = data.rows.reduce((added, row) => added + cents(row[name]), 0);
    assert.equal(cents(total), sum, name);
  }
  const page = { pageNumber: 0, size: 1 };
  const { headers: ofPage } = await client.getReport({ report: 'Aging', page });
  assert.equal(headers.get('x-total-count'), String(data.rows.length));
  assert.equal(ofPage.get('x-total-count'), String(data.rows.length));
}

for (const method of methods) {
  const name = method.toLowerCase().replaceAll(' ', '-');
  test(`${method}: random histories keep the books, and lived again come to the same`, async (t) => {
    t.diagnostic(`HISTORIES_SEED=${seed}`);
    const history = monthsOf(customers, months, seed);
    const ends: object[][] = [];
    for (const life of ['first', 'again']) {
      const place = await openHistories(scene, `histories-${name}-${life}`, customers, method);
      for (const [index, month] of history.entries()) {
        await live(place, month, index);
        await assertChecks(scene, place.tenantId);
        const { data } = await place.client.getTrialBalance({});
        assert.equal(data.totals.difference, 0);
        await assertAging(place);
      }
      ends.push(await standing(place));
      const done = [...place.done].map(([kind, count]) => `${kind} ${count}`).sort();
      t.diagnostic(`${life}: ${done.join(', ')}`);
    }
    assert.deepEqual(ends[1], ends[0], `HISTORIES_SEED=${seed}`);
  });
}
