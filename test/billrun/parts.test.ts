// A term cut into parts: whatever the ids, each subject is in one part.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cutIntoParts, partSizeOf } from '../../src/billrun/parts.ts';

const most = 4_000;
const least = 1_000;

/** Ranges of 250 ids, some of them empty, each with as many subjects as it may have. */
const bucketsOf = fc
  .array(fc.integer({ min: 0, max: 250 }), { maxLength: 400 })
  .map((counts) =>
    counts.flatMap((subjects, index) =>
      subjects === 0
        ? []
        : [{ firstId: index * 250 + 1, lastId: index * 250 + subjects, subjects, billed: 0 }],
    ),
  );

test('every subject is in one part, in order, and no part has more than its ids', () => {
  fc.assert(
    fc.property(bucketsOf, (buckets) => {
      const total = buckets.reduce((sum, { subjects }) => sum + subjects, 0);
      const parts = cutIntoParts(buckets, total);
      let left = total;
      for (const [index, { firstId, lastId }] of parts.entries()) {
        assert.ok(firstId <= lastId && firstId > (parts[index - 1]?.lastId ?? 0));
        const inside = buckets.filter((one) => one.firstId >= firstId && one.lastId <= lastId);
        const subjects = inside.reduce((sum, one) => sum + one.subjects, 0);
        assert.ok(subjects > 0 && subjects <= partSizeOf(left) && subjects <= partSizeOf(total));
        left -= subjects;
      }
      assert.equal(left, 0);
    }),
  );
});

test('a large term begins with large parts and ends with small ones', () => {
  const buckets = Array.from({ length: 800 }, (_, index) => ({
    firstId: index * 250 + 1,
    lastId: index * 250 + 250,
    subjects: 250,
    billed: 0,
  }));
  const parts = cutIntoParts(buckets, 200_000);
  const sizes = parts.map(({ firstId, lastId }) => lastId - firstId + 1);
  assert.equal(sizes[0], most);
  assert.ok(
    sizes.slice(-8).every((size) => size <= least),
    String(sizes),
  );
  assert.ok(parts.length < 90, `${parts.length} parts`);
});

test('a small term has parts of the least size', () => {
  assert.equal(partSizeOf(10_000), least);
  assert.deepEqual(cutIntoParts([], 0), []);
});
