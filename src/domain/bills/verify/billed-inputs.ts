// Whether the frozen inputs of a bill are still what the rest of the database says.

import { wireDay } from '../../../base/days.ts';
import { type FrozenBillInputs, frozenOf } from '../../rating/frozen-inputs.ts';
import type { Term } from '../../terms/store.ts';
import type { TakenReading } from './content-checks-store.ts';

/** True if a term has taken every reading up to which the bill was made. */
export function areReadingsTaken(
  frozen: FrozenBillInputs | undefined,
  taken: readonly TakenReading[] | undefined,
): boolean {
  const known = new Set(taken?.map((row) => keyOf(row.number, row.register, row)));
  return frozenOf(frozen ?? { subscriptions: [] }).every(({ meters }) =>
    (meters ?? []).every(({ number, register, current }) => {
      if (!current || current.status === 'Review') return true;
      return known.has(keyOf(number, register ?? '', current));
    }),
  );
}

function keyOf(
  number: number,
  register: string,
  reading: { date: string; value: string | number },
): string {
  return `${number} ${register} ${reading.date} ${plain(String(reading.value))}`;
}

/** Without zeros at the end. */
function plain(value: string): string {
  return value.includes('.') ? value.replace(/\.?0+$/, '') : value;
}

export function hasDatesOf(term: Term, frozen: FrozenBillInputs): boolean {
  const [start, end] = [wireDay(term.start_date), wireDay(term.end_date)];
  return frozenOf(frozen).every((one) => one.term.startDate === start && one.term.endDate === end);
}
