// The bytes of a PDF file, in pieces.

/** Bytes that follow each other. Shared ones are likely to be the same in other files. */
export type Piece = { readonly bytes: Buffer; readonly isShared: boolean };

export function wholeFile(pieces: readonly Piece[]): Buffer {
  return Buffer.concat(pieces.map((piece) => piece.bytes));
}
