import assert from 'node:assert/strict';
import { test } from 'node:test';
import { billIdOf, billReference } from './reference.ts';

test('references are digits of one width that lead back to their bill', () => {
  for (const id of [1, 9, 991, 12_345, 999_999_999]) {
    const reference = billReference(id);
    assert.match(reference, /^\d{11}$/);
    assert.equal(billIdOf(reference), id);
  }
  // From the right 1 doubled, 9, 9 doubled less 9, at last 1 doubled: 2 + 9 + 9 + 2 = 22, so 8.
  assert.equal(billReference(991), '10000009918');
});

test('every single wrong digit and every swap of neighbours but 09 is found', () => {
  const reference = billReference(1_234_567);
  for (let at = 0; at < reference.length; at++) {
    for (const digit of '0123456789') {
      if (reference[at] === digit) continue;
      const wrong = reference.slice(0, at) + digit + reference.slice(at + 1);
      assert.equal(billIdOf(wrong), undefined, wrong);
    }
    const [a = '', b = ''] = reference.slice(at, at + 2);
    if (a === b || [a, b].sort().join('') === '09' || b === '') continue;
    const swapped = reference.slice(0, at) + b + a + reference.slice(at + 2);
    assert.equal(billIdOf(swapped), undefined, swapped);
  }
  for (const wrong of ['', '1', 'abc', '20000009918', `${reference}1`]) {
    assert.equal(billIdOf(wrong), undefined);
  }
});
