// Writes a PDF file: objects one after the other, and the table of where they are.
import type { ObjectBlock } from './objects.ts';
import type { Piece } from './pieces.ts';

/** Objects that every file has. They are written last. */
export const catalogId = 1;
export const pagesId = 2;
export const infoId = 3;

export type PdfObject = {
  /** As it is written before the stream. */
  readonly text: string;
  readonly stream: Uint8Array | null;
};

export type Output = ReturnType<typeof openOutput>;

export function openOutput() {
  let pieces: Piece[] = [];
  let open: Uint8Array[] = [];
  let text = '';
  let length = 0;
  const offsets: number[] = [0, 0, 0, 0];

  function append(more: string): void {
    text += more;
    length += more.length;
  }

  function appendBytes(bytes: Uint8Array): void {
    endText();
    open.push(bytes);
    length += bytes.length;
  }

  function endText(): void {
    if (text !== '') open.push(Buffer.from(text, 'latin1'));
    text = '';
  }

  function endPiece(): void {
    endText();
    if (open.length > 0) pieces.push({ bytes: Buffer.concat(open), isShared: false });
    open = [];
  }

  function write(id: number, dictionary: string, stream: Uint8Array | null = null): void {
    offsets[id] = length;
    append(`${id} 0 obj\n${dictionary}\n`);
    if (stream) {
      append('stream\n');
      appendBytes(stream);
      append('\nendstream\n');
    }
    append('endobj\n');
  }

  append('%PDF-1.7\n%\xff\xff\xff\xff\n');
  return {
    /** The number of the object that is added next. */
    nextId: () => offsets.length,
    write,
    /** Returns its number. */
    add({ text: dictionary, stream }: PdfObject): number {
      const id = offsets.length;
      write(id, dictionary, stream);
      return id;
    },
    /** Its first object has the next number. */
    addBlock({ bytes, offsets: own }: ObjectBlock, { isShared }: { isShared: boolean }): void {
      for (const offset of own) offsets.push(length + offset);
      if (!isShared) {
        appendBytes(bytes);
        return;
      }
      endPiece();
      pieces.push({ bytes, isShared });
      length += bytes.length;
    },
    /** What was written since the last call. */
    take(): Piece[] {
      endPiece();
      const taken = pieces;
      pieces = [];
      return taken;
    },
    /** `fileId` is hexadecimal. */
    end(fileId?: string): void {
      const start = length;
      append(`xref\n0 ${offsets.length}\n0000000000 65535 f \n`);
      for (const at of offsets.slice(1)) append(`${String(at).padStart(10, '0')} 00000 n \n`);
      const roots = `/Root ${catalogId} 0 R\n/Info ${infoId} 0 R\n`;
      const id = fileId === undefined ? '' : `/ID [<${fileId}> <${fileId}>]\n`;
      append(`trailer\n<<\n/Size ${offsets.length}\n${roots}${id}>>\n`);
      append(`startxref\n${start}\n%%EOF\n`);
    },
  };
}

export function pagesText(kids: readonly number[]): string {
  const list = kids.map((page) => `${page} 0 R`).join(' ');
  return `<<\n/Type /Pages\n/Count ${kids.length}\n/Kids [${list}]\n>>`;
}
