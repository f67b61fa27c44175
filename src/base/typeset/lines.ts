// Sets text in lines of a given width.
import type { Face, FaceList, ShapedWord } from './face.ts';
import { type Direction, directionOf, type Token, tokensOf } from './tokens.ts';

/** What is drawn with one face, from left to right. */
export type Run = {
  readonly face: Face;
  readonly words: readonly ShapedWord[];
  /** What draws it, once it was drawn: remembered lines are on bill after bill. */
  drawn?: { readonly size: number; readonly content: string };
};

/** Measures are points. */
export type TextLine = {
  readonly width: number;
  readonly ascent: number;
  readonly descent: number;
  readonly runs: readonly Run[];
};

export type TextStyle = { readonly faces: FaceList; readonly size: number };

export type LinesWanted = {
  readonly width: number;
  /** Where the text itself does not tell. */
  readonly direction: Direction;
  /** What does not fit ends in an ellipsis. */
  readonly linesMax: number;
};

const ellipsis = '…';
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** Of one or more paragraphs, each on lines of its own. */
export function setLines(text: string, style: TextStyle, wanted: LinesWanted): TextLine[] {
  const lines: TextLine[] = [];
  for (const paragraph of text.split('\n')) {
    const room = wanted.linesMax - lines.length;
    if (room <= 0) break;
    for (const line of setParagraph(paragraph, style, { ...wanted, linesMax: room })) {
      lines.push(line);
    }
  }
  return lines;
}

/** On one line, however long. */
export function setLine(text: string, style: TextStyle, direction: Direction): TextLine {
  const tokens = tokensOf(text, style.faces, directionOf(text, direction));
  return lineOf(tokens, style);
}

function setParagraph(text: string, style: TextStyle, wanted: LinesWanted): TextLine[] {
  const direction = directionOf(text, wanted.direction);
  // Of a text far longer than its lines, the rest is not even looked at.
  const charactersMax = Math.ceil((wanted.linesMax * wanted.width * 8) / style.size);
  const tokens = tokensOf(text.slice(0, charactersMax), style.faces, direction);
  const unit = style.size / 1000;
  const widthMax = wanted.width / unit;
  const rows = fillRows(tokens, widthMax, wanted.linesMax + 1);
  if (rows.length > wanted.linesMax) {
    rows.length = wanted.linesMax;
    const last = rows[wanted.linesMax - 1] as readonly Token[];
    rows[wanted.linesMax - 1] = shortened(last, style.faces, direction, widthMax);
  }
  return rows.map((row) => lineOf(row, style));
}

function advanceOf(tokens: readonly Token[]): number {
  let sum = 0;
  for (const token of tokens) sum += token.word.advance;
  return sum;
}

function fillRows(
  tokens: readonly Token[],
  widthMax: number,
  rowsMax: number,
): (readonly Token[])[] {
  if (advanceOf(tokens) <= widthMax) return [tokens];
  const rows: Token[][] = [];
  let row: Token[] = [];
  let width = 0;
  const end = () => {
    rows.push(row);
    row = [];
    width = 0;
  };
  for (const unit of breakableUnits(tokens)) {
    const own = advanceOf(unit.filter((token) => !token.isSpace));
    if (row.length > 0 && width + own > widthMax) end();
    for (const token of own > widthMax ? cut(unit, widthMax) : unit) {
      if (row.length === 0 && token.isSpace) continue;
      if (row.length > 0 && !token.isSpace && width + token.word.advance > widthMax) {
        if (own > widthMax) end();
      }
      row.push(token);
      width += token.word.advance;
    }
    if (rows.length >= rowsMax) return rows;
  }
  if (row.length > 0 || rows.length === 0) end();
  return rows;
}

/** Tokens that stay together, each unit with the space that follows it. */
function breakableUnits(tokens: readonly Token[]): Token[][] {
  const units: Token[][] = [];
  let unit: Token[] = [];
  for (const token of tokens) {
    unit.push(token);
    if (!token.canBreakAfter) continue;
    units.push(unit);
    unit = [];
  }
  if (unit.length > 0) units.push(unit);
  return units;
}

