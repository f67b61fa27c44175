// SQL for long lists. A page deep in a list is found by counting rows in blocks of ids. A stream
// continues after its last row. Searches compare words in folded form.
import { type Sql, sql } from './sql.ts';
import type { Tx } from './tx.ts';

/** Number of ids in a block; the triggers that count rows use the same. */
const blockSize = 1_000;

export type Window = { offset: number; limit: number };

/**
 * The ids of a page, in the order of ids. `blocks` selects block and block_rows. Only ids from the
 * first to the last block of the page are read, whichever index PostgreSQL uses.
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
    select ${id} from ${sql.ref(list.table)}
    where ${list.where}
      and ${id} >= (select first * ${sql.lit(blockSize)} from span)
      and ${id} < (select (last + 1) * ${sql.lit(blockSize)} from span)
    order by ${id}
    limit ${window.limit}
    offset ${window.offset}::bigint - (select rows_before from span)::bigint
  `;
}

/** The condition that a row comes after a given row, in the order of a column and then the id. */
export function rowsAfter(
  keys: { column: string; id: string; descending: boolean },
  after: { value: unknown; id: number },
): Sql {
  const beyond = sql.raw(keys.descending ? '<' : '>');
  if (keys.column === keys.id) return sql`${sql.ref(keys.id)} ${beyond} ${after.id}`;
  const pair = sql`(${sql.ref(keys.column)}, ${sql.ref(keys.id)})`;
  return sql`${pair} ${beyond} (${after.value}, ${after.id})`;
}

/** The columns of an `order by`: a column and, among equal values, the id. */
export function orderBy(
  keys: { column: string; id: string; descending: boolean },
  alias = '',
): Sql {
  const direction = keys.descending ? ' desc' : '';
  const id = `${alias}${keys.id}${direction}`;
  return sql.raw(keys.column === keys.id ? id : `${alias}${keys.column}${direction}, ${id}`);
}

/** A trigram index finds texts by groups of three letters, so it cannot find shorter words. */
const indexedLengthMin = 3;

/**
 * The call of a database function that searches: `search_…` uses an index, `scan_…` is for words
 * that are too short for it. `folded` is the searched text in folded form.
 */
export function searchCall(name: string, folded: string, others: readonly Sql[] = []): Sql {
  const search = sql.raw(`${folded.length < indexedLengthMin ? 'scan' : 'search'}_${name}`);
  return sql`${search}(${sql.join([sql`${containsPattern(folded)}`, ...others])})`;
}

/** How many rows a search finds. It runs on the machine that has the row of the workspace. */
export async function countFound(tx: Tx, tenantId: number, search: Sql): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count
    from tenants own
    cross join lateral ${search} as found
    where own.tenant_id = ${tenantId}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

/** A LIKE pattern for texts that contain the words anywhere. */
export function containsPattern(folded: string): string {
  return `%${folded.replace(/[\\%_]/g, '\\$&')}%`;
}
