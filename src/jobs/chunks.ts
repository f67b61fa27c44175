// Cuts the work of a term into chunks, which any worker can do, one by one.
import type { IdRange } from '../base/db/ranges.ts';
import type { StepJob } from './step.ts';

/** Ids that are counted together: a chunk is made up of a few such ranges. */
export const bucketIds = 250;

/** A range of ids, and how many billed units or bills have their id in it. */
export type Bucket = IdRange & { count: number };

/** Joins neighbouring ranges. `sizeOf` gives the size of the next chunk, from the number left. */
export function cutIntoChunks<Some extends Bucket>(
  buckets: readonly Some[],
  sizeOf: (left: number) => number,
): [Some, ...Some[]][] {
  const chunks: [Some, ...Some[]][] = [];
  let left = buckets.reduce((sum, bucket) => sum + bucket.count, 0);
  let room = 0;
  for (const bucket of buckets) {
    const last = chunks.at(-1);
    if (last === undefined || bucket.count > room) {
      chunks.push([bucket]);
      room = sizeOf(left);
    } else {
      last.push(bucket);
    }
    room -= bucket.count;
    left -= bucket.count;
  }
  return chunks;
}

/** The usual size, or the limit of the worker that cuts the job into chunks. */
export function chunkSizeFor({ chunkMax }: Pick<StepJob, 'chunkMax'>, usual: number): number {
  return Math.min(usual, chunkMax ?? usual);
}

/** From the first id of the first to the last of the last. */
export function rangeOf(chunk: readonly [Bucket, ...Bucket[]]): IdRange {
  const { lastId } = chunk.at(-1) ?? chunk[0];
  return { firstId: chunk[0].firstId, lastId };
}
