// The bytes of a PDF file as pdfkit writes them, in pieces.

/** Bytes that follow each other. Shared ones are likely to be the same in other files. */
export type Piece = { readonly bytes: Buffer; readonly isShared: boolean };

export type Gathered = {
  /** What was written since the last call, as one. */
  take(): Buffer;
  takePieces(): Piece[];
  /** What is written meanwhile is a piece of its own. */
  share<Result>(write: () => Result): Result;
};

/** A file ends with a line of some 20 bytes for each object: they are joined before handing on. */
const blockBytes = 16_384;

/** Takes the place of the stream's own buffer, which handles each line for itself. */
export function gather(document: PDFKit.PDFDocument): Gathered {
  let full: Piece[] = [];
  const block = Buffer.allocUnsafe(blockBytes);
  let used = 0;
  let isShared = false;
  const endBlock = () => {
    if (used > 0) full.push({ bytes: Buffer.from(block.subarray(0, used)), isShared });
    used = 0;
  };
  const add = (chunk: Uint8Array) => {
    if (used + chunk.length > blockBytes) endBlock();
    if (chunk.length > blockBytes) full.push({ bytes: Buffer.from(chunk), isShared });
    else {
      block.set(chunk, used);
      used += chunk.length;
    }
  };
  // The head of the file was written before, in chunks that come one at a time.
  let head = document.read() as Buffer | null;
  while (head !== null) {
    add(head);
    head = document.read() as Buffer | null;
  }
  document.push = (chunk: Uint8Array | null) => {
    if (chunk !== null) add(chunk);
    return chunk !== null;
  };
  const takePieces = () => {
    endBlock();
    const pieces = full;
    full = [];
    return joined(pieces);
  };
  return {
    take: () => Buffer.concat(takePieces().map((piece) => piece.bytes)),
    takePieces,
    share(write) {
      endBlock();
      isShared = true;
      try {
        return write();
      } finally {
        endBlock();
        isShared = false;
      }
    },
  };
}

/** Neighbours of one kind become one piece. */
function joined(pieces: readonly Piece[]): Piece[] {
  const runs: { blocks: Buffer[]; isShared: boolean }[] = [];
  for (const { bytes, isShared } of pieces) {
    const last = runs.at(-1);
    if (last?.isShared === isShared) last.blocks.push(bytes);
    else runs.push({ blocks: [bytes], isShared });
  }
  return runs.map(({ blocks, isShared }) => ({
    bytes: blocks.length === 1 ? (blocks[0] as Buffer) : Buffer.concat(blocks),
    isShared,
  }));
}
