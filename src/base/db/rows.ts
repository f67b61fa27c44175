// Rows, read where they lie in the bytes that PostgreSQL sent. The driver makes a text of every
// field first; where a statement has thousands of rows of numbers and dates, that costs more than
// everything else about reading them.
import pg from 'pg';
import { Parser } from 'pg-protocol/dist/parser.js';
import { parserOf } from './types.ts';

export type Row = Record<string, unknown>;

/** Where a row begins in the bytes that it came with: only until the next ones come. */
export class SentRow {
  readonly name = 'dataRow';
  readonly bytes: Buffer;
  readonly offset: number;

  constructor(bytes: Buffer, offset: number) {
    this.bytes = bytes;
    this.offset = offset;
  }

  /** For code that reads rows in the form in which the driver returns them. */
  get fields(): (string | null)[] {
    const { bytes } = this;
    const fields: (string | null)[] = [];
    let at = this.offset + 2;
    for (let left = bytes.readInt16BE(this.offset); left > 0; left -= 1) {
      const length = int32At(bytes, at);
      at += 4;
      fields.push(length === -1 ? null : bytes.toString('utf8', at, at + length));
      if (length > 0) at += length;
    }
    return fields;
  }
}

const dataRow = 0x44;

type HandlePacket = (offset: number, code: number, length: number, bytes: Buffer) => unknown;
type OpenParser = {
  parse(bytes: Buffer, use: (message: { name: string }) => void): void;
  handlePacket: HandlePacket;
};
type OpenConnection = {
  attachListeners(stream: NodeJS.ReadableStream): void;
  emit(name: string, message: unknown): boolean;
};

/** A connection of the driver whose rows are not taken apart before they are read. */
export class RowClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    const connection = this.connection as unknown as OpenConnection;
    connection.attachListeners = (stream) => {
      const parser = rowParser();
      stream.on('data', (bytes: Buffer) =>
        parser.parse(bytes, (message) => {
          connection.emit(message.name === 'error' ? 'errorMessage' : message.name, message);
        }),
      );
    };
  }
}

function rowParser(): OpenParser {
  const parser = new Parser() as unknown as OpenParser;
  const others = parser.handlePacket.bind(parser);
  parser.handlePacket = (offset, code, length, bytes) =>
    code === dataRow ? new SentRow(bytes, offset) : others(offset, code, length, bytes);
  return parser;
}

export type RowReader = (sent: SentRow) => Row;

export function rowReader(columns: readonly { name: string; dataTypeID: number }[]): RowReader {
  const names = columns.map((column) => column.name);
  const readers = columns.map((column) => fieldReader(column.dataTypeID));
  // Each row is a copy of one that has all the fields: its shape is then known, which the engine
  // would otherwise look for again at every field of every row. Not `{ ...empty }`: where rows of
  // many shapes are made, that copies field by field.
  const empty: Row = Object.fromEntries(names.map((name) => [name, null]));
  return ({ bytes, offset }) => {
    const row = Object.assign({}, empty);
    let at = offset + 2;
    for (let i = 0; i < readers.length; i += 1) {
      const length = int32At(bytes, at);
      at += 4;
      if (length === -1) continue;
      row[names[i] as string] = (readers[i] as FieldReader)(bytes, at, at + length);
      at += length;
    }
    return row;
  };
}

type FieldReader = (bytes: Buffer, start: number, end: number) => unknown;

/** Numbers of PostgreSQL's types. */
const types = { bool: 16, int8: 20, int2: 21, int4: 23, text: 25, date: 1082 };

function fieldReader(type: number): FieldReader {
  const parse = parserOf(type);
  const whole: FieldReader = (bytes, start, end) => parse(bytes.toString('utf8', start, end));
  if (type === types.bool) return (bytes, start) => bytes[start] === letterT;
  if (type === types.int8 || type === types.int4 || type === types.int2) return integers(whole);
  // Of those that repeat from row to row, the text of the row before serves again.
  if (type === types.text || type === types.date) return repeated(parse);
  return whole;
}

const letterT = 0x74;
const minus = 0x2d;
const digitZero = 0x30;
/** Digits that a number in JavaScript always holds exactly. */
const digitsMax = 15;

function integers(whole: FieldReader): FieldReader {
  return (bytes, start, end) => {
    const isNegative = bytes[start] === minus;
    const first = isNegative ? start + 1 : start;
    if (end - first > digitsMax) return whole(bytes, start, end);
    let value = 0;
    for (let at = first; at < end; at += 1)
      value = value * 10 + ((bytes[at] as number) - digitZero);
    return isNegative ? -value : value;
  };
}

const repeatedMax = 16;
/** Beyond it, a letter is of several bytes. */
const lastSingle = 0x7f;

function repeated(parse: (text: string) => unknown): FieldReader {
  let text = '';
  let value: unknown = parse('');
  return (bytes, start, end) => {
    if (end - start > repeatedMax) return parse(bytes.toString('utf8', start, end));
    if (!isText(bytes, start, end, text)) {
      text = bytes.toString('utf8', start, end);
      value = parse(text);
    }
    return value;
  };
}

function isText(bytes: Buffer, start: number, end: number, text: string): boolean {
  if (end - start !== text.length) return false;
  // What differs mostly differs at the end.
  for (let at = end - 1; at >= start; at -= 1) {
    const byte = bytes[at] as number;
    if (byte > lastSingle || byte !== text.charCodeAt(at - start)) return false;
  }
  return true;
}

function int32At(bytes: Buffer, at: number): number {
  return (
    ((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number)
  );
}
