// Calendar dates and instants, and the only place where a time zone turns one into the other.
// Dates are Temporal.PlainDate, instants are Temporal.Instant; the wire forms live here too.

import { formatIsoDay } from './days.ts';

// A year below 1000 is a slip of the finger, and PostgreSQL has no year 0. Second 60 would be read
// as 59.
const dayMonthYear = /^(\d{2})\/(\d{2})\/([1-9]\d{3})$/;
const compactDayMonthYear = /^(\d{2})(\d{2})([1-9]\d{3})$/;
const localDateTime = /^[1-9]\d{3}-\d{2}-\d{2}[T ]\d{2}:\d{2}:[0-5]\d$/;
/** The last moment whose year has four digits: later ones are written in no form others read. */
const lastInstant = Temporal.Instant.from('9999-12-31T23:59:59.999Z');

/** `DD/MM/YYYY` -> date; undefined when the text has another form or names no real day. */
export function parseDate(text: string): Temporal.PlainDate | undefined {
  return fromParts(dayMonthYear.exec(text));
}

/** `DDMMYYYY`, the form that connectionDate is returned in, or `DD/MM/YYYY`. */
export function parseCompactDate(text: string): Temporal.PlainDate | undefined {
  return fromParts(compactDayMonthYear.exec(text) ?? dayMonthYear.exec(text));
}

function fromParts(match: RegExpExecArray | null): Temporal.PlainDate | undefined {
  if (!match) return undefined;
  try {
    return Temporal.PlainDate.from(
      { day: Number(match[1]), month: Number(match[2]), year: Number(match[3]) },
      { overflow: 'reject' },
    );
  } catch {
    return undefined;
  }
}

/**
 * `YYYY-MM-DDTHH:MM:SS` or `YYYY-MM-DD HH:MM:SS`, without offset; undefined when the text has
 * another form or names a time that does not exist.
 */
export function parseLocalDateTime(text: string): Temporal.PlainDateTime | undefined {
  if (!localDateTime.test(text)) return undefined;
  try {
    return Temporal.PlainDateTime.from(text, { overflow: 'reject' });
  } catch {
    return undefined;
  }
}

/** Whether a text has one of these forms, and names a day or an hour that there is not. */
export function namesNoTime(text: string): boolean {
  if (dayMonthYear.test(text)) return parseDate(text) === undefined;
  if (compactDayMonthYear.test(text)) return parseCompactDate(text) === undefined;
  return localDateTime.test(text) && parseLocalDateTime(text) === undefined;
}

export function formatDate(date: Temporal.PlainDate): string {
  return `${pad(date.day, 2)}/${pad(date.month, 2)}/${pad(date.year, 4)}`;
}

/** `YYYY-MM-DDTHH:MM:SS`, the form that the contract fixes for sheduleTime. */
export function formatLocalDateTime(local: Temporal.PlainDateTime): string {
  return local.toString({ smallestUnit: 'second' });
}

export function formatCompactDate(date: Temporal.PlainDate): string {
  return `${pad(date.day, 2)}${pad(date.month, 2)}${pad(date.year, 4)}`;
}

/** `YYYY-MM-DD HH:MM:SS` in the given zone: the form of every timestamp on the wire. */
export function formatTimestamp(instant: Temporal.Instant, timeZone: string): string {
  const ms = instant.epochMilliseconds;
  const local = ms + offsetMs(ms, timeZone);
  const day = Math.floor(local / dayMs);
  const seconds = Math.floor((local - day * dayMs) / 1_000);
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor(seconds / 60) % 60;
  return `${formatIsoDay(day)} ${pad(hours, 2)}:${pad(minutes, 2)}:${pad(seconds % 60, 2)}`;
}

const dayMs = 86_400_000;

const minuteMs = 60_000;
const offsetsMax = 10_000;
/** By zone, then by minute. */
const offsets = new Map<string, Map<number, number>>();
let offsetsKept = 0;

/**
 * Offset of a zone at an instant. Zones change on whole minutes, so the offset of a minute is asked
 * for once: a list of a million rows would otherwise spend most of its time on time zones.
 */
function offsetMs(ms: number, timeZone: string): number {
  const minute = Math.floor(ms / minuteMs);
  const known = offsets.get(timeZone)?.get(minute);
  if (known !== undefined) return known;
  const zoned = Temporal.Instant.fromEpochMilliseconds(minute * minuteMs).toZonedDateTimeISO(
    timeZone,
  );
  const offset = zoned.offsetNanoseconds / 1_000_000;
  if (offsetsKept >= offsetsMax) {
    offsets.clear();
    offsetsKept = 0;
  }
  const ofZone = offsets.get(timeZone) ?? new Map<number, number>();
  offsets.set(timeZone, ofZone.set(minute, offset));
  offsetsKept += 1;
  return offset;
}

export function dateIn(instant: Temporal.Instant, timeZone: string): Temporal.PlainDate {
  return instant.toZonedDateTimeISO(timeZone).toPlainDate();
}

/**
 * A local time as an instant. A time that a clock change skips moves forward by the gap; one that
 * occurs twice means the first ("compatible").
 */
export function instantOf(local: Temporal.PlainDateTime, timeZone: string): Temporal.Instant {
  const instant = local.toZonedDateTime(timeZone, { disambiguation: 'compatible' }).toInstant();
  return Temporal.Instant.compare(instant, lastInstant) > 0 ? lastInstant : instant;
}

/** The first moment of a date in a zone. */
export function startOfDay(date: Temporal.PlainDate, timeZone: string): Temporal.Instant {
  return instantOf(date.toPlainDateTime(), timeZone);
}

export function isTimeZone(name: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, '0');
}
