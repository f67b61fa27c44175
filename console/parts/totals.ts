// Sums of what a list shows, of all its rows and by their states. Amounts are added as whole minor
// units, so that no cent is lost on the way.
import { type Pages, queries } from '../api/queries/base.ts';
import type { Column } from './columns.ts';

/** As many rows as the server gives at once. */
export const rowsAtOnce = 1_000;

export type Total = { name: string; rows: number; sums: bigint[] };

/** Every row of a list, a thousand at a time. */
export async function* everyRow<Row>(pages: Pages<Row>): AsyncGenerator<Row[]> {
  for (let number = 0; ; number += 1) {
    const { rows } = await queries.fetchQuery({ ...pages(number, rowsAtOnce), gcTime: 0 });
    yield rows;
    if (rows.length < rowsAtOnce) return;
  }
}

/** The columns that are added up, and the one by whose words the sums are shown. */
export function summedOf<Row>(columns: readonly Column<Row>[]) {
  const summed = columns.filter((column) => column.sum !== undefined);
  return { summed, by: columns.find((column) => column.groups !== undefined) };
}

/** Adds rows to the totals: the first is that of all rows, then one for each group. */
export function addUp<Row>(
  totals: readonly Total[],
  rows: readonly Row[],
  { columns, decimals }: { columns: readonly Column<Row>[]; decimals: number },
): Total[] {
  const { summed, by } = summedOf(columns);
  const made = new Map(totals.map((one) => [one.name, { ...one, sums: [...one.sums] }]));
  for (const row of rows) {
    const group = by?.groups?.(row);
    for (const name of ['', ...(group === undefined ? [] : [group])]) {
      const total = made.get(name) ?? { name, rows: 0, sums: summed.map(() => 0n) };
      total.rows += 1;
      summed.forEach((column, index) => {
        const minor = minorOf(column.sum?.(row) ?? 0, decimals);
        total.sums[index] = (total.sums[index] ?? 0n) + minor;
      });
      made.set(name, total);
    }
  }
  return [...made.values()];
}

/** A sum of amounts, exact to the last minor unit. */
export function sumOf(amounts: readonly number[], decimals: number): number {
  return majorOf(
    amounts.reduce((sum, amount) => sum + minorOf(amount, decimals), 0n),
    decimals,
  );
}

function minorOf(amount: number, decimals: number): bigint {
  return BigInt(Math.round(amount * 10 ** decimals));
}

export function majorOf(minor: bigint, decimals: number): number {
  return Number(minor) / 10 ** decimals;
}
