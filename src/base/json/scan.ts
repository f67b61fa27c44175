// Looks at JSON text before it is parsed: what would cost more memory or time than a request is
// worth is refused for the price of one pass over its bytes.
import { AppError } from '../errors.ts';

export const jsonLimits = {
  depth: 32,
  /** Items of one array. */
  items: 100_000,
  /** Fields of one object. */
  fields: 1_000,
  fieldNameBytes: 1_000,
  /** Values in the whole text. */
  values: 1_000_000,
} as const;

/** An array long enough to be parsed piece by piece: `cuts` are commas between its items. */
export type LongArray = {
  /** The names of the fields that lead to it, as they are written. */
  path: string[];
  /** Where its brackets are. */
  start: number;
  end: number;
  cuts: number[];
};

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openObject = 0x7b;
const closeObject = 0x7d;
const openArray = 0x5b;
const closeArray = 0x5d;

/** Text that is parsed in one go. */
export const pieceBytes = 131_072;

function newLevels() {
  const depths = jsonLimits.depth + 1;
  return { opened: new Uint8Array(depths), commas: new Int32Array(depths) };
}

/** A short text is scanned in one go, so that all of them can use the same memory. */
const sharedLevels = newLevels();

export class JsonScan {
  /** Those that are inside no other array, in their order. */
  readonly longArrays: LongArray[] = [];
  readonly #bytes: Uint8Array;
  #at: number;
  #isInString = false;
  #stringStart = 0;
  #stringEnd = 0;
  #depth = 0;
  #values = 0;
  /** By depth: the bracket that opened it, its commas, and where its field's name begins. */
  readonly #opened: Uint8Array;
  readonly #commas: Int32Array;
  readonly #names: string[] = [];
  /** The outermost array that is open, and its depth. */
  #outer: LongArray | undefined;
  #outerDepth = 0;

  constructor(bytes: Uint8Array, from: number) {
    this.#bytes = bytes;
    this.#at = from;
    const { opened, commas } = bytes.length > pieceBytes ? newLevels() : sharedLevels;
    this.#opened = opened;
    this.#commas = commas;
  }

  /** Goes on up to this byte. */
  scan(to: number): void {
    const bytes = this.#bytes;
    let at = this.#at;
    let isInString = this.#isInString;
    for (; at < to; at += 1) {
      const byte = bytes[at];
      if (isInString) {
        if (byte === backslash) at += 1;
        else if (byte === quote) {
          isInString = false;
          this.#stringEnd = at;
        }
        continue;
      }
      switch (byte) {
        case quote:
          isInString = true;
          this.#stringStart = at;
          break;
        case comma:
          this.#separate(at);
          break;
        case colon:
          if (at - this.#stringStart > jsonLimits.fieldNameBytes) this.#checkName();
          break;
        case openObject:
        case openArray:
          this.#open(byte, at);
          break;
        case closeObject:
        case closeArray:
          this.#close(byte, at);
          break;
      }
    }
    this.#at = at;
    this.#isInString = isInString;
  }

  #open(bracket: number, at: number): void {
    this.#depth += 1;
    const depth = this.#depth;
    if (depth > jsonLimits.depth) {
      throw new AppError('TOO_DEEP', {
        message: `JSON may be nested ${jsonLimits.depth} levels deep`,
      });
    }
    this.#opened[depth] = bracket;
    this.#commas[depth] = 0;
    this.#count();
    if (this.#outerDepth > 0 || this.#bytes.length <= pieceBytes) return;
    if (depth > 1) this.#names[depth - 2] = this.#lastString();
    if (bracket !== openArray) return;
    this.#outerDepth = depth;
    this.#outer = { path: this.#names.slice(0, depth - 1), start: at, end: at, cuts: [at] };
  }

  #close(bracket: number, at: number): void {
    const depth = this.#depth;
    const isPair = bracket === (this.#opened[depth] === openArray ? closeArray : closeObject);
    if (depth === 0 || !isPair) throw new SyntaxError(`Unexpected bracket at position ${at}`);
    if (depth === this.#outerDepth && this.#outer) {
      this.#outer.end = at;
      if (this.#outer.cuts.length > 1) this.longArrays.push(this.#outer);
      this.#outerDepth = 0;
    }
    this.#depth -= 1;
  }

  #separate(at: number): void {
    const depth = this.#depth;
    this.#count();
    const commas = (this.#commas[depth] ?? 0) + 1;
    this.#commas[depth] = commas;
    const isArray = this.#opened[depth] === openArray;
    if (commas >= (isArray ? jsonLimits.items : jsonLimits.fields)) throw tooMany(isArray);
    if (depth !== this.#outerDepth || !this.#outer) return;
    const { cuts } = this.#outer;
    if (at - (cuts.at(-1) ?? 0) >= pieceBytes) cuts.push(at);
  }

  #count(): void {
    this.#values += 1;
    if (this.#values <= jsonLimits.values) return;
    throw new AppError('TOO_MANY_ITEMS', {
      message: `A request may have at most ${jsonLimits.values} values`,
    });
  }

  #checkName(): void {
    if (this.#stringEnd - this.#stringStart - 1 <= jsonLimits.fieldNameBytes) return;
    throw new AppError('FIELD_TOO_LONG', {
      message: `The name of a field may have at most ${jsonLimits.fieldNameBytes} bytes`,
    });
  }

  #lastString(): string {
    const { buffer, byteOffset } = this.#bytes;
    const length = this.#stringEnd - this.#stringStart + 1;
    return Buffer.from(buffer, byteOffset + this.#stringStart, Math.max(0, length)).toString();
  }
}

function tooMany(isArray: boolean): AppError {
  const message = isArray
    ? `A list may have at most ${jsonLimits.items} items`
    : `An object may have at most ${jsonLimits.fields} fields`;
  return new AppError('TOO_MANY_ITEMS', { message });
}
