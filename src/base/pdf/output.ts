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

export class Output {
  #pieces: Piece[] = [];
  #open: Uint8Array[] = [];
  /** Not yet among the open bytes: many short texts become bytes together. */
  #text = '%PDF-1.7\n%\xff\xff\xff\xff\n';
  #length = this.#text.length;
  #offsets = [0, 0, 0, 0];

  /** The number of the object that is added next. */
  get nextId(): number {
    return this.#offsets.length;
  }

  write(id: number, dictionary: string, stream: Uint8Array | null = null): void {
    this.#offsets[id] = this.#length;
    this.#append(`${id} 0 obj\n${dictionary}\n`);
    if (stream) {
      this.#append('stream\n');
      this.#appendBytes(stream);
      this.#append('\nendstream\n');
    }
    this.#append('endobj\n');
  }

  /** Returns its number. */
  add({ text, stream }: PdfObject): number {
    const id = this.nextId;
    this.write(id, text, stream);
    return id;
  }

  /** Its first object has the next number. */
  addBlock({ bytes, offsets }: ObjectBlock, { isShared }: { isShared: boolean }): void {
    for (const offset of offsets) this.#offsets.push(this.#length + offset);
    if (!isShared) {
      this.#appendBytes(bytes);
      return;
    }
    this.#endPiece();
    this.#pieces.push({ bytes, isShared });
    this.#length += bytes.length;
  }

  /** What was written since the last call. */
  take(): Piece[] {
    this.#endPiece();
    const taken = this.#pieces;
    this.#pieces = [];
    return taken;
  }

  /** `fileId` is hexadecimal. */
  end(fileId?: string): void {
    const start = this.#length;
    const count = this.#offsets.length;
    this.#append(`xref\n0 ${count}\n0000000000 65535 f \n`);
    for (const at of this.#offsets.slice(1)) {
      this.#append(`${String(at).padStart(10, '0')} 00000 n \n`);
    }
    const roots = `/Root ${catalogId} 0 R\n/Info ${infoId} 0 R\n`;
    const id = fileId === undefined ? '' : `/ID [<${fileId}> <${fileId}>]\n`;
    this.#append(`trailer\n<<\n/Size ${count}\n${roots}${id}>>\n`);
    this.#append(`startxref\n${start}\n%%EOF\n`);
  }

  #append(more: string): void {
    this.#text += more;
    this.#length += more.length;
  }

  #appendBytes(bytes: Uint8Array): void {
    this.#endText();
    this.#open.push(bytes);
    this.#length += bytes.length;
  }

  #endText(): void {
    if (this.#text !== '') this.#open.push(Buffer.from(this.#text, 'latin1'));
    this.#text = '';
  }

  #endPiece(): void {
    this.#endText();
    if (this.#open.length > 0) {
      this.#pieces.push({ bytes: Buffer.concat(this.#open), isShared: false });
    }
    this.#open = [];
  }
}

export function pagesText(kids: readonly number[]): string {
  const list = kids.map((page) => `${page} 0 R`).join(' ');
  return `<<\n/Type /Pages\n/Count ${kids.length}\n/Kids [${list}]\n>>`;
}
