// Cuts the glyphs a document uses out of a TrueType font. Outlines are copied as they are, so that
// a subset costs little more than its compression; only parts of composed glyphs are renumbered.
import type { FontTables } from './font-tables.ts';

/** Composed glyphs are made of others, which may be composed too; fonts keep this shallow. */
const partsMax = 64;

export type Subset = {
  readonly file: Buffer;
  /** The glyphs in the subset's own numbering, by the numbers of the whole font. */
  readonly numbers: ReadonlyMap<number, number>;
};

export function cutSubset(tables: FontTables, wanted: Iterable<number>): Subset {
  const glyphs = [...withParts(tables, wanted)].sort((a, b) => a - b);
  const numbers = new Map(glyphs.map((glyph, index) => [glyph, index]));
  const outlines = glyphs.map((glyph) => renumbered(tables.outlineOf(glyph), numbers));
  const lengths = outlines.map((outline) => (outline.length + 3) & ~3);
  const loca = Buffer.alloc((glyphs.length + 1) * 4);
  const glyf = Buffer.alloc(lengths.reduce((sum, length) => sum + length, 0));
  const hmtx = Buffer.alloc(glyphs.length * 4);
  let at = 0;
  glyphs.forEach((glyph, index) => {
    loca.writeUInt32BE(at, index * 4);
    outlines[index]?.copy(glyf, at);
    at += lengths[index] as number;
    hmtx.writeUInt32BE(tables.metricsOf(glyph), index * 4);
  });
  loca.writeUInt32BE(at, glyphs.length * 4);
  const head = Buffer.from(tables.head);
  head.writeUInt32BE(0, 8);
  head.writeInt16BE(1, 50);
  const hhea = Buffer.from(tables.hhea);
  hhea.writeUInt16BE(glyphs.length, 34);
  const maxp = Buffer.from(tables.maxp);
  maxp.writeUInt16BE(glyphs.length, 4);
  return { file: fontFile({ glyf, head, hhea, hmtx, loca, maxp }), numbers };
}

/** Glyph 0 is drawn for missing characters and belongs to every font. */
function withParts(tables: FontTables, wanted: Iterable<number>): Set<number> {
  const all = new Set([0, ...wanted]);
  // A set hands out what is added while it is gone through.
  for (const glyph of all) {
    for (const { part } of partsOf(tables.outlineOf(glyph))) all.add(part);
  }
  return all;
}

function partsOf(outline: Buffer): { part: number; at: number }[] {
  if (outline.length < 10 || outline.readInt16BE(0) >= 0) return [];
  const parts: { part: number; at: number }[] = [];
  let at = 10;
  for (let count = 0; count < partsMax; count++) {
    const flags = outline.readUInt16BE(at);
    parts.push({ part: outline.readUInt16BE(at + 2), at: at + 2 });
    at += 4 + (flags & 0x0001 ? 4 : 2);
    if (flags & 0x0008) at += 2;
    else if (flags & 0x0040) at += 4;
    else if (flags & 0x0080) at += 8;
    if (!(flags & 0x0020)) return parts;
  }
  throw new Error(`a glyph is composed of more than ${partsMax} others`);
}

function renumbered(outline: Buffer, numbers: ReadonlyMap<number, number>): Buffer {
  const parts = partsOf(outline);
  if (parts.length === 0) return outline;
  const copy = Buffer.from(outline);
  for (const { part, at } of parts) copy.writeUInt16BE(numbers.get(part) as number, at);
  return copy;
}

function fontFile(tables: Record<string, Buffer>): Buffer {
  const entries = Object.entries(tables);
  const power = Math.floor(Math.log2(entries.length));
  const header = Buffer.alloc(12 + entries.length * 16);
  header.writeUInt32BE(0x00010000, 0);
  header.writeUInt16BE(entries.length, 4);
  header.writeUInt16BE(2 ** power * 16, 6);
  header.writeUInt16BE(power, 8);
  header.writeUInt16BE((entries.length - 2 ** power) * 16, 10);
  const pieces = [header];
  let offset = header.length;
  entries.forEach(([tag, table], index) => {
    const at = 12 + index * 16;
    const padded = Buffer.alloc((table.length + 3) & ~3);
    table.copy(padded);
    header.write(tag, at, 'latin1');
    header.writeUInt32BE(checksum(padded), at + 4);
    header.writeUInt32BE(offset, at + 8);
    header.writeUInt32BE(table.length, at + 12);
    pieces.push(padded);
    offset += padded.length;
  });
  const file = Buffer.concat(pieces);
  const headOffset = header.readUInt32BE(12 + 16 * Object.keys(tables).indexOf('head') + 8);
  file.writeUInt32BE((0xb1b0afba - checksum(file)) >>> 0, headOffset + 8);
  return file;
}

function checksum(table: Buffer): number {
  let sum = 0;
  for (let at = 0; at < table.length; at += 4) sum = (sum + table.readUInt32BE(at)) >>> 0;
  return sum;
}
