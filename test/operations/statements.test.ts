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

test('a billing account has a statement of its own, and a statement goes out as CSV', async () => {
  const place = await openOwing(scene, 'statement-accounts');
  const { client, party: partyNumber } = place;
  const users = (label: string) => [{ partyNumber, connectionGroupLabel: label }];
  const house = await place.connectOld({ users: users('House') });
  const annex = await place.connectOld({ users: users('House') });
  const shop = await place.connectOld({ users: users('Shop') });
  await place.bill({ [house]: 300, [annex]: 40, [shop]: 70 });
  await place.pay({ amount: 120, reference: 'S-2', connectionNumber: house });
  await place.bill({ [house]: 50 });
  const ofHouse = { partyNumber, connectionGroupLabel: 'House' };
  const { data } = await client.getStatement(ofHouse);
  // 300 + 40 - 120 + 50; the shop's 70 is not part of it.
  assert.equal(data.closingBalance, 270);
  assert.equal(
    Object.values(data.aging).reduce((sum, amount) => sum + amount, 0),
    270,
  );
  const one = await client.getStatement({ ...ofHouse, connectionNumber: annex });
  assert.equal(one.data.closingBalance, 40);
  const { data: file, headers } = await client.exportData({ kind: 'Statement', ...ofHouse });
  const [header, ...lines] = file.lines;
  assert.equal(header, 'date,type,reference,description,debit,credit,balance,currency');
  assert.equal(headers.get('x-total-count'), String(lines.length));
  const cells = lines.map((line) => line.split(','));
  assert.deepEqual(
    cells.map((row) => Number(row[6])),
    data.entries.map((entry) => entry.balance),
  );
  assert.equal(cells.at(-1)?.[6], '270.00');
  const later = await client.exportData({ kind: 'Statement', partyNumber, fromDate: '02/01/2027' });
  // 300 + 40 + 70 - 120 + 50
  assert.deepEqual(later.data.lines.slice(1), ['02/01/2027,BalanceForward,,,,,340.00,PKR']);
  const field = 'partyNumber';
  const alone = { connectionGroupLabel: 'House' };
  await refuses(client.getStatement(alone), 'REQUIRED_FIELD', { field });
  await refuses(client.exportData({ kind: 'Statement' }), 'REQUIRED_FIELD', { field });
  const unknown = { partyNumber, connectionGroupLabel: 'Barn' };
  await refuses(client.getStatement(unknown), 'ACCOUNT_NOT_FOUND');
  const elsewhere = { ...ofHouse, connectionNumber: shop };
  await refuses(client.getStatement(elsewhere), 'SUBSCRIPTION_NOT_FOUND');
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
