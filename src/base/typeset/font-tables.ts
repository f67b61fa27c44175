// The tables of a TrueType font file that measuring and cutting out glyphs need.

export type FontTables = {
  readonly unitsPerEm: number;
  readonly ascent: number;
  readonly descent: number;
  readonly capHeight: number;
  /** Left, bottom, right and top of what any glyph takes. */
  readonly bounds: readonly number[];
  readonly glyphCount: number;
  readonly head: Buffer;
  readonly hhea: Buffer;
  readonly maxp: Buffer;
  advanceOf(glyph: number): number;
  /** Advance and left side bearing, as stored in the file. */
  metricsOf(glyph: number): number;
  outlineOf(glyph: number): Buffer;
  /** Of what is drawn, above the line; below zero, below it. */
  heightOf(glyph: number): { top: number; bottom: number };
};

export function readFontTables(file: Buffer): FontTables {
  const table = tableFinder(file);
  const head = table('head');
  const hhea = table('hhea');
  const maxp = table('maxp');
  const hmtx = table('hmtx');
  const loca = table('loca');
  const glyf = table('glyf');
  const os2 = table('OS/2');
  const unitsPerEm = head.readUInt16BE(18);
  const isLongLoca = head.readInt16BE(50) === 1;
  const metricCount = hhea.readUInt16BE(34);
  const glyphCount = maxp.readUInt16BE(4);
  const scaled = (value: number) => (value * 1000) / unitsPerEm;
  const start = (glyph: number) =>
    isLongLoca ? loca.readUInt32BE(glyph * 4) : loca.readUInt16BE(glyph * 2) * 2;
  const advance = (glyph: number) => hmtx.readUInt16BE(Math.min(glyph, metricCount - 1) * 4);
  const bearing = (glyph: number) =>
    glyph < metricCount
      ? hmtx.readUInt16BE(glyph * 4 + 2)
      : hmtx.readUInt16BE(metricCount * 4 + (glyph - metricCount) * 2);
  return {
    unitsPerEm,
    ascent: scaled(hhea.readInt16BE(4)),
    descent: scaled(hhea.readInt16BE(6)),
    capHeight: scaled(os2.readInt16BE(88)),
    bounds: [36, 38, 40, 42].map((at) => scaled(head.readInt16BE(at))),
    glyphCount,
    head,
    hhea,
    maxp,
    advanceOf: (glyph) => scaled(advance(glyph)),
    metricsOf: (glyph) => advance(glyph) * 65_536 + bearing(glyph),
    outlineOf: (glyph) => glyf.subarray(start(glyph), start(glyph + 1)),
    heightOf(glyph) {
      const at = start(glyph);
      if (start(glyph + 1) - at < 10) return { top: 0, bottom: 0 };
      return { bottom: scaled(glyf.readInt16BE(at + 4)), top: scaled(glyf.readInt16BE(at + 8)) };
    },
  };
}

function tableFinder(file: Buffer): (tag: string) => Buffer {
  const count = file.readUInt16BE(4);
  const tables = new Map<string, Buffer>();
  for (let index = 0; index < count; index++) {
    const at = 12 + index * 16;
    const offset = file.readUInt32BE(at + 8);
    const length = file.readUInt32BE(at + 12);
    tables.set(file.toString('latin1', at, at + 4), file.subarray(offset, offset + length));
  }
  return (tag) => {
    const found = tables.get(tag);
    if (found === undefined) throw new Error(`the font has no table ${tag}`);
    return found;
  };
}
