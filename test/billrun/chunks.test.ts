// A term cut into parts: whatever the ids, each subject is in one part.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { chunkSizeOf } from '../../src/billrun/generate.ts';
import { cutIntoChunks, rangeOf } from '../../src/jobs/chunks.ts';

const most = 4_000;
const least = 1_000;

/** Ranges of 250 ids, some of them empty, each with as many subjects as it may have. */
const bucketsOf = fc
  .array(fc.integer({ min: 0, max: 250 }), { maxLength: 400 })
  .map((counts) =>
    counts.flatMap((count, index) =>
      count === 0 ? [] : [{ firstId: index * 250 + 1, lastId: index * 250 + count, count }],
    ),
  );

test('every subject is in one part, in order, and no part has more than its ids', () => {
  fc.assert(
    fc.property(bucketsOf, (buckets) => {
      const total = buckets.reduce((sum, { count }) => sum + count, 0);
      const parts = cutIntoChunks(buckets, chunkSizeOf);
      assert.deepEqual(parts.flat(), buckets);
      let left = total;
      for (const part of parts) {
        const { firstId, lastId } = rangeOf(part);
        assert.ok(part.every((one) => one.firstId >= firstId && one.lastId <= lastId));
        const count = part.reduce((sum, one) => sum + one.count, 0);
        assert.ok(count > 0 && count <= chunkSizeOf(left) && count <= chunkSizeOf(total));
        left -= count;
      }
      assert.equal(left, 0);
    }),
  );
});

test('a large term begins with large parts and ends with small ones', () => {
  const buckets = Array.from({ length: 800 }, (_, index) => ({
    firstId: index * 250 + 1,
    lastId: index * 250 + 250,
    count: 250,
  }));
  const parts = cutIntoChunks(buckets, chunkSizeOf).map(rangeOf);
  const sizes = parts.map(({ firstId, lastId }) => lastId - firstId + 1);
  assert.equal(sizes[0], most);
  assert.ok(
    sizes.slice(-8).every((size) => size <= least),
    String(sizes),
  );
  assert.ok(parts.length < 90, `${parts.length} parts`);
});

test('a small term has parts of the least size', () => {
  assert.equal(chunkSizeOf(10_000), least);
  assert.deepEqual(cutIntoChunks([], chunkSizeOf), []);
});
