// Which of the stored readings an operator should look at, in words.
import { counted, firstFew } from '../../base/counted.ts';
import { dayOf, formatDay } from '../../base/days.ts';
import type { CheckedReadings } from './enter.ts';
import type { ReadingFlag } from './reading.ts';

const reasons: Record<ReadingFlag, string> = {
  High: 'usage is far above the average',
  Low: 'usage is far below the average',
  Decreased: 'it is lower than the reading before it, or higher than the one after it',
};

/** `2 readings stored, 1 under review: ...`, with which and why. */
export function storedText({ readings, meterNumbers, unchanged }: CheckedReadings): string {
  const reviews = readings.flatMap(({ status, day, flags }, index) => {
    if (status !== 'Review') return [];
    const why = flags.map((flag) => reasons[flag]).join('; ');
    return `meter ${meterNumbers[index]} on ${formatDay(day)} (${why})`;
  });
  const parts = [
    `${counted(readings.length, 'reading')} stored`,
    ...(unchanged > 0 ? [`${unchanged} unchanged`] : []),
    ...(reviews.length > 0 ? [`${reviews.length} under review`] : []),
  ];
  if (reviews.length === 0) return parts.join(', ');
  return `${parts.join(', ')}: ${firstFew(reviews)}. Decide on each with review-reading.`;
}

/** A warning of readings that were stored and that the term does not take, or '' without any. */
export function outsideText(
  { readings, meterNumbers }: CheckedReadings,
  term: { label: string; firstDate: Temporal.PlainDate; lastDate: Temporal.PlainDate },
): string {
  const [first, last] = [dayOf(term.firstDate), dayOf(term.lastDate)];
  const outside = readings.flatMap(({ day }, index) =>
    day < first || day > last ? `meter ${meterNumbers[index]} on ${formatDay(day)}` : [],
  );
  if (outside.length === 0) return '';
  const are = outside.length === 1 ? 'is' : 'are';
  return (
    `Warning: ${counted(outside.length, 'reading')} ${are} dated outside term ${term.label}, ` +
    `which takes readings from ${formatDay(first)} to ${formatDay(last)}: ${firstFew(outside)}.`
  );
}

export function countReviews({ readings }: CheckedReadings): number {
  return readings.filter((one) => one.status === 'Review').length;
}
