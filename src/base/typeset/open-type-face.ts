// A face from a font file. HarfBuzz shapes what needs it: joining, reordering and marks of Arabic
// and Indic scripts. Plain letters and figures, which are most of a bill and differ on each, go
// glyph by glyph with the kerning of pairs, remembered from HarfBuzz, at a fraction of its cost.
import { readFileSync } from 'node:fs';
import {
  Blob,
  Direction,
  Feature,
  Font,
  Face as Outlines,
  shape,
  Buffer as Text,
} from 'harfbuzzjs';
import { keptBlock } from '../pdf/objects.ts';
import { embedFont, type FontBytes, fontBytes } from './embed-font.ts';
import { type Face, type FaceUse, joinedOperands, type ShapedWord } from './face.ts';
import { type FontTables, readFontTables } from './font-tables.ts';
import { isFigure, Remembered } from './remembered.ts';

/** Of letters that neither join nor combine. */
const plainText = new RegExp(
  `^[ -~\u00a0-\u00ac\u00ae-\u017f\u0386-\u03ff\u0400-\u045f${
    // Punctuation, signs of currencies, trade mark, minus.
    '\u2010-\u2027\u2030-\u203a\u20a0-\u20bf\u2122\u2212'
  }]*$`,
);
/** Words that are remembered; a word of Arabic or Devanagari costs 30 microseconds to shape. */
const wordsMax = 8_000;
/** Longer ones are hardly words, and would fill the memory. */
const wordLengthMax = 100;

export type FontOptions = {
  path: string;
  name: string;
  ascent: number;
  descent: number;
  /** Characters that most documents are written in. */
  common: string;
  /** Drawn in this part of the size of the text. */
  scale?: number;
  /** Each word has its own height: a sloping script takes up to twice that of another word. */
  isSloping?: boolean;
};

/**
 * Two faces of one file. That of the common characters holds all of them in every document, so that
 * it is cut and compressed once for the process; the other holds what a document uses.
 */
export function openFaces(options: FontOptions): { common: Face; others: Face } {
  const file = readFileSync(options.path);
  const tables = readFontTables(file);
  const font = new Font(new Outlines(new Blob(file)));
  font.setScale(1000, 1000);
  const { scale = 1, isSloping = false } = options;
  const measured = (word: ShapedWord) => withMeasures(word, { scale, isSloping, tables });
  const isCommon = new Set(Array.from(options.common, (character) => character.codePointAt(0)));
  const shaper = makeShaper(font, isCommon);
  const isPlainSize = scale === 1 && !isSloping;
  const shape = rememberedShapes(shaper, isPlainSize ? (word) => word : measured);
  const { name, ascent, descent } = options;
  const covers = remembered((codePoint) => font.nominalGlyph(codePoint) !== undefined);
  let commonFont: { glyphs: Map<number, string>; bytes: FontBytes } | undefined;
  const blockOf = (bytes: FontBytes, firstId: number) =>
    keptBlock(bytes, firstId, (objects) => embedFont(objects, tables, bytes));
  const cutFonts = rememberedCuts((glyphs, isKept) => fontBytes(name, tables, glyphs, { isKept }));
  const cut: Face['embed'] = (firstId, use) => {
    use.bytes ??= cutFonts(glyphsIn(use), use.isShared);
    return blockOf(use.bytes, firstId);
  };

  function commonBytes() {
    if (commonFont === undefined) {
      const glyphs = glyphsOf(font, options.common);
      commonFont = { glyphs, bytes: fontBytes(name, tables, glyphs, { isKept: true }) };
    }
    return commonFont;
  }

  return {
    common: {
      name,
      isWhole: true,
      ascent,
      descent,
      scale,
      shape,
      covers: (codePoint) => isCommon.has(codePoint) && covers(codePoint),
      embed(firstId, use) {
        const { glyphs, bytes } = commonBytes();
        // A mark on a common letter is drawn by a glyph of its own.
        return areAllOf(glyphs, use) ? blockOf(bytes, firstId) : cut(firstId, use);
      },
    },
    others: {
      name,
      isWhole: false,
      ascent,
      descent,
      scale,
      shape,
      covers,
      embed: cut,
    },
  };
}

/** Fonts of single documents that are remembered, each of some 15 kB. */
const cutsMax = 60;

type Cut = (glyphs: ReadonlyMap<number, string>, isKept: boolean) => FontBytes;

/** Documents of a customer draw the same glyphs, and so do customers of the same name. */
function rememberedCuts(cut: Cut): Cut {
  const known = new Map<string, FontBytes>();
  return (glyphs, isKept) => {
    const key = `${isKept} ${[...glyphs].join(' ')}`;
    let bytes = known.get(key);
    if (bytes === undefined) {
      bytes = cut(glyphs, isKept);
      if (known.size >= cutsMax) known.clear();
      known.set(key, bytes);
    }
    return bytes;
  };
}

