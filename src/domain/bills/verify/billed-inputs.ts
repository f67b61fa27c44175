// Whether the frozen inputs of a bill are still what the rest of the database says.
import { wireDay } from '../../../base/days.ts';
import type { Facts } from '../../rating/frozen-inputs.ts';
import type { BilledTerm } from '../billed-terms-store.ts';
import type { TakenReading } from './content-checks-store.ts';

export type BillFacts = Facts | { subscriptions: Facts[] };

function factsOf(facts: BillFacts): readonly Facts[] {
  return 'subscriptions' in facts ? facts.subscriptions : [facts];
}

/** True if a term has taken every reading up to which the bill was made. */
export function areReadingsTaken(
  facts: BillFacts | undefined,
  taken: readonly TakenReading[] | undefined,
): boolean {
  const known = new Set(taken?.map((row) => keyOf(row.number, row.register, row)));
  return factsOf(facts ?? { subscriptions: [] }).every(({ meters }) =>
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

export function hasDatesOf(term: BilledTerm, facts: BillFacts): boolean {
  const [start, end] = [wireDay(term.start_date), wireDay(term.end_date)];
  return factsOf(facts).every((one) => one.term.startDate === start && one.term.endDate === end);
}
