// JSON.parse for what strangers send: within limits, and if the text is long, piece by piece.
import { randomUUID } from 'node:crypto';
import type { Steps } from '../slices.ts';
import { JsonScan, type LongArray, pieceBytes } from './scan.ts';

/**
 * The value of a JSON text in UTF-8. A text that is not JSON throws a SyntaxError, one beyond the
 * limits an AppError.
 */
export function* parseJson(bytes: Buffer): Steps<unknown> {
  const from = startsWithMark(bytes) ? 3 : 0;
  const scan = new JsonScan(bytes, from);
  for (let to = from; to < bytes.length; ) {
    to = Math.min(bytes.length, to + pieceBytes);
    scan.scan(to);
    if (to < bytes.length) yield;
  }
  if (scan.longArrays.length === 0) return JSON.parse(bytes.toString('utf8', from));
  return yield* parsePieces(bytes, from, scan.longArrays);
}

/** Some programs begin a file with a byte order mark. */
function startsWithMark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** The text without its long arrays first; they are parsed one after another and put in place. */
function* parsePieces(bytes: Buffer, from: number, arrays: readonly LongArray[]): Steps<unknown> {
  // Cannot be guessed, so no text of a request is taken for the place of an array.
  const nonce = randomUUID();
  let rest = '';
  let at = from;
  for (const [index, { start, end }] of arrays.entries()) {
    rest += `${bytes.toString('utf8', at, start)}["${nonce}",${index}]`;
    at = end + 1;
  }
  const root: unknown = JSON.parse(rest + bytes.toString('utf8', at));
  for (const [index, array] of arrays.entries()) {
    const items: unknown[] = [];
    for (const [piece, cut] of array.cuts.entries()) {
      const next = array.cuts[piece + 1] ?? array.end;
      const parsed: unknown[] = JSON.parse(`[${bytes.toString('utf8', cut + 1, next)}]`);
      if (parsed.length === 0) throw new SyntaxError(`No item before position ${next}`);
      for (const item of parsed) items.push(item);
      yield;
    }
    if (array.path.length === 0) return items;
    putInPlace(root, array.path, (found) => {
      return Array.isArray(found) && found[0] === nonce && found[1] === index ? items : found;
    });
  }
  return root;
}

/** Of two fields with one name the last counts, as in JSON.parse: then the place is not there. */
function putInPlace(root: unknown, path: string[], exchange: (found: unknown) => unknown): void {
  let holder = root;
  for (const [step, written] of path.entries()) {
    const name: string = JSON.parse(written);
    if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, name)) return;
    const fields = holder as Record<string, unknown>;
    if (step === path.length - 1) {
      const value = exchange(fields[name]);
      // An assignment to __proto__ would set the prototype.
      Object.defineProperty(fields, name, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    } else holder = fields[name];
  }
}
