// Writes a font into a PDF: a composite font whose codes are the glyph numbers of the whole font,
// so that shaped words need no translation for a document, and a file with the glyphs in use.
import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import {
  type PdfObjects,
  type PdfValue,
  type Reference,
  textValue,
  written,
} from '../pdf/objects.ts';
import type { FontTables } from './font-tables.ts';
import { cutSubset } from './subset.ts';

/** What a PDF holds of a font, ready to be written. */
export type FontBytes = {
  readonly name: string;
  readonly file: Buffer;
  readonly fileLength: number;
  readonly glyphNumbers: Buffer;
  readonly toUnicode: Buffer;
  readonly widths: PdfValue;
};

export function embedFont(objects: PdfObjects, tables: FontTables, bytes: FontBytes): Reference {
  const dictionary = objects.ref({});
  const descriptor = objects.ref({
    Type: 'FontDescriptor',
    FontName: bytes.name,
    Flags: 4,
    FontBBox: tables.bounds,
    ItalicAngle: 0,
    Ascent: tables.ascent,
    Descent: tables.descent,
    CapHeight: tables.capHeight,
    StemV: 80,
    FontFile2: stream(objects, bytes.file, { Length1: bytes.fileLength }),
  });
  descriptor.end();
  const descendant = objects.ref({
    Type: 'Font',
    Subtype: 'CIDFontType2',
    BaseFont: bytes.name,
    CIDSystemInfo: { Registry: textValue('Adobe'), Ordering: textValue('Identity'), Supplement: 0 },
    FontDescriptor: descriptor,
    W: bytes.widths,
    CIDToGIDMap: stream(objects, bytes.glyphNumbers, {}),
  });
  descendant.end();
  Object.assign(dictionary.data, {
    Type: 'Font',
    Subtype: 'Type0',
    BaseFont: bytes.name,
    Encoding: 'Identity-H',
    DescendantFonts: [descendant],
    ToUnicode: stream(objects, bytes.toUnicode, {}),
  });
  dictionary.end();
  return dictionary;
}

/** Compressed best where it is kept for all documents, and fast where it is made for one. */
export function fontBytes(
  name: string,
  tables: FontTables,
  glyphs: ReadonlyMap<number, string>,
  options: { isKept: boolean },
): FontBytes {
  const level = options.isKept ? 9 : 1;
  const { file, numbers } = cutSubset(tables, glyphs.keys());
  const used = [...glyphs.keys()].sort((a, b) => a - b);
  const glyphNumbers = Buffer.alloc(((used.at(-1) ?? 0) + 1) * 2);
  for (const glyph of used) glyphNumbers.writeUInt16BE(numbers.get(glyph) ?? 0, glyph * 2);
  return {
    name: `${tagOf(used)}+${name}`,
    file: deflateSync(file, { level }),
    fileLength: file.length,
    glyphNumbers: deflateSync(glyphNumbers, { level }),
    toUnicode: deflateSync(unicodeMap(used, glyphs), { level }),
    widths: widthsOf(used, tables),
  };
}

/** Six capital letters that differ where the glyphs of two subsets differ. */
function tagOf(glyphs: readonly number[]): string {
  const digest = createHash('sha1').update(Uint16Array.from(glyphs)).digest();
  return Array.from(digest.subarray(0, 6), (byte) => String.fromCharCode(65 + (byte % 26))).join(
    '',
  );
}

/** Runs of neighbours: the first number, then the widths from there. */
function widthsOf(glyphs: readonly number[], tables: FontTables): PdfValue {
  let widths = '';
  glyphs.forEach((glyph, index) => {
    const isNext = index > 0 && glyphs[index - 1] === glyph - 1;
    widths += isNext ? ' ' : `${index === 0 ? '' : ']'}${glyph}[`;
    widths += tables.advanceOf(glyph);
  });
  return written(`[${widths}${widths === '' ? '' : ']'}]`);
}

/** A map may name this many characters at a time. */
const mapEntriesMax = 100;

function unicodeMap(used: readonly number[], glyphs: ReadonlyMap<number, string>): string {
  const entries = used.flatMap((glyph) => {
    const characters = glyphs.get(glyph);
    return characters ? [`<${hex(glyph)}> <${utf16(characters)}>`] : [];
  });
  const blocks: string[] = [];
  for (let at = 0; at < entries.length; at += mapEntriesMax) {
    const block = entries.slice(at, at + mapEntriesMax);
    blocks.push(`${block.length} beginbfchar\n${block.join('\n')}\nendbfchar`);
  }
  return [
    '/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap',
    '/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def',
    '/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def',
    '1 begincodespacerange\n<0000> <ffff>\nendcodespacerange',
    ...blocks,
    'endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend',
  ].join('\n');
}

function stream(objects: PdfObjects, bytes: Buffer, data: Record<string, unknown>): Reference {
  const reference = objects.ref({ ...data, Filter: 'FlateDecode' });
  reference.end(bytes);
  return reference;
}

function hex(value: number): string {
  return value.toString(16).padStart(4, '0');
}

export function utf16(characters: string): string {
  let digits = '';
  for (let index = 0; index < characters.length; index++)
    digits += hex(characters.charCodeAt(index));
  return digits;
}
