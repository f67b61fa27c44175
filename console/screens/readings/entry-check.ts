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
  /** True if the register counts on; others show the usage itself. */
  isCounter: boolean;
  /** Usage is what the register says times this factor. */
  mf: number;
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
    isCounter: row.kind === 'Cumulative',
    mf: Number(row.mf),
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

/** Below zero where a counter shows less than before. */
export function usageOf(value: string | null, stop: Stop): number | null {
  if (value === null) return null;
  if (!stop.isCounter) return rounded(Number(value) * stop.mf);
  if (stop.previous === null) return null;
  return rounded((Number(value) - Number(stop.previous)) * stop.mf);
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

type Past = {
  register?: string;
  status?: string;
  /** As the server measured it, with the factor of the meter. */
  consumption?: string | null;
  days?: number | null;
};

/** Where a meter has several registers, readings of the others do not count. */
export function isOfRegister({ register }: { register?: string }, stop: Stop): boolean {
  return stop.register === null || register === stop.register;
}

/** How the usage of a day compares with that up to the last reading, in percent. */
export function changeOf(
  usage: number,
  days: number,
  past: readonly Past[],
  stop: Stop,
): number | null {
  const last = past.findLast(
    (one) => isOfRegister(one, stop) && ['Accepted', 'Locked', 'Billed'].includes(one.status ?? ''),
  );
  if (!last?.consumption || !last.days || days <= 0) return null;
  const usual = Number(last.consumption) / last.days;
  return usual > 0 ? Math.round((100 * usage) / days / usual - 100) : null;
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
