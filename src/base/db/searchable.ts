// Values by which an index can be searched under row-level security.
import { type Sql, sql } from './sql.ts';

/**
 * A column, or something else where it is null. Not `coalesce`: of a column that counts as what
 * could leak, an index is not searched by it, and everything before the bound is read and thrown
 * away.
 */
export function columnOr(column: string, otherwise: Sql): Sql {
  const known = sql.ref(column);
  return sql`case when ${known} is null then ${otherwise} else ${known} end`;
}
