// Cuts a paragraph into pieces that are drawn as they are: each of one face and one direction.
import bidiFactory from 'bidi-js';
import type { Face, FaceList, ShapedWord } from './face.ts';

export type Direction = 'ltr' | 'rtl';

export type Token = {
  readonly text: string;
  readonly face: Face;
  /** Of the bidirectional algorithm: odd from right to left. */
  readonly level: number;
  readonly word: ShapedWord;
  readonly isSpace: boolean;
  readonly canBreakAfter: boolean;
};

// For Node's way of resolving, the declarations describe a module whose default is the factory.
type Factory = typeof bidiFactory extends { default: infer Inner } ? Inner : typeof bidiFactory;
const bidi = (bidiFactory as unknown as Factory)();
const rightToLeft = /[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufeff]/;
const strong = /[\p{L}\p{Nl}\u200e\u200f]/u;
const isolates = /[\u2066-\u2069]/;
/** Drawn with what they follow: marks, joiners, selectors. */
const dependent = /[\p{M}\u200c-\u200f]/u;
/** Letters, digits and signs that the first face of every list has; none is a mark. */
const plain = /^[ -~\u00a0·×–]*$/;
const replacement = 0xfffd;

/**
 * Of a paragraph in a document of the given direction. In one from right to left, a text with any
 * such letter runs that way, and codes and figures alone do not. Elsewhere the first letter tells:
 * the first that is not inside an isolated value, if there is any.
 */
export function directionOf(text: string, document: Direction): Direction {
  if (plain.test(text)) return 'ltr';
  if (document === 'rtl') return rightToLeft.test(text) ? 'rtl' : 'ltr';
  const first = strong.exec(withoutValues(text)) ?? strong.exec(text);
  return rightToLeft.test(first?.[0] ?? '') ? 'rtl' : 'ltr';
}

const isolatedValue = /[\u2066-\u2068][^\u2066-\u2069]*\u2069/g;

/** A text without its isolated values. */
export function withoutValues(text: string): string {
  if (!isolates.test(text)) return text;
  const outside = text.replace(isolatedValue, '');
  // Values may have values in them.
  return outside === text ? text : withoutValues(outside);
}

export function tokensOf(text: string, faces: FaceList, direction: Direction): Token[] {
  if (direction === 'ltr' && plain.test(text)) return plainTokens(text, faces[0]);
  const needsBidi = direction === 'rtl' || rightToLeft.test(text);
  const levels = needsBidi ? levelsOf(text, direction) : undefined;
  const tokens: Token[] = [];
  let start = 0;
  let face = faces[0];
  let piece = '';
  let last = '';
  const flush = (next: string) => {
    if (piece !== '') tokens.push(tokenOf(piece, face, levels?.[start] ?? 0, next));
    piece = '';
    last = '';
  };
  let index = 0;
  for (const character of text) {
    if (isolates.test(character)) {
      // They have done their work on the levels, and are not drawn.
      flush('');
      index += 1;
      start = index;
      continue;
    }
    const wanted = faceFor(character, faces, face, () => after(text, index));
    const drawn = wanted ? character : String.fromCharCode(replacement);
    const nextFace = wanted ?? faces[0];
    const isNew =
      nextFace !== face ||
      (levels !== undefined && levels[index] !== levels[start]) ||
      isBoundary(last, character);
    if (isNew) {
      flush(character);
      start = index;
      face = nextFace;
    }
    piece += drawn;
    last = drawn;
    index += character.length;
  }
  flush('');
  return tokens;
}

const spaceOrHyphen = /[ -]/;

/** Of one face; the level of all is 0. */
function plainTokens(text: string, face: Face): Token[] {
  if (text === '') return [];
  // Most figures.
  if (!spaceOrHyphen.test(text)) return [tokenOf(text, face, 0, '')];
  const tokens: Token[] = [];
  const pieces = text.match(/ +|[^ -]*[^ ]?/g) ?? [];
  for (let index = 0; index < pieces.length; index++) {
    const piece = pieces[index] as string;
    if (piece === '') continue;
    tokens.push(tokenOf(piece, face, 0, pieces[index + 1]?.charAt(0) ?? ''));
  }
  return tokens;
}

function tokenOf(text: string, face: Face, level: number, next: string): Token {
  const isSpace = text.charAt(0) === ' ';
  return {
    text,
    face,
    level,
    word: face.shape(text, level % 2 === 1),
    isSpace,
    canBreakAfter: isSpace || (text.endsWith('-') && isHyphenInWord(text, next)),
  };
}

function isHyphenInWord(text: string, next: string): boolean {
  return /\p{L}-$/u.test(text) && /^\p{L}/u.test(next);
}

/**
 * Between words and spaces, and after a hyphen inside a word. Only the last character of a piece is
 * looked at: looking into the piece itself would copy it for every character that is added.
 */
function isBoundary(last: string, character: string): boolean {
  if (last === '') return false;
  return (last === ' ') !== (character === ' ') || last === '-';
}

/** Longer than any paragraph of a letter. */
const levelledMax = 4_000;

/**
 * The library searches back and forth from each character, which is quadratic for hostile texts.
 * A paragraph beyond the limit is levelled part by part, each part ending with a word if it can.
 */
function levelsOf(text: string, direction: Direction): Uint8Array {
  if (text.length <= levelledMax) return bidi.getEmbeddingLevels(text, direction).levels;
  const levels = new Uint8Array(text.length);
  for (let from = 0; from < text.length; ) {
    const to = partEnd(text, from);
    levels.set(bidi.getEmbeddingLevels(text.slice(from, to), direction).levels, from);
    from = to;
  }
  return levels;
}

function partEnd(text: string, from: number): number {
  const end = from + levelledMax;
  if (end >= text.length) return text.length;
  const space = text.lastIndexOf(' ', end - 1);
  if (space > from + levelledMax / 2) return space + 1;
  // Both halves of a character stay together.
  return /[\udc00-\udfff]/.test(text.charAt(end)) ? end - 1 : end;
}

/** What is drawn after the character at `index`. */
function after(text: string, index: number): string {
  let at = index + 1;
  while (isolates.test(text.charAt(at))) at++;
  return text.charAt(at);
}

function faceFor(
  character: string,
  faces: FaceList,
  previous: Face,
  next: () => string,
): Face | undefined {
  if (dependent.test(character)) return previous;
  if (character === ' ') {
    // A hand whose own words are close together has a narrow space: too narrow before another.
    const following = previous === faces[0] ? '' : next();
    const isEnd = following === '' || following === ' ' || dependent.test(following);
    return isEnd || coveringFace(following, faces) === previous ? previous : faces[0];
  }
  return coveringFace(character, faces);
}

function coveringFace(character: string, faces: FaceList): Face | undefined {
  const codePoint = character.codePointAt(0) as number;
  return faces.find((face) => face.covers(codePoint));
}
