// The file of a document as it is kept: its own bytes, and parts that other documents have as well.
// Putting it together needs nothing but these, so that it is the same file for ever.
import { hash } from 'node:crypto';
import type { Piece } from '../../base/pdf/pieces.ts';

export type FilePart = {
  /** How many of the own bytes come before it. */
  offset: number;
  /** Hexadecimal. */
  sha256: string;
};

export type KeptFile = { own: Uint8Array; parts: FilePart[] };

/** What a file comes to. */
export type FileFacts = { size: number; sha256: string };

/** Smaller parts cost more than they save. */
const partBytesMin = 200;

/** `shared` gets the bytes of the parts, by their hash. */
export function splitFile(
  pieces: readonly Piece[],
  shared: Map<string, Uint8Array>,
): KeptFile & FileFacts {
  const own: Buffer[] = [];
  const parts: FilePart[] = [];
  let offset = 0;
  for (const { bytes, isShared } of pieces) {
    if (isShared && bytes.length >= partBytesMin) {
      const sha256 = sha256Of(bytes);
      if (!shared.has(sha256)) shared.set(sha256, bytes);
      parts.push({ offset, sha256 });
    } else {
      own.push(bytes);
      offset += bytes.length;
    }
  }
  const whole = Buffer.concat(pieces.map((piece) => piece.bytes));
  return { own: Buffer.concat(own), parts, size: whole.length, sha256: sha256Of(whole) };
}

export function joinFile(
  { own, parts }: KeptFile,
  bytesOf: (sha256: string) => Uint8Array,
): Buffer {
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const { offset, sha256 } of parts) {
    pieces.push(own.subarray(at, offset), bytesOf(sha256));
    at = offset;
  }
  return Buffer.concat([...pieces, own.subarray(at)]);
}

export function sha256Of(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}
