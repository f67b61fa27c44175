// Values that begin with what was typed, as ranges that an index of the column is read by.
import { type Sql, sql } from './sql.ts';

/** Greater than any character that follows. Texts are ordered by their code points. */
const last = '\u{10ffff}';

export function endOfBeginning(beginning: string): string {
  return `${beginning}${last}`;
}

/** A condition on a text column. `like` would not use an index under row-level security. */
export function beginsWith(column: string, beginning: string): Sql {
  const own = sql.ref(column);
  return sql`(${own} >= ${beginning} and ${own} <= ${endOfBeginning(beginning)})`;
}

/** Digits of the largest number that is searched. */
const digitsMax = 15;

/** A condition on an integer column: its digits begin with these. */
export function digitsBeginWith(column: string, digits: string): Sql {
  const own = sql.ref(column);
  const first = Number(digits);
  const ranges = Array.from({ length: digitsMax - digits.length + 1 }, (_, more) => {
    const from = first * 10 ** more;
    return sql`${own} between ${from} and ${from + 10 ** more - 1}`;
  });
  return sql`(${sql.join(ranges, sql` or `)})`;
}

/** Whether the text is the beginning of a number. */
export function isDigits(text: string): boolean {
  return /^[1-9]\d{0,14}$/.test(text);
}
