// The file of a document as it is kept: its own bytes, and parts that other documents have as well.
// Putting it together needs nothing but these, so that it is the same file for ever.
import { createHash, hash } from 'node:crypto';
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
      const sha256 = partHash(bytes);
      if (!shared.has(sha256)) shared.set(sha256, bytes);
      parts.push({ offset, sha256 });
    } else {
      own.push(bytes);
      offset += bytes.length;
    }
  }
  const whole = createHash('sha256');
  let size = 0;
  for (const { bytes } of pieces) {
    whole.update(bytes);
    size += bytes.length;
  }
  return { own: Buffer.concat(own), parts, size, sha256: whole.digest('hex') };
}

/** The fonts of one run are the same buffers in each of its files. */
const partHashes = new WeakMap<Buffer, string>();

function partHash(bytes: Buffer): string {
  let found = partHashes.get(bytes);
  if (found === undefined) {
    found = sha256Of(bytes);
    partHashes.set(bytes, found);
  }
  return found;
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
