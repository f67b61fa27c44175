// What a typed reading means: its usage, and whether it has to be confirmed before it is saved.
import type { CsvRow } from '../../parts/csv.ts';

/** A register of the route sheet. */
export type Stop = {
  key: string;
  number: number;
  register: string | null;
  connectionNumber: string;
  customer: string;
  address: string;
  unit: string;
  /** Before the point. */
  digits: number;
  previous: string | null;
  previousDate: string | null;
  low: number | null;
  high: number | null;
};

/** Remarks that readers use; each has a letter that can be typed into the field. */
export const codes = { l: 'Locked premises', s: 'Meter stopped', u: 'Unreadable' } as const;
export type Code = keyof typeof codes;

export type Question = 'lower' | 'rollover' | 'zero' | 'high' | 'low';

export type Typed = {
  /** As it is sent; null where only a code was typed. */
  value: string | null;
  code: Code | null;
};

export function stopOf(row: CsvRow): Stop {
  const parts = ['shopNo', 'buildingNo', 'buildingName', 'street', 'block', 'society', 'city'];
  const register = row.register === '' ? null : (row.register ?? null);
  return {
    key: `${row.number} ${register ?? ''}`,
    number: Number(row.number),
    register,
    connectionNumber: row.connectionNumber ?? '',
    customer: row.partyName ?? '',
    address: parts.flatMap((name) => row[name] || []).join(', '),
    unit: row.unit ?? '',
    digits: Number(row.digits),
    previous: row.previousReading || null,
    previousDate: row.previousDate || null,
    low: row.expectedLow ? Number(row.expectedLow) : null,
    high: row.expectedHigh ? Number(row.expectedHigh) : null,
  };
}

/**
 * `1250`, `1250 s`, or a letter alone. A stopped meter shows what it showed before. Undefined where
 * the text is none of these.
 */
export function typedOf(text: string, stop: Stop): Typed | undefined {
  const match = /^(\d+(?:[.,]\d+)?)?\s*([lsu])?$/i.exec(text.trim());
  if (!match || (match[1] === undefined && match[2] === undefined)) return undefined;
  const code = (match[2]?.toLowerCase() as Code | undefined) ?? null;
  const value = match[1]?.replace(',', '.') ?? null;
  return { value: value ?? (code === 's' ? stop.previous : null), code };
}

/** By how much the register went on; below zero where it shows less. */
export function usageOf(value: string | null, stop: Stop): number | null {
  if (value === null || stop.previous === null) return null;
  return rounded(Number(value) - Number(stop.previous));
}

/** What has to be confirmed, if anything: what is first in this order. */
export function questionOf(value: string, stop: Stop): Question | null {
  const usage = usageOf(value, stop);
  if (usage === null) return null;
  if (usage < 0) return isRolloverLikely(value, stop) ? 'rollover' : 'lower';
  if (usage === 0) return 'zero';
  if (stop.high !== null && Number(value) > stop.high) return 'high';
  return stop.low !== null && Number(value) < stop.low ? 'low' : null;
}

/** The register was in its last tenth and is in its first. */
function isRolloverLikely(value: string, { previous, digits }: Stop): boolean {
  const range = 10 ** digits;
  return Number(previous) >= 0.9 * range && Number(value) <= 0.1 * range;
}

type Past = { readingDate?: string; value?: string; register?: string; status?: string };

/** How the usage compares with that between the last two readings, in percent of a day's. */
export function changeOf(
  usage: number,
  days: number,
  past: readonly Past[],
  stop: Stop,
): number | null {
  const known = past.filter(
    (one) =>
      (stop.register === null || one.register === stop.register) &&
      ['Accepted', 'Locked', 'Billed'].includes(one.status ?? ''),
  );
  const [before, last] = known.slice(-2);
  if (!before || !last || days <= 0) return null;
  const span = daysBetween(before.readingDate ?? '', last.readingDate ?? '');
  const usual = (Number(last.value) - Number(before.value)) / span;
  return span > 0 && usual > 0 ? Math.round((100 * usage) / days / usual - 100) : null;
}

/** Between two days as the API writes them. */
export function daysBetween(from: string, to: string): number {
  return (timeOf(to) - timeOf(from)) / 86_400_000;
}

function timeOf(day: string): number {
  const [date, month, year] = day.split('/').map(Number);
  return Date.UTC(year ?? 0, (month ?? 1) - 1, date);
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
