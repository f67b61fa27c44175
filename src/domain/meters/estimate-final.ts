// What a counter will have shown when nobody read it on its last day.
import { decimalText, exactFrom } from '../../base/numbers/decimal-text.ts';
import {
  add,
  compare,
  divide,
  fraction,
  multiply,
  subtract,
  zero,
} from '../../base/numbers/exact.ts';
import { powerOfTen, round } from '../../base/numbers/rounding.ts';
import { averageOf, measure, type RegisterInPlace } from '../readings/judge.ts';
import type { Past } from '../readings/past-store.ts';
import { type NewReading, plainReading } from '../readings/reading.ts';

/** Its last value and the average use of the days since; nothing while there is no use. */
export function estimateFinal(
  register: RegisterInPlace,
  past: Past,
  last: { day: number; isOff: boolean },
): NewReading[] {
  const { previous } = past;
  if (previous === null || past.following.length > 0) return [];
  const daily = last.isOff ? null : averageOf(past.intervals, 1);
  const days = fraction(last.day - previous.day, 1);
  const use = daily === null ? zero : divide(multiply(daily, days), fraction(register.mf, 1));
  const shown = round(add(exactFrom(previous.value) ?? zero, use), register.decimals, 'HalfUp');
  const capacity = fraction(powerOfTen(register.digits), 1);
  const rollover = compare(shown, capacity) >= 0;
  const value = decimalText(rollover ? subtract(shown, capacity) : shown);
  const reading = { assignmentId: register.assignmentId, position: register.position, value };
  const current = { day: last.day, time: null, value, type: 'Estimated' as const, rollover };
  const measured = measure(register, previous, current, null);
  return [
    {
      ...plainReading({ ...reading, day: last.day }, 'Estimated'),
      rollover,
      consumption: measured?.use ? decimalText(measured.use) : null,
      days: measured?.days ?? null,
      remark: 'Estimated for the removal',
    },
  ];
}
