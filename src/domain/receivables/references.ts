// A reference of the caller is used once for ever: for the same thing again it is a repetition, for
// another one it is refused.
import type { RowProblem } from '../../base/errors.ts';

/** What a reference was used for. */
export type Known = { reference: string; id: number };

/** A row that is new, with the id that it gets. */
export type NewRow<Wanted> = { wanted: Wanted; row: number; id: number };

export type Taken<Wanted> = {
  rows: NewRow<Wanted>[];
  /** By row, also of those that were made before. */
  ids: number[];
  problems: RowProblem[];
};

/**
 * Rows whose reference is free, or that have none. A reference that appears twice among the rows is
 * a repetition, too.
 */
export function takeNew<Wanted extends { reference: string | null }, Before extends Known>(
  wanted: readonly Wanted[],
  known: ReadonlyMap<string, Before>,
  rules: {
    firstId: number;
    /** What the reference of a new row is known by from then on. */
    keep(one: Wanted, id: number, reference: string): Before;
    isSame(one: Wanted, before: Before): boolean;
    /** What it belongs to, if that is not the same. */
    name(before: Before): string;
  },
): Taken<Wanted> {
  const used = new Map(known);
  const taken: Taken<Wanted> = { rows: [], ids: [], problems: [] };
  wanted.forEach((one, row) => {
    const { reference } = one;
    const before = reference === null ? undefined : used.get(reference);
    if (before && !rules.isSame(one, before)) {
      const message = `The reference ${reference} belongs to ${rules.name(before)}`;
      const problem = { name: 'reference', code: 'DUPLICATE', rejectedValue: reference } as const;
      taken.problems.push({ row, message, ...problem });
    }
    const id = before?.id ?? rules.firstId + row;
    taken.ids.push(id);
    if (before) return;
    if (reference !== null) used.set(reference, rules.keep(one, id, reference));
    taken.rows.push({ wanted: one, row, id });
  });
  return taken;
}

/** If another call has used a reference at the same moment, nothing of this one is stored. */
export function problemsOfRace(
  rows: readonly { reference: string | null }[],
  stored: number,
): RowProblem[] {
  if (stored === rows.length) return [];
  const message = 'Another call has just used one of these references; send the call again';
  const rejectedValue = rows.find((row) => row.reference !== null)?.reference;
  return [{ row: 0, name: 'reference', code: 'DUPLICATE', message, rejectedValue }];
}
