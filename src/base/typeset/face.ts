// A face is a font in one weight, as far as setting text needs it. Widths are thousandths of the
// font size. Nothing here depends on a document, so that faces and shaped words are shared by all.
import type { ObjectBlock } from '../pdf/objects.ts';
import type { FontBytes } from './embed-font.ts';

/** Glyphs in the order they are drawn, ready for a content stream at any size. */
export type ShapedWord = {
  /** How far the pen moves. */
  readonly advance: number;
  readonly spans: readonly GlyphSpan[];
  /** In place of spans: of letters on the line, each drawn by its own glyph. */
  readonly operands?: string;
  readonly glyphs: readonly number[];
  /** Of each glyph above the line; absent if all are on it. */
  readonly heights?: readonly number[];
  /** The text of each glyph; empty if a span has it. A word of plain letters is its own list. */
  readonly texts: string | readonly string[];
  /** How far it goes above and below the line, of a face whose words differ much in that. */
  readonly ascent?: number;
  readonly descent?: number;
  /** All its glyphs are common ones of its font; absent until it was asked for. */
  isCommon?: boolean | undefined;
};

export type GlyphSpan = {
  /** For copying and search, where the glyphs by themselves do not tell. */
  readonly text: string | null;
  /** What is drawn without a pause: operands of TJ, with the height above the line (text rise). */
  readonly parts: readonly GlyphPart[];
};

export type GlyphPart = { readonly rise: number; readonly operands: string };

/** Two strings that follow each other without a gap are one. */
export function joinedOperands(first: string, second: string): string {
  const areStrings = first.endsWith(')') && second.startsWith('(');
  return areStrings ? first.slice(0, -1) + second.slice(1) : first + second;
}

/** What a document draws with a face, or several documents that embed the same glyphs. */
export type FaceUse = {
  readonly face: Face;
  /** Each list once: a line that is remembered is on bill after bill. */
  readonly words: Set<readonly ShapedWord[]>;
  readonly isShared: boolean;
  /** Cut when the first of the documents embeds them: by then all are drawn. */
  bytes?: FontBytes;
};

export type Face = {
  readonly name: string;
  /** It holds the same glyphs in every document, whatever that draws. */
  readonly isWhole: boolean;
  /** Room above and below the baseline that lines of this face need. */
  readonly ascent: number;
  readonly descent: number;
  /** Of the size of the text around it; 1 unless given. Words are measured with it. */
  readonly scale?: number;
  covers(codePoint: number): boolean;
  shape(word: string, isRightToLeft: boolean): ShapedWord;
  /** The font's dictionary, and what it refers to. */
  embed(firstId: number, use: FaceUse): ObjectBlock;
};

/** Faces of one weight; a character is drawn by the first that covers it. */
export type FaceList = readonly [Face, ...Face[]];

/** What text is set in. */
export type Typefaces = {
  readonly regular: FaceList;
  readonly bold: FaceList;
  /** Lines of it have room of their own: pages need less between them. */
  readonly isSloping?: boolean;
};
