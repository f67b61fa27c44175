// What a counter will have shown if it was not read on its last day.
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
import type { FirstUnits } from '../readings/first-days-store.ts';
import { averageOf, type Interval, measure, type RegisterInPlace } from '../readings/judge.ts';
import type { Past } from '../readings/past-store.ts';
import { type NewReading, plainReading } from '../readings/reading.ts';

/** The last value and the average use of the days since; no use while it is disconnected. */
export function estimateFinal(
  register: RegisterInPlace,
  past: Past,
  last: { day: number; isOff: boolean; installDay: number },
  first: FirstUnits | undefined,
): NewReading[] {
  const { previous } = past;
  if (previous === null || past.following.length > 0) return [];
  const daily = last.isOff ? null : averageOf(billedIntervals(past, last, first), 1);
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

/** The use since the installation counts the days that were billed with it, or will be. */
function billedIntervals(
  past: Past,
  { installDay }: { installDay: number },
  first: FirstUnits | undefined,
): Interval[] {
  return past.intervals.map((interval) => {
    if (interval.day - interval.days !== installDay) return interval;
    return { ...interval, days: interval.day === first?.day ? first.days : interval.days + 1 };
  });
}
