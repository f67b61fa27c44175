// Random histories of customers: after each month the books balance, and a second workspace that
// lives through the same has the same in the end.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertChecks } from '../support/checks.ts';
import { live, monthsOf, openHistories, standing } from '../support/payment-histories.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

/** HISTORIES customers live through HISTORY_MONTHS; the nightly run has thousands. */
const customers = Number(process.env.HISTORIES ?? 15);
const months = Number(process.env.HISTORY_MONTHS ?? 2);
const seed = Number(process.env.HISTORIES_SEED ?? Date.now() % 1_000_000);

const methods = (process.env.HISTORY_METHODS ?? 'Chronology').split(',');

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
      }
      ends.push(await standing(place));
      const done = [...place.done].map(([kind, count]) => `${kind} ${count}`).sort();
      t.diagnostic(`${life}: ${done.join(', ')}`);
    }
    assert.deepEqual(ends[1], ends[0], `HISTORIES_SEED=${seed}`);
  });
}
