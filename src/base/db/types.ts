// PostgreSQL's types as values of ours.
import pg from 'pg';

type Parser = (text: string) => unknown;

const parsers = new Map<number, Parser>([
  [20, parseBigint],
  [1082, isoYear],
  [1184, (text) => Temporal.Instant.from(isoYear(text))],
]);

export function parserOf(oid: number): Parser {
  return parsers.get(oid) ?? pg.types.getTypeParser(oid, 'text');
}

/** Ids and counts. Amounts can be larger than a JavaScript number holds: select those as text. */
function parseBigint(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new Error(`bigint ${text} does not fit: select it as text`);
  return value;
}

export function toParameter(value: unknown): unknown {
  if (value instanceof Temporal.Instant || value instanceof Temporal.PlainDate) {
    return timeText(value);
  }
  // Ids, mostly. The driver would quote each of them.
  if (Array.isArray(value) && value.every(Number.isInteger)) return `{${value.join()}}`;
  return value;
}

/** As PostgreSQL writes it: a year beyond 9999 has no sign and no leading zero. */
export function timeText(time: Temporal.Instant | Temporal.PlainDate): string {
  return time.toString().replace(/^\+0*/, '');
}

const hyphen = 0x2d;

/** As ISO 8601 writes it: a year beyond 9999 has a sign and six digits. */
function isoYear(text: string): string {
  if (text.charCodeAt(4) === hyphen) return text;
  return text.replace(/^\d{5,6}(?=-)/, (year) => `+${year.padStart(6, '0')}`);
}