function remembered(test: (codePoint: number) => boolean): (codePoint: number) => boolean {
  const known = new Map<number, boolean>();
  return (codePoint) => {
    let answer = known.get(codePoint);
    if (answer === undefined) {
      answer = test(codePoint);
      known.set(codePoint, answer);
    }
    return answer;
  };
}

/** A hair more than the ink of the glyphs, so that words of two lines do not touch. */
const roomAround = 30;

function withMeasures(
  word: ShapedWord,
  { scale, isSloping, tables }: { scale: number; isSloping: boolean; tables: FontTables },
): ShapedWord {
  const scaled = { ...word, advance: word.advance * scale };
  if (!isSloping) return scaled;
  const heights = word.heights ?? [];
  let ascent = 0;
  let descent = 0;
  word.glyphs.forEach((glyph, index) => {
    const { top, bottom } = tables.heightOf(glyph);
    const rise = heights[index] ?? 0;
    ascent = Math.max(ascent, rise + top);
    descent = Math.max(descent, -(rise + bottom));
  });
  return {
    ...scaled,
    ascent: (ascent + roomAround) * scale,
    descent: (descent + roomAround) * scale,
  };
}

function rememberedShapes(
  shaper: ReturnType<typeof makeShaper>,
  measured: (word: ShapedWord) => ShapedWord,
): Face['shape'] {
  const words = [wordsMax, wordsMax].map((max) => new Remembered<ShapedWord>(max));
  return (word, isRightToLeft) => {
    if (!isRightToLeft && isFigure(word)) return measured(shaper.plain(word));
    const known = words[isRightToLeft ? 1 : 0] as Remembered<ShapedWord>;
    let shaped = known.get(word);
    if (shaped === undefined) {
      const isPlain = !isRightToLeft && plainText.test(word);
      shaped = measured(isPlain ? shaper.plain(word) : shaper.complex(word, isRightToLeft));
      if (word.length <= wordLengthMax) known.set(word, shaped);
    }
    return shaped;
  };
}

function areAllOf(glyphs: ReadonlyMap<number, string>, { words }: FaceUse): boolean {
  for (const list of words) {
    for (const word of list) {
      word.isCommon ??= word.glyphs.every((glyph) => glyphs.has(glyph));
      if (!word.isCommon) return false;
    }
  }
  return true;
}

/** With the text of each. */
function glyphsIn({ words }: FaceUse): Map<number, string> {
  const found = new Map<number, string>();
  for (const list of words) {
    for (const { glyphs, texts } of list) {
      glyphs.forEach((glyph, index) => {
        if (!found.get(glyph)) found.set(glyph, texts[index] as string);
      });
    }
  }
  return found;
}

function glyphsOf(font: Font, characters: string): Map<number, string> {
  const glyphs = new Map<number, string>();
  for (const character of characters) {
    const glyph = font.nominalGlyph(character.codePointAt(0) as number);
    if (glyph !== undefined && !glyphs.has(glyph)) glyphs.set(glyph, character);
  }
  return glyphs;
}

type PlainGlyph = {
  readonly glyph: number;
  readonly code: string;
  readonly advance: number;
  readonly isCommon: boolean;
  /** Before each other letter that followed it. */
  readonly kernings: number[];
};

function newPlainGlyph(font: Font, code: number, isCommon: boolean): PlainGlyph {
  const glyph = font.nominalGlyph(code) ?? 0;
  const advance = font.glyphHAdvance(glyph);
  return { glyph, code: codeOf(glyph), advance, isCommon, kernings: [] };
}

const noSpans: ShapedWord['spans'] = [];

function makeShaper(font: Font, isCommon: ReadonlySet<number | undefined>) {
  // One buffer for all: nothing is shaped while another word is.
  const buffer = new Text();
  const withoutLigatures = [new Feature('liga', 0), new Feature('clig', 0)];
  // By the code of the letter: plain letters have small ones.
  const plainGlyphs: PlainGlyph[] = [];

  function run(text: string, isRightToLeft: boolean, features: Feature[]) {
    buffer.clearContents();
    buffer.addText(text);
    buffer.guessSegmentProperties();
    buffer.setDirection(isRightToLeft ? Direction.RTL : Direction.LTR);
    shape(font, buffer, features);
    return buffer.getGlyphInfosAndPositions() as ShapedGlyph[];
  }

  function plainGlyph(code: number): PlainGlyph {
    let found = plainGlyphs[code];
    if (found === undefined) {
      found = newPlainGlyph(font, code, isCommon.has(code));
      plainGlyphs[code] = found;
    }
    return found;
  }

  function kerning(left: number, right: number): number {
    const { advance, kernings } = plainGlyph(left);
    let found = kernings[right];
    if (found === undefined) {
      const pair = run(String.fromCharCode(left, right), false, withoutLigatures);
      found = (pair[0] as ShapedGlyph).xAdvance - advance;
      kernings[right] = found;
    }
    return found;
  }

  function plain(word: string): ShapedWord {
    const glyphs: number[] = [];
    let operands = '(';
    let advance = 0;
    let areCommon = true;
    for (let index = 0; index < word.length; index++) {
      const code = word.charCodeAt(index);
      const letter = plainGlyph(code);
      glyphs.push(letter.glyph);
      operands += letter.code;
      advance += letter.advance;
      if (!letter.isCommon) areCommon = false;
      const kern = index + 1 < word.length ? kerning(code, word.charCodeAt(index + 1)) : 0;
      if (kern === 0) continue;
      operands += `)${-kern}(`;
      advance += kern;
    }
    operands += ')';
    // A letter that is not common may still be drawn by a glyph that is.
    const isCommon = areCommon || undefined;
    return { advance, spans: noSpans, operands, glyphs, texts: word, isCommon };
  }

  /** From left to right, where Indic scripts move letters about, a word tells its text whole. */
  function complex(word: string, isRightToLeft: boolean): ShapedWord {
    const glyphs = standing(run(word, isRightToLeft, []));
    return placed(font, word, isRightToLeft ? lettersOf(word, glyphs) : [{ text: word, glyphs }]);
  }

  return { plain, complex };
}

