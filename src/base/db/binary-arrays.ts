// Rows in the binary format of COPY as one parameter for each column, for a role that may not COPY.
import { type Sql, sql } from './sql.ts';

/** Numbers of PostgreSQL's types. */
const typeNumbers = {
  bigint: 20,
  boolean: 16,
  bytea: 17,
  date: 1082,
  integer: 23,
  json: 114,
  smallint: 21,
  text: 25,
  timestamptz: 1184,
};

export type ColumnType = keyof typeof typeNumbers;

const headerBytes = 20;
const lengthBytes = 4;

/** Between JSON texts, none of which has it: JSON escapes control characters. */
const separator = 0x1e;

/**
 * The fields of a column, as a row source for `from`. JSON is one text and no array: Citus writes
 * parameters as text for the machine, where an array would escape every quote of every text.
 */
export function arraySource(type: ColumnType, parameter: Buffer): Sql {
  return type === 'json'
    ? sql`string_to_table(${parameter}::text, ${sql.raw(`E'\\x${separator.toString(16)}'`)})`
    : sql`unnest(${parameter}::${sql.raw(`${type}[]`)})`;
}

/** The column `name` of such a source as a value of its type. */
export function arrayColumn(type: ColumnType, name: string): Sql {
  return sql.raw(type === 'json' ? `nullif(${name}, '')::json` : name);
}

/** A parameter for each column; the fields are those of the rows, byte by byte. */
export function binaryArrays(rows: Buffer, types: readonly ColumnType[]): Buffer[] {
  const fields: Buffer[][] = types.map(() => []);
  let count = 0;
  for (let at = 0; at < rows.length; count += 1) {
    at += 2;
    for (const column of fields) {
      const length = rows.readInt32BE(at);
      const end = at + lengthBytes + Math.max(length, 0);
      column.push(rows.subarray(at, end));
      at = end;
    }
  }
  return types.map((type, index) => {
    const all = fields[index] ?? [];
    return type === 'json'
      ? joined(all)
      : Buffer.concat([header(typeNumbers[type], count), ...all]);
  });
}

/** Without lengths; what is null is empty. */
function joined(fields: readonly Buffer[]): Buffer {
  const between = Buffer.of(separator);
  const pieces = fields.flatMap((field, index) => {
    const text = field.subarray(lengthBytes);
    return index === 0 ? [text] : [between, text];
  });
  return Buffer.concat(pieces);
}

/** Of an array with one dimension, which may have nulls. */
function header(type: number, count: number): Buffer {
  const bytes = Buffer.alloc(headerBytes);
  for (const [index, value] of [1, 1, type, count, 1].entries()) {
    bytes.writeInt32BE(value, index * 4);
  }
  return bytes;
}
