import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

/** Series of numbers, and the number before the first one handed out. */
const seriesStart = {
  party: 0,
  'party-number': 100_000,
  account: 0,
  note: 0,
  'billing-group': 0,
  meter: 0,
  // Every workspace begins with five types.
  'meter-type': 5,
  login: 0,
  client: 0,
  // The nine periods that every workspace begins with.
  period: 9,
  template: 0,
  context: 0,
  batch: 0,
  'bank-account': 0,
  plan: 0,
  subscription: 0,
  'subscription-number': 0,
  transfer: 0,
  assignment: 0,
  reading: 0,
  // The chart of accounts that every workspace begins with.
  'ledger-account': 10,
  'cash-desk': 0,
  approval: 0,
  journal: 0,
  entry: 0,
  'open-item': 0,
  payment: 0,
  adjustment: 0,
  'opening-batch': 0,
  event: 0,
  webhook: 0,
  dispute: 0,
  term: 0,
  job: 0,
  bill: 0,
  'number-series': 0,
  'credit-note': 0,
  document: 0,
  delivery: 0,
  'dunning-episode': 0,
  arrangement: 0,
  import: 0,
  'bank-file': 0,
  'bank-line': 0,
  // Blocks of sealed items.
  seal: 0,
} as const;

export type Series = keyof typeof seriesStart;

/**
 * Takes the next `count` numbers of a series and returns the first. The series' row stays locked
 * until the transaction ends, so take numbers late in it. Numbers are never handed out twice.
 */
export async function takeNumbers(
  tx: Tx,
  tenantId: number,
  series: Series,
  count: number,
): Promise<number> {
  const { rows } = await sql<{ last_number: number }>`
    insert into counters as c (tenant_id, series, last_number)
    values (${tenantId}, ${series}, ${seriesStart[series] + count})
    on conflict (tenant_id, series) do update set last_number = c.last_number + ${count}
    returning last_number
  `.execute(tx);
  const last = rows[0]?.last_number;
  if (last === undefined) throw new Error(`no counter for ${series}`);
  return last - count + 1;
}

/** Ids that nothing but their uniqueness is asked of: gaps, and any order, are right. */
type IdSeries = Extract<
  Series,
  'journal' | 'entry' | 'open-item' | 'payment' | 'adjustment' | 'dispute' | 'bank-line' | 'event'
>;

/** Taken from the counter at a time, and handed out by this process. */
export const blockSizes: Record<IdSeries, number> = {
  journal: 100,
  entry: 1_000,
  'open-item': 100,
  payment: 100,
  adjustment: 100,
  dispute: 10,
  'bank-line': 1_000,
  event: 100,
};

type Block = { next: number; last: number };

/** What is left of the blocks of this process, by database. */
const blocks = new WeakMap<Tx['beside'], Map<string, Promise<Block>>>();

/**
 * Takes `count` ids that follow each other and returns the first. They come from a block of this
 * process: no transaction waits for the end of another to get them. Ids that are not used, because
 * the transaction fails or the process ends, are never used.
 */
export async function takeIds(
  tx: Tx,
  tenantId: number,
  series: IdSeries,
  count: number,
): Promise<number> {
  const ofDatabase = blocks.get(tx.beside) ?? new Map<string, Promise<Block>>();
  blocks.set(tx.beside, ofDatabase);
  const key = `${tenantId} ${series}`;
  const before = ofDatabase.get(key) ?? Promise.resolve({ next: 1, last: 0 });
  const after = before
    .catch(() => ({ next: 1, last: 0 }))
    .then(async (block) => {
      if (block.last - block.next + 1 >= count) return { ...block, next: block.next + count };
      const size = Math.max(count, blockSizes[series]);
      const first = await tx.beside(tenantId, (own) => takeNumbers(own, tenantId, series, size));
      return { next: first + count, last: first + size - 1 };
    });
  ofDatabase.set(key, after);
  return (await after).next - count;
}

/** The last number of a series that was handed out. */
export async function findLastNumber(tx: Tx, tenantId: number, series: Series): Promise<number> {
  const { rows } = await sql<{ last_number: number }>`
    select last_number from counters where tenant_id = ${tenantId} and series = ${series}
  `.execute(tx);
  return rows[0]?.last_number ?? seriesStart[series];
}

/** Numbers up to this one came with imported data, and are not given out again. */
export async function passNumbers(
  tx: Tx,
  tenantId: number,
  series: Series,
  last: number,
): Promise<void> {
  await sql`
    insert into counters as c (tenant_id, series, last_number)
    values (${tenantId}, ${series}, greatest(${seriesStart[series]}::bigint, ${last}::bigint))
    on conflict (tenant_id, series) do update
      set last_number = greatest(c.last_number, excluded.last_number)
  `.execute(tx);
}
