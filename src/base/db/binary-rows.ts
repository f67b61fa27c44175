// Rows in the binary format of COPY: numbers are not converted to text and back, and PostgreSQL
// does not search text for line ends and escapes.
import { parseDay, wireDay } from '../days.ts';

const signature = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const end = Buffer.from([0xff, 0xff]);

/** The whole input of a COPY: the signature, the rows that `BinaryRows` wrote, and the end mark. */
export function binaryCopy(rows: Buffer): Buffer[] {
  return [signature, rows, end];
}

const lengthBytes = 4;
/** The most bytes of a field that is not text. */
const fixedFieldBytesMax = lengthBytes + 8;
/** The most bytes of a UTF-16 code unit in UTF-8. */
const utf8BytesMax = 3;
/** The last ASCII character; later ones need more than one byte. */
const asciiMax = 0x7f;
/** Texts up to this length are copied letter by letter. */
const shortTextMax = 32;
const nullLength = -1;
const highPart = 2 ** 32;
/** PostgreSQL counts days and microseconds from 01/01/2000. */
const daysFrom1970To2000 = 10_957;
const microsecondsFrom1970To2000 = 946_684_800_000_000n;

/** Fields are written one after the other, each by the method of its column's type. */
export class BinaryRows {
  #bytes: Buffer = Buffer.allocUnsafeSlow(1 << 20);
  #view = new DataView(this.#bytes.buffer);
  #at = 0;
  #instant: Temporal.Instant | null = null;
  #microsecond = 0n;

  startRow(columns: number): void {
    this.#reserve(2 + columns * fixedFieldBytesMax);
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
    else this.integer(dayNumber(value) - daysFrom1970To2000);
  }

  timestamptz(value: Temporal.Instant): void {
    // Most rows of a chunk have the same timestamp, so the last conversion is kept.
    if (value !== this.#instant) {
      this.#instant = value;
      this.#microsecond = value.epochNanoseconds / 1_000n - microsecondsFrom1970To2000;
    }
    this.bigint(this.#microsecond);
  }

  /** Takes the bytes as hexadecimal digits. */
  bytea(value: string): void {
    this.#reserve(value.length);
    this.#endField(this.#bytes.write(value, this.#at + lengthBytes, 'hex'));
  }

  /** For columns of type text and json. */
  text(value: string | null): void {
    if (value === null) {
      this.#null();
      return;
    }
    this.#reserve(value.length * utf8BytesMax);
    if (value.length > shortTextMax || !this.#writeAscii(value)) {
      this.#endField(this.#bytes.write(value, this.#at + lengthBytes));
    }
  }

  /** The rows written so far, not copied: the next write overwrites or moves them. */
  written(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  /** Bytes of memory that this object keeps, also after `clear`. */
  get capacity(): number {
    return this.#bytes.length;
  }

  clear(): void {
    this.#at = 0;
  }

  /**
   * Writes a short text, if all of it is ASCII; otherwise returns false. For short texts this is
   * faster than Buffer.write.
   */
  #writeAscii(value: string): boolean {
    const bytes = this.#bytes;
    const start = this.#at + lengthBytes;
    for (let index = 0; index < value.length; index += 1) {
      const letter = value.charCodeAt(index);
      if (letter > asciiMax) return false;
      bytes[start + index] = letter;
    }
    this.#endField(value.length);
    return true;
  }

  /** Writes the length of a field before its bytes, and goes on after them. */
  #endField(bytes: number): void {
    this.#view.setInt32(this.#at, bytes);
    this.#at += lengthBytes + bytes;
  }

  #null(): void {
    this.#view.setInt32(this.#at, nullLength);
    this.#at += lengthBytes;
  }

  /**
   * Makes room for this many bytes and `spareBytes`. `startRow` reserves for all fields of fixed
   * length; a text reserves for itself and leaves the spare bytes for the fields after it.
   */
  #reserve(bytes: number): void {
    const wanted = this.#at + bytes + spareBytes;
    if (wanted <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(wanted * 2);
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
    this.#view = new DataView(larger.buffer);
  }
}

const integerMax = 2 ** 31 - 1;
const smallintMax = 2 ** 15 - 1;

/** In the binary format PostgreSQL cannot notice such a number: it would store another one. */
function mustFit(value: number, most: number): void {
  if (Number.isInteger(value) && value <= most && value >= -most) return;
  throw new RangeError(`${value} is not a whole number up to ${most}`);
}

/** More than the fields of fixed length of any row need. */
const spareBytes = 4_096;

const days = new Map<string, number>();
const daysMax = 1_000;

/** Cached, because a run has few different dates. */
function dayNumber(isoDate: string): number {
  const known = days.get(isoDate);
  if (known !== undefined) return known;
  const number = parseDay(wireDay(isoDate));
  if (number === undefined) throw new Error(`${isoDate} is not a date`);
  if (days.size >= daysMax) days.clear();
  days.set(isoDate, number);
  return number;
}
