// How every list is answered: a page of it, or all of it as a stream.
import type { Tx } from '../base/db/pool.ts';
import type { Page } from './fields.ts';
import type { Answer, Call, StreamedAnswer } from './operation.ts';

/** Rows read at a time when a whole list is streamed. */
export const chunkRows = 1_000;
/** Rows that are read, shown and written without other calls being served in between. */
const shortRows = 100;

export type WholeList<Row, Data> = {
  /** Rows read at a time, where one is so large that a thousand are too many. */
  chunkSize?: number;
  /** Only these fields of each row are returned. */
  fields?: readonly string[] | null | undefined;
  /** The first chunk, where the operation has read it already. */
  first?: Row[];
  count(tx: Tx): Promise<number>;
  /** Rows that follow a row in the list's order: the next chunk of the stream. */
  after(tx: Tx, options: { after: Row | undefined; limit: number }): Promise<Row[]>;
  /** What is large of a row: read for one at a time, as fast as the caller takes them. */
  more?: ((tx: Tx, row: Row) => Promise<Row>) | undefined;
  present(row: Row): object;
  wrap(rows: never[]): Data;
};

export type List<Row, Data> = WholeList<Row, Data> & {
  page: Page | null | undefined;
  /** Rows from an offset: one page. */
  at(tx: Tx, window: { offset: number; limit: number }): Promise<Row[]>;
};

export async function listing<Row, Data>(
  call: Call,
  list: List<Row, Data>,
): Promise<Answer<Data> | StreamedAnswer<Data>> {
  if (!list.page) return wholeListing(call, list);
  const { pageNumber, size } = list.page;
  const offset = pageNumber * size;
  const window = { offset, limit: size };
  const isShort = size <= shortRows;
  const rows = await (isShort ? list.at(call.tx, window) : call.read((tx) => list.at(tx, window)));
  // A page that is not full gives the total; a search need not run twice for it.
  const isLast = rows.length < size && (rows.length > 0 || pageNumber === 0);
  const total = isLast ? offset + rows.length : await list.count(call.tx);
  if (list.more || rows.length > shortRows) {
    const { wrap } = list;
    return { message: found(total), total, wrap, chunks: presented(call, list, rows) };
  }
  return { message: found(total), total, data: list.wrap(rows.map(presenter(list)) as never[]) };
}

/** A short list is answered at once; a long one is streamed. */
export async function wholeListing<Row, Data>(
  call: Call,
  list: WholeList<Row, Data>,
): Promise<Answer<Data> | StreamedAnswer<Data>> {
  const limit = list.chunkSize ?? chunkRows;
  const next = { after: undefined, limit };
  const first = list.first ?? (await call.read((tx) => list.after(tx, next)));
  if (first.length < limit && !list.more) {
    const total = first.length;
    return { message: found(total), total, data: list.wrap(first.map(presenter(list)) as never[]) };
  }
  const total = first.length < limit ? first.length : await list.count(call.tx);
  return { message: found(total), total, wrap: list.wrap, chunks: chunks(call, list, first) };
}

async function* chunks<Row, Data>(call: Call, list: WholeList<Row, Data>, first: Row[]) {
  const limit = list.chunkSize ?? chunkRows;
  let rows = first;
  while (rows.length > 0) {
    yield* presented(call, list, rows);
    if (rows.length < limit) return;
    const after = rows.at(-1);
    rows = await call.read((tx) => list.after(tx, { after, limit }));
  }
}

async function* presented<Row, Data>(
  call: Call,
  list: WholeList<Row, Data>,
  rows: readonly Row[],
): AsyncGenerator<object[]> {
  const { more } = list;
  const present = presenter(list);
  if (!more) {
    // In pieces, between which other calls are served.
    for (let at = 0; at < rows.length; at += shortRows) {
      yield rows.slice(at, at + shortRows).map(present);
    }
    return;
  }
  for (const row of rows) yield [present(await call.read((tx) => more(tx, row)))];
}

function presenter<Row, Data>(list: WholeList<Row, Data>): (row: Row) => object {
  if (!list.fields) return list.present;
  const wanted = new Set(list.fields);
  return (row) =>
    Object.fromEntries(Object.entries(list.present(row)).filter(([name]) => wanted.has(name)));
}

type FoundAhead<Row> = {
  /** Ids of rows that follow a row in the list's order. */
  find(tx: Tx, options: { after: Row | undefined; limit: number }): Promise<number[]>;
  rowsOf(tx: Tx, ids: readonly number[]): Promise<Row[]>;
  idOf(row: Row): number;
};

/** Ids that are found at a time; a million would be too many to keep. */
const idsAhead = 50_000;

/**
 * The chunks of a list that is searched for. A search looks at all there is, however few rows are
 * wanted of it, so it is made for many chunks at once.
 */
export function foundAhead<Row>({
  find,
  rowsOf,
  idOf,
}: FoundAhead<Row>): WholeList<Row, unknown>['after'] {
  let ahead: number[] = [];
  let isRest = false;
  return async (tx, { after, limit }) => {
    let place = after ? ahead.indexOf(idOf(after)) + 1 : 0;
    if (place === 0 || (place + limit > ahead.length && !isRest)) {
      ahead = await find(tx, { after, limit: idsAhead });
      isRest = ahead.length < idsAhead;
      place = 0;
    }
    const ids = ahead.slice(place, place + limit);
    const rows = new Map((await rowsOf(tx, ids)).map((row) => [idOf(row), row]));
    // In the order in which they were found, whatever has been changed in them since.
    return ids.flatMap((id) => rows.get(id) ?? []);
  };
}

export function found(total: number): string {
  return `${total} found`;
}
