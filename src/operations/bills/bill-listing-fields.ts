// Lists of bills: like other lists, except that documents, deliveries and earlier bills are read
// for many bills at once.
import type { Tx } from '../../base/db/pool.ts';
import { type BillRow, listBillsAfter } from '../../domain/bills/list-store.ts';
import { shownBills } from '../customer-fields.ts';
import type { Page } from '../fields.ts';
import { found } from '../listing.ts';
import type { Answer, Call, StreamedAnswer } from '../operation.ts';
import { presentBills } from './bill-fields.ts';
import { presentShortBills } from './short-bill-fields.ts';

export type BillList<Data> = {
  page: Page | null | undefined;
  isEmpty?: boolean;
  /** Without what a bill is made of: many bills in a list that a person scrolls through. */
  isShort?: boolean;
  count(tx: Tx): Promise<number>;
  at(tx: Tx, window: { offset: number; limit: number }): Promise<BillRow[]>;
  after(tx: Tx, options: { after: BillRow | undefined; limit: number }): Promise<BillRow[]>;
  wrap(bills: never[]): Data;
};

export async function billListing<Data>(
  call: Call,
  list: BillList<Data>,
): Promise<Answer<Data> | StreamedAnswer<Data>> {
  const { tx } = call;
  if (list.isEmpty) return { message: '0 found', total: 0, data: list.wrap([]) };
  if (list.page) {
    const { pageNumber, size } = list.page;
    const rows = await list.at(tx, { offset: pageNumber * size, limit: size });
    const isLast = rows.length < size && (rows.length > 0 || pageNumber === 0);
    const total = isLast ? pageNumber * size + rows.length : await list.count(tx);
    const bills = await shownRows(call, list, tx, rows);
    return { message: found(total), total, data: list.wrap(bills as never[]) };
  }
  const first = await list.after(tx, { after: undefined, limit: billsAtOnce });
  if (first.length < billsAtOnce) {
    const bills = await shownRows(call, list, tx, first);
    const total = first.length;
    return { message: found(total), total, data: list.wrap(bills as never[]) };
  }
  const total = await list.count(tx);
  return { message: found(total), total, wrap: list.wrap, chunks: billChunks(call, list, first) };
}

async function shownRows(
  call: Call,
  { isShort = false }: { isShort?: boolean },
  tx: Tx,
  rows: readonly BillRow[],
): Promise<object[]> {
  const present = isShort ? presentShortBills : presentBills;
  return shownBills(call, await present(tx, call.tenant, rows));
}

/** Those of the bills that are there, as the list shows them. */
export async function billsByIds(call: Call, billIds: readonly number[]): Promise<object[]> {
  const options = { after: undefined, limit: billIds.length };
  const rows = await listBillsAfter(call.tx, call.tenant.tenantId, { billIds }, options);
  return shownRows(call, {}, call.tx, rows);
}

/** Bills are large: so many are read and shown without other calls being served in between. */
const billsAtOnce = 100;

/** All bills of a list, a hundred at a time, each in a short transaction of its own. */
export async function* billChunks(
  call: Call,
  list: Pick<BillList<unknown>, 'after' | 'isShort'>,
  first: readonly BillRow[] | null,
): AsyncGenerator<object[]> {
  let rows = first;
  let after: BillRow | undefined;
  for (;;) {
    const known = rows;
    const place = after;
    const chunk = await call.read(async (tx) => {
      const read = known ?? (await list.after(tx, { after: place, limit: billsAtOnce }));
      return { read, bills: await shownRows(call, list, tx, read) };
    });
    yield chunk.bills;
    if (chunk.read.length < billsAtOnce) return;
    after = chunk.read.at(-1);
    rows = null;
  }
}
