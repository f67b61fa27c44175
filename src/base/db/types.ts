// PostgreSQL's types as values of ours.
import pg from 'pg';

type Parser = (text: string) => unknown;

const parsers = new Map<number, Parser>([
  [20, parseBigint],
  [1082, (text) => text],
  [1184, (text) => Temporal.Instant.from(text.replace(' ', 'T'))],
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
    return value.toString();
  }
  return value;
}
