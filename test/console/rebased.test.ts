// What was typed after a form was saved, put on top of what the server stored.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clash, rebased } from '../../console/parts/rebased.ts';

test('a field that was not typed in again takes the value of the server', () => {
  const base = { name: ' Electricity ', days: '15' };
  const theirs = { name: 'Electricity', days: '15' };
  assert.deepEqual(rebased(base, { ...base, days: '20' }, theirs), { ...theirs, days: '20' });
  assert.deepEqual(rebased(base, base, theirs), theirs);
});

test('a row keeps the number that the server gave it, and a row added since then stays', () => {
  const base = { batches: [{ code: 'B01', label: 'First' }] };
  const theirs = { batches: [{ code: 'B01', label: 'First', batchID: 7 }] };
  const mine = { batches: [{ code: 'B01', label: 'North' }, { code: 'B02' }] };
  assert.deepEqual(rebased(base, mine, theirs), {
    batches: [{ code: 'B01', label: 'North', batchID: 7 }, { code: 'B02' }],
  });
});

test('a field that was left empty takes what was typed, not what the server filled in', () => {
  assert.deepEqual(rebased({ label: '' }, { label: 'South' }, { label: 'B02' }), {
    label: 'South',
  });
});

test('a field that both changed in different ways is a clash', () => {
  assert.equal(rebased({ days: '1' }, { days: '2' }, { days: '3' }), clash);
  assert.deepEqual(rebased({ days: '1' }, { days: '2' }, { days: '2' }), { days: '2' });
  // A row that was removed leaves the others in other places.
  const [a, b] = [{ code: 'A' }, { code: 'B' }];
  assert.equal(rebased([a, b], [b], [{ ...a, id: 1 }, b]), clash);
});
