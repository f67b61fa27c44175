// Rows in the binary format of COPY: numbers are not converted to text and back, and PostgreSQL
// does not search text for line ends and escapes.
import { parseDay, wireDay } from '../days.ts';

const signature = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const end = Buffer.from([0xff, 0xff]);

/** All that COPY takes, of rows as `BinaryRows` writes them. */
export function binaryCopy(rows: Buffer): Buffer[] {
  return [signature, rows, end];
}

const lengthBytes = 4;
/** Of a field that is no text. */
const fieldBytes = lengthBytes + 8;
/** Of a character, in the worst case. */
const utf8Bytes = 3;
/** Up to it, a character is one byte. */
const lastSingle = 0x7f;
const wordMax = 32;
const nullLength = -1;
const highPart = 2 ** 32;
/** PostgreSQL counts from the year 2000. */
const firstDay = 10_957;
const firstMicrosecond = 946_684_800_000_000n;

/** Fields are written one after the other, each by the method of its column's type. */
export class BinaryRows {
  #bytes: Buffer = Buffer.allocUnsafeSlow(1 << 20);
  #view = new DataView(this.#bytes.buffer);
  #at = 0;
  #instant: Temporal.Instant | null = null;
  #microsecond = 0n;

  startRow(columns: number): void {
    this.#reserve(2 + columns * fieldBytes);
    this.#view.setInt16(this.#at, columns);
    this.#at += 2;
  }

  bigint(value: number | bigint | null): void {
    if (value === null) {
      this.#null();
      return;
    }
    this.#view.setInt32(this.#at, 8);
    this.#at += lengthBytes;
    if (typeof value === 'bigint') {
      this.#view.setBigInt64(this.#at, value);
    } else {
      mustFit(value, Number.MAX_SAFE_INTEGER);
      const high = Math.floor(value / highPart);
      this.#view.setInt32(this.#at, high);
      this.#view.setUint32(this.#at + 4, value - high * highPart);
    }
    this.#at += 8;
  }

  integer(value: number): void {
    mustFit(value, integerMax);
    this.#view.setInt32(this.#at, 4);
    this.#view.setInt32(this.#at + lengthBytes, value);
    this.#at += lengthBytes + 4;
  }

  smallint(value: number): void {
    mustFit(value, smallintMax);
    this.#view.setInt32(this.#at, 2);
    this.#view.setInt16(this.#at + lengthBytes, value);
    this.#at += lengthBytes + 2;
  }

  boolean(value: boolean): void {
    this.#view.setInt32(this.#at, 1);
    this.#view.setUint8(this.#at + lengthBytes, value ? 1 : 0);
    this.#at += lengthBytes + 1;
  }

  /** YYYY-MM-DD. */
  date(value: string | null): void {
    if (value === null) this.#null();
    else this.integer(dayNumber(value) - firstDay);
  }

  timestamptz(value: Temporal.Instant): void {
    // Rows that are made together mostly have the same.
    if (value !== this.#instant) {
      this.#instant = value;
      this.#microsecond = value.epochNanoseconds / 1_000n - firstMicrosecond;
    }
    this.bigint(this.#microsecond);
  }

  /** Hexadecimal. */
  bytea(value: string): void {
    this.#reserve(value.length);
    this.#end(this.#bytes.write(value, this.#at + lengthBytes, 'hex'));
  }

  /** JSON as well. */
  text(value: string | null): void {
    if (value === null) {
      this.#null();
      return;
    }
    this.#reserve(value.length * utf8Bytes);
    if (value.length > wordMax || !this.#word(value)) {
      this.#end(this.#bytes.write(value, this.#at + lengthBytes));
    }
  }

  /** The rows where they lie: only until others are written. */
  written(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  /** Room for this many bytes is kept for the next rows. */
  get room(): number {
    return this.#bytes.length;
  }

  clear(): void {
    this.#at = 0;
  }

  /** Whether it was written: a call for each short text would cost more than its letters. */
  #word(value: string): boolean {
    const bytes = this.#bytes;
    const start = this.#at + lengthBytes;
    for (let index = 0; index < value.length; index += 1) {
      const letter = value.charCodeAt(index);
      if (letter > lastSingle) return false;
      bytes[start + index] = letter;
    }
    this.#end(value.length);
    return true;
  }

  #end(bytes: number): void {
    this.#view.setInt32(this.#at, bytes);
    this.#at += lengthBytes + bytes;
  }

  #null(): void {
    this.#view.setInt32(this.#at, nullLength);
    this.#at += lengthBytes;
  }

  /** A row's fixed fields have room from its start on; what is longer asks for its own. */
  #reserve(bytes: number): void {
    const wanted = this.#at + bytes + spare;
    if (wanted <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(wanted * 2);
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}

const integerMax = 2 ** 31 - 1;
const smallintMax = 2 ** 15 - 1;

/** As text PostgreSQL would refuse it; as bytes it would take another number for it. */
function mustFit(value: number, most: number): void {
  if (Number.isInteger(value) && value <= most && value >= -most) return;
  throw new RangeError(`${value} is not a whole number up to ${most}`);
}

/** More than all fixed fields of any row. */
const spare = 4_096;

const days = new Map<string, number>();
const daysMax = 1_000;

/** Most dates of a run are the same few. */
function dayNumber(isoDate: string): number {
  const known = days.get(isoDate);
  if (known !== undefined) return known;
  const number = parseDay(wireDay(isoDate));
  if (number === undefined) throw new Error(`${isoDate} is not a date`);
  if (days.size >= daysMax) days.clear();
  days.set(isoDate, number);
  return number;
}
