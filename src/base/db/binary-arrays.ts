// Rows in the binary format of COPY as one array for each column, for a role that may not COPY.

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
  return types.map((type, index) =>
    Buffer.concat([header(typeNumbers[type], count), ...(fields[index] ?? [])]),
  );
}

/** Of an array with one dimension, which may have nulls. */
function header(type: number, count: number): Buffer {
  const bytes = Buffer.alloc(headerBytes);
  for (const [index, value] of [1, 1, type, count, 1].entries()) {
    bytes.writeInt32BE(value, index * 4);
  }
  return bytes;
}
