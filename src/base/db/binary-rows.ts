// Rows in the binary format of COPY: texts go as they are, and nobody looks for ends and escapes.

/** A row of an id and texts. */
export type TextRow = { id: number; texts: readonly string[] };

const signature = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const end = Buffer.from([0xff, 0xff]);

/** All that COPY takes, of parts as `binaryRows` makes them. */
export function binaryCopy(parts: readonly Buffer[]): Buffer[] {
  return [signature, ...parts, end];
}

const lengthBytes = 4;
const rowHead = 2 + lengthBytes + 8;
/** Of a character, in the worst case. */
const utf8Bytes = 3;

/** Where rows are written before it is known how long they are. */
let scratch: Buffer = Buffer.allocUnsafeSlow(1 << 20);

export function binaryRows(rows: readonly TextRow[]): Buffer {
  let at = 0;
  for (const { id, texts } of rows) {
    let longest = rowHead;
    for (const text of texts) longest += lengthBytes + text.length * utf8Bytes;
    if (at + longest > scratch.length) scratch = grown(at, at + longest);
    at = scratch.writeUInt16BE(texts.length + 1, at);
    at = scratch.writeUInt32BE(8, at);
    at = scratch.writeUInt32BE(Math.floor(id / 2 ** 32), at);
    at = scratch.writeUInt32BE(id % 2 ** 32, at);
    for (const text of texts) {
      const bytes = scratch.write(text, at + lengthBytes);
      at = scratch.writeUInt32BE(bytes, at) + bytes;
    }
  }
  return Buffer.from(scratch.subarray(0, at));
}

function grown(used: number, wanted: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(wanted * 2);
  scratch.copy(larger, 0, 0, used);
  return larger;
}
