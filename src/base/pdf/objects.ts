// Objects of a PDF file as they are written: dictionaries, some with a stream of bytes.

/** Numbers, arrays and dictionaries are plain values; text is a name. */
export type PdfValue = unknown;

type PdfDictionary = Record<string, PdfValue>;

export type PdfObjects = {
  /** Takes the next number. The object is written when it is ended. */
  ref(data: PdfDictionary): Reference;
};

export type Reference = {
  readonly id: number;
  data: PdfDictionary;
  /** The bytes are written as they are: a filter that made them is named in the data. */
  end(stream?: Uint8Array): void;
};

/** Objects that follow each other in a file, under numbers that follow each other. */
export type ObjectBlock = {
  /** Of the object that others refer to. */
  readonly id: number;
  readonly bytes: Buffer;
  /** Where each object begins, in the order of their numbers. */
  readonly offsets: readonly number[];
};

/** What is already in the form of a PDF. */
class Written {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export function written(text: string): PdfValue {
  return new Written(text);
}

const escaped = /[\n\r\t\b\f()\\]/g;
const escapes: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\b': '\\b',
  '\f': '\\f',
};

/** Bytes as latin1, in brackets. */
function literal(bytes: string): string {
  return `(${bytes.replace(escaped, (one) => escapes[one] ?? `\\${one}`)})`;
}

/** Text that people read. */
export function textValue(text: string): PdfValue {
  const isAscii = /^[\0-\x7f]*$/.test(text);
  const bytes = isAscii
    ? text
    : Buffer.from(`\ufeff${text}`, 'utf16le').swap16().toString('latin1');
  return new Written(literal(bytes));
}

/** Midnight of a day. */
export function dateValue(day: Temporal.PlainDate): PdfValue {
  return new Written(`(D:${day.toString().replaceAll('-', '')}000000Z)`);
}

class OpenReference implements Reference {
  readonly id: number;
  data: PdfDictionary;
  readonly end: Reference['end'];
  constructor(id: number, data: PdfDictionary, end: (own: Reference, stream?: Uint8Array) => void) {
    this.id = id;
    this.data = data;
    this.end = (stream) => end(this, stream);
  }
}

export function asWritten(value: PdfValue): string {
  if (value instanceof Written) return value.text;
  if (value instanceof OpenReference) return `${value.id} 0 R`;
  if (typeof value === 'string') return `/${value}`;
  if (typeof value === 'number') return String(Math.floor(value * 1e6 + 0.5) / 1e6);
  if (value instanceof Uint8Array) return `<${Buffer.from(value).toString('hex')}>`;
  if (Array.isArray(value)) return `[${value.map(asWritten).join(' ')}]`;
  const entries = Object.entries(value as PdfDictionary).filter(([, entry]) => entry !== undefined);
  return `<<\n${entries.map(([key, entry]) => `/${key} ${asWritten(entry)}\n`).join('')}>>`;
}

/** `write` returns the object that others refer to. */
export function writeBlock(
  firstId: number,
  write: (objects: PdfObjects) => Pick<Reference, 'id'>,
): ObjectBlock {
  const chunks: Uint8Array[] = [];
  const offsets: number[] = [];
  let length = 0;
  const append = (chunk: Uint8Array) => {
    chunks.push(chunk);
    length += chunk.length;
  };
  const end = ({ id, data }: Reference, stream?: Uint8Array) => {
    offsets[id - firstId] = length;
    const all = stream === undefined ? data : { Length: stream.length, ...data };
    const head = `${id} 0 obj\n${asWritten(all)}\n`;
    append(Buffer.from(stream === undefined ? `${head}endobj\n` : `${head}stream\n`, 'latin1'));
    if (stream === undefined) return;
    append(stream);
    append(Buffer.from('\nendstream\nendobj\n', 'latin1'));
  };
  const { id } = write({
    ref(data) {
      offsets.push(0);
      return new OpenReference(firstId + offsets.length - 1, data, end);
    },
  });
  return { id, bytes: Buffer.concat(chunks), offsets };
}

const keptBlocks = new WeakMap<object, Map<number, ObjectBlock>>();

/** A block that is written once for each number: of fonts and pictures, which many files have. */
export function keptBlock(
  owner: object,
  firstId: number,
  write: (objects: PdfObjects) => Pick<Reference, 'id'>,
): ObjectBlock {
  let blocks = keptBlocks.get(owner);
  if (blocks === undefined) {
    blocks = new Map();
    keptBlocks.set(owner, blocks);
  }
  let block = blocks.get(firstId);
  if (block === undefined) {
    block = writeBlock(firstId, write);
    blocks.set(firstId, block);
  }
  return block;
}
