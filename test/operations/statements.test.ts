// Statements of account: entries with the balance after each, and the aging.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agingOf } from '../../src/domain/receivables/aging.ts';
import { refuses } from '../support/client.ts';
import { openOwing } from '../support/owing.ts';
import { openScene } from '../support/scene.ts';

const scene = await openScene();
scene.runJobs();

test('a statement has each entry with the balance after it, and closes with what is owed', async () => {
  const place = await openOwing(scene, 'statement');
  const number = await place.connectOld();
  await place.bill({ [number]: 300 });
  await place.pay({ amount: 120, reference: 'S-1' });
  await place.bill({ [number]: 50 });
  const { data, headers } = await place.client.getStatement({ partyNumber: place.party });
  assert.deepEqual(
    data.entries.map(({ type, debit, credit, balance }) => [type, debit, credit, balance]),
    [
      ['Bill', 300, 0, 300],
      // 300 - 120
      ['Payment', 0, 120, 180],
      // 180 + 50
      ['Bill', 50, 0, 230],
    ],
  );
  assert.deepEqual([data.openingBalance, data.closingBalance], [0, 230]);
  assert.equal(data.closingBalance, await place.owed());
  assert.equal(headers.get('x-total-count'), '3');
  const total = Object.values(data.aging).reduce((sum, amount) => sum + amount, 0);
  assert.equal(total, 230);
  const last = await place.client.getStatement({
    connectionNumber: number,
    page: { pageNumber: 2, size: 1 },
  });
  assert.deepEqual(
    last.data.entries.map((entry) => entry.balance),
    [230],
  );
});

test('a statement names its party, and its days are in order', async () => {
  const place = await openOwing(scene, 'statement-refused');
  const { client, party: partyNumber } = place;
  await refuses(client.getStatement({}), 'REQUIRED_FIELD', { field: 'partyNumber' });
  await refuses(client.getStatement({ partyNumber: 1 }), 'PARTY_NOT_FOUND');
  await refuses(client.getStatement({ connectionNumber: 'X' }), 'SUBSCRIPTION_NOT_FOUND');
  const days = { fromDate: '02/01/2026', toDate: '01/01/2026' };
  await refuses(client.getStatement({ partyNumber, ...days }), 'INVALID_DATE');
});

test('aging counts the days since the due date, and credits lessen what is oldest', () => {
  const asOf = Temporal.PlainDate.from('2026-08-18');
  const owed = [0, 1, 30, 31, 90, 91].map((days) => ({
    dueDate: asOf.subtract({ days }).toString(),
    open: 100n,
  }));
  const credit = { dueDate: asOf.toString(), open: -50n };
  assert.deepEqual(agingOf([...owed, credit], asOf), {
    current: 100n,
    d1_30: 200n,
    d31_60: 100n,
    d61_90: 100n,
    // 100 - 50
    over90: 50n,
  });
});
