// How the subjects of a term are cut into parts that are done one by one, by any worker.
import type { SubjectBucket, SubjectRange } from '../domain/bills/subjects-store.ts';

/**
 * Subjects of a part: many, as a part has costs of its own, and towards the end of the term fewer,
 * so that all workers have something to do until then.
 */
const partSizes = { most: 4_000, least: 1_000, shareOfRest: 1 / 16 };

/** Ids that are counted together: a part is made up of a few such ranges. */
export const bucketIds = 250;

/** As many neighbours together as a part is to have subjects. */
export function cutIntoParts(buckets: readonly SubjectBucket[], total: number): SubjectRange[] {
  const ranges: SubjectRange[] = [];
  let left = total;
  let room = 0;
  for (const { firstId, lastId, subjects } of buckets) {
    const last = ranges.at(-1);
    if (last === undefined || subjects > room) {
      ranges.push({ firstId, lastId });
      room = partSizeOf(left);
    } else {
      last.lastId = lastId;
    }
    room -= subjects;
    left -= subjects;
  }
  return ranges;
}

/** Of the next part, of so many subjects that are left. */
export function partSizeOf(left: number): number {
  const { most, least, shareOfRest } = partSizes;
  return Math.min(most, Math.max(least, Math.ceil(left * shareOfRest)));
}