type ShapedGlyph = {
  codepoint: number;
  cluster: number;
  xAdvance: number;
  xOffset: number;
  yOffset: number;
};

type StandingGlyph = ShapedGlyph & { readonly x: number };
type Piece = { readonly text: string | null; readonly glyphs: readonly StandingGlyph[] };

function standing(shaped: readonly ShapedGlyph[]): StandingGlyph[] {
  let advance = 0;
  return shaped.map((glyph) => {
    const x = advance + glyph.xOffset;
    advance += glyph.xAdvance;
    return { ...glyph, x };
  });
}

/**
 * Readers of PDF files reorder right-to-left letters themselves, so each letter that is drawn as
 * several glyphs carries its own text. Its dots and marks carry none.
 */
function lettersOf(word: string, shaped: readonly StandingGlyph[]): Piece[] {
  const byStart = Map.groupBy(shaped, ({ cluster }) => cluster);
  const starts = [...byStart.keys()].sort((a, b) => b - a);
  return starts.flatMap((start, index) => {
    const glyphs = byStart.get(start) as StandingGlyph[];
    if (glyphs.length === 1) return [{ text: null, glyphs }];
    const text = word.slice(start, starts[index - 1] ?? word.length);
    const isLetter = (glyph: ShapedGlyph) => glyph.xAdvance > 0;
    return [
      { text, glyphs: glyphs.filter(isLetter) },
      { text: null, glyphs: glyphs.filter((glyph) => !isLetter(glyph)) },
    ];
  });
}

/** Marks are above or below the line; glyphs of the same height are drawn in one go. */
function placed(font: Font, word: string, pieces: readonly Piece[]): ShapedWord {
  const spans: { text: string | null; parts: { rise: number; operands: string }[] }[] = [];
  const all = pieces.flatMap(({ glyphs }) => glyphs);
  // Position of the pen after the last glyph; a mark leaves it elsewhere than the text continues.
  let pen = 0;
  for (const { text, glyphs } of pieces) {
    let span = spans.at(-1);
    if (span === undefined || span.text !== null || text !== null) {
      span = { text, parts: [] };
      spans.push(span);
    }
    for (const { codepoint: glyph, x, yOffset } of glyphs) {
      const drawn = `${x === pen ? '' : pen - x}(${codeOf(glyph)})`;
      const part = span.parts.at(-1);
      if (part?.rise === yOffset) part.operands = joinedOperands(part.operands, drawn);
      else span.parts.push({ rise: yOffset, operands: drawn });
      pen = x + font.glyphHAdvance(glyph);
    }
  }
  const advance = all.reduce((sum, { xAdvance }) => sum + xAdvance, 0);
  const last = spans.at(-1)?.parts.at(-1);
  if (last !== undefined && pen !== advance) last.operands += String(pen - advance);
  const heights = all.map((one) => one.yOffset);
  const glyphs = all.map((one) => one.codepoint);
  return { advance, spans, glyphs, heights, texts: textsOf(word, pieces) };
}

/** Of a glyph that is drawn alone for a letter: that letter. */
function textsOf(word: string, pieces: readonly Piece[]): string[] {
  const glyphs = pieces.flatMap((piece) => piece.glyphs);
  const starts = [...new Set(glyphs.map(({ cluster }) => cluster))].sort((a, b) => a - b);
  const ends = new Map(starts.map((start, index) => [start, starts[index + 1] ?? word.length]));
  const counts = new Map<number, number>();
  for (const { cluster } of glyphs) counts.set(cluster, (counts.get(cluster) ?? 0) + 1);
  return glyphs.map(({ cluster }) =>
    counts.get(cluster) === 1 ? word.slice(cluster, ends.get(cluster)) : '',
  );
}

const special = /[()\\\r]/g;

/** The two bytes of a glyph inside a literal string. */
function codeOf(glyph: number): string {
  const bytes = String.fromCharCode(glyph >> 8, glyph & 0xff);
  return bytes.replace(special, (one) => (one === '\r' ? '\\r' : `\\${one}`));
}
