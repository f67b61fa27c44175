// Where the ids of new bills come from.
import type { Tx } from '../base/db/pool.ts';
import type { RunRow } from '../domain/bills/generate/runs-store.ts';
import { takeNumbers } from '../domain/tenants/numbers-store.ts';
import type { Chunk } from '../jobs/step.ts';

/** Ids of bills that are new. */
export type NewIds = {
  /** Makes sure that `next` can be called `count` times. */
  reserve(count: number): Promise<void>;
  next(): number;
};

/**
 * From the piece set aside for the chunk; billed units that came since take theirs from the end.
 */
export function idsOf(tx: Tx, tenantId: number, run: RunRow, chunk: Chunk): NewIds {
  const { first_bill_id: first, part_size: size } = run;
  let next = first === null ? 0 : first + (chunk.chunk - 1) * size;
  let left = first === null ? 0 : size;
  return {
    async reserve(count) {
      if (count <= left) return;
      next = await takeNumbers(tx, tenantId, 'bill', count);
      left = count;
    },
    next() {
      if (left === 0) throw new Error('no id was reserved for the bill');
      left -= 1;
      next += 1;
      return next - 1;
    },
  };
}
