// Reads a PDF as strictly as its table of objects says, to see that it is well formed.
import assert from 'node:assert/strict';
import { inflateSync } from 'node:zlib';

export type PdfObject = { id: number; dictionary: string; stream: Buffer | null };

export function readPdf(bytes: Buffer): { objects: Map<number, PdfObject>; trailer: string } {
  const text = bytes.toString('latin1');
  assert.ok(text.startsWith('%PDF-1.7\n'));
  assert.ok(text.endsWith('%%EOF\n'));
  const start = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(text)?.[1]);
  const table = text.slice(start);
  const count = Number(/^xref\n0 (\d+)\n/.exec(table)?.[1]);
  const entries = [...table.matchAll(/^(\d{10}) (\d{5}) ([nf]) $/gm)];
  assert.equal(entries.length, count);
  const objects = new Map<number, PdfObject>();
  entries.forEach(([, offset = ''], id) => {
    if (id > 0) objects.set(id, readObject(bytes, text, Number(offset), id));
  });
  return { objects, trailer: table.slice(table.indexOf('trailer')) };
}

function readObject(bytes: Buffer, text: string, offset: number, id: number): PdfObject {
  const head = `${id} 0 obj\n`;
  assert.ok(text.startsWith(head, offset), `object ${id} is at ${offset}`);
  const end = text.indexOf('endobj', offset);
  const streamAt = text.indexOf('\nstream\n', offset);
  if (streamAt === -1 || streamAt > end) {
    return { id, dictionary: text.slice(offset + head.length, end), stream: null };
  }
  const dictionary = text.slice(offset + head.length, streamAt);
  const length = Number(/\/Length (\d+)/.exec(dictionary)?.[1]);
  const raw = bytes.subarray(streamAt + 8, streamAt + 8 + length);
  assert.equal(text.slice(streamAt + 8 + length).startsWith('\nendstream\n'), true, `stream ${id}`);
  const stream = dictionary.includes('/FlateDecode') ? inflateSync(raw) : raw;
  return { id, dictionary, stream };
}

export function pageCount(bytes: Buffer): number {
  const { objects } = readPdf(bytes);
  const pages = [...objects.values()].filter(({ dictionary }) =>
    /\/Type \/Page\n/.test(dictionary),
  );
  const root = [...objects.values()].find(({ dictionary }) => /\/Type \/Pages\n/.test(dictionary));
  assert.equal(Number(/\/Count (\d+)/.exec(root?.dictionary ?? '')?.[1]), pages.length);
  return pages.length;
}