/** A word wider than the line is cut between characters. */
function cut(unit: readonly Token[], widthMax: number): Token[] {
  return unit.flatMap((token) => {
    if (token.isSpace || token.word.advance <= widthMax) return [token];
    const isRightToLeft = token.level % 2 === 1;
    const pieces: Token[] = [];
    let piece = '';
    let width = 0;
    const flush = () => {
      if (piece === '') return;
      pieces.push({ ...token, text: piece, word: token.face.shape(piece, isRightToLeft) });
      piece = '';
      width = 0;
    };
    for (const { segment } of graphemes.segment(token.text)) {
      const { advance } = token.face.shape(segment, isRightToLeft);
      if (width + advance > widthMax) flush();
      piece += segment;
      width += advance;
    }
    flush();
    return pieces;
  });
}

/** No line is wide enough for more. */
const lettersMax = 400;

function shortened(
  row: readonly Token[],
  faces: FaceList,
  direction: Direction,
  widthMax: number,
): Token[] {
  const sign = tokensOf(ellipsis, faces, direction);
  const signWidth = advanceOf(sign);
  const kept = [...row];
  let width = advanceOf(kept);
  while (width + signWidth > widthMax) {
    const last = kept.pop();
    if (last === undefined) break;
    width = advanceOf(kept);
    const beginning = last.isSpace
      ? undefined
      : fittingBeginning(last, (advance) => width + advance + signWidth <= widthMax);
    if (beginning) return [...kept, beginning, ...sign];
  }
  return [...kept, ...sign];
}

/** With as few letters less as will do, but at least one. */
function fittingBeginning(token: Token, fits: (advance: number) => boolean): Token | undefined {
  const letters = [...graphemes.segment(token.text)].map(({ segment }) => segment);
  for (let count = Math.min(letters.length - 1, lettersMax); count > 0; count--) {
    const text = letters.slice(0, count).join('');
    const word = token.face.shape(text, token.level % 2 === 1);
    if (fits(word.advance)) return { ...token, text, word };
  }
  return undefined;
}

function lineOf(tokens: readonly Token[], style: TextStyle): TextLine {
  let end = tokens.length;
  while (end > 0 && tokens[end - 1]?.isSpace) end--;
  const drawn = inVisualOrder(end === tokens.length ? tokens : tokens.slice(0, end));
  const unit = style.size / 1000;
  const runs: { face: Face; words: ShapedWord[] }[] = [];
  let advance = 0;
  let ascent = style.faces[0].ascent;
  let descent = style.faces[0].descent;
  for (const { face, word } of drawn) {
    advance += word.advance;
    ascent = Math.max(ascent, word.ascent ?? face.ascent);
    descent = Math.max(descent, word.descent ?? face.descent);
    const run = runs.at(-1);
    if (run?.face === face) run.words.push(word);
    else runs.push({ face, words: [word] });
  }
  return { width: advance * unit, ascent: ascent * unit, descent: descent * unit, runs };
}

/** Rule L2 of the bidirectional algorithm: from the highest level down, reverse what is above. */
function inVisualOrder(tokens: readonly Token[]): readonly Token[] {
  let highest = 0;
  for (const { level } of tokens) highest = Math.max(highest, level);
  if (highest === 0) return tokens;
  const ordered = [...tokens];
  for (let level = highest; level > 0; level--) {
    let from = 0;
    while (from < ordered.length) {
      let to = from;
      while (to < ordered.length && (ordered[to] as Token).level >= level) to++;
      for (let low = from, high = to - 1; low < high; low++, high--) {
        const moved = ordered[low] as Token;
        ordered[low] = ordered[high] as Token;
        ordered[high] = moved;
      }
      from = Math.max(to, from + 1);
    }
  }
  return ordered;
}
