// What long lists have in common: a page deep in one is found by counts of rows in blocks of ids, a
// stream goes on after the row it ended with, and words are searched for in folded texts.
import { type Sql, sql } from './sql.ts';

/** Ids of one block, as the counting triggers group them. */
const blockSize = 1_000;

export type Window = { offset: number; limit: number };

/**
 * The ids of a page in the order of ids. `blocks` selects block and block_rows; the walk goes from
 * the block in which the page begins to the one in which it ends, whichever index it goes by.
 */
export function idsByBlock(
  list: { blocks: Sql; table: string; id: string; where: Sql },
  window: Window,
): Sql {
  const id = sql.ref(list.id);
  return sql`
    with walked as (
      select block, block_rows, sum(block_rows) over (order by block) - block_rows as rows_before
      from (${list.blocks}) counted
    ),
    span as (
      select min(block) as first, max(block) as last, min(rows_before) as rows_before
      from walked
      where rows_before + block_rows > ${window.offset}
        and rows_before < ${window.offset}::bigint + ${window.limit}::bigint
    )
    select ${id} from ${sql.table(list.table)}
    where ${list.where}
      and ${id} >= (select first * ${sql.lit(blockSize)} from span)
      and ${id} < (select (last + 1) * ${sql.lit(blockSize)} from span)
    order by ${id}
    limit ${window.limit}
    offset ${window.offset}::bigint - (select rows_before from span)::bigint
  `;
}

/** The condition that a row follows another one in the order of a column and the id. */
export function following(
  keys: { column: string; id: string; descending: boolean },
  after: { value: unknown; id: number },
): Sql {
  const beyond = sql.raw(keys.descending ? '<' : '>');
  if (keys.column === keys.id) return sql`${sql.ref(keys.id)} ${beyond} ${after.id}`;
  const pair = sql`(${sql.ref(keys.column)}, ${sql.ref(keys.id)})`;
  return sql`${pair} ${beyond} (${after.value}, ${after.id})`;
}

/** By a column, and by the id where that leaves a choice. */
export function ordering(
  keys: { column: string; id: string; descending: boolean },
  alias = '',
): Sql {
  const direction = keys.descending ? ' desc' : '';
  const id = `${alias}${keys.id}${direction}`;
  return sql.raw(keys.column === keys.id ? id : `${alias}${keys.column}${direction}, ${id}`);
}

/** Shorter words have no three letters in a row, which is what a trigram index goes by. */
const indexedLengthMin = 3;

/**
 * The call of a function that finds words: `search_…` by an index, or `scan_…` for words too short
 * for one. `folded` are the words in the form in which texts are searched.
 */
export function searching(name: string, folded: string, others: readonly Sql[] = []): Sql {
  const search = sql.raw(`${folded.length < indexedLengthMin ? 'scan' : 'search'}_${name}`);
  return sql`${search}(${sql.join([sql`${containing(folded)}`, ...others])})`;
}

/** A pattern of LIKE for texts that have the words somewhere. */
export function containing(folded: string): string {
  return `%${folded.replace(/[\\%_]/g, '\\$&')}%`;
}
