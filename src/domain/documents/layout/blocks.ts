// Pieces of a page, each made of items and of other pieces further down. Items are put in their
// places once, when the piece is: pieces are nested deep, and copying at each level costs most of
// a layout.
import type { PageItem } from '../../../base/pdf/page.ts';
import { setLine, setLines, type TextLine, type TextStyle } from '../../../base/typeset/lines.ts';
import { isFigure, Remembered } from '../../../base/typeset/remembered.ts';
import { type Direction, withoutValues } from '../../../base/typeset/tokens.ts';
import { hasRightToLeft } from '../plain-text.ts';
import { halvesOf } from '../two-languages.ts';
import type { Sheet } from './sheet.ts';

export type Block = {
  readonly height: number;
  /** Their y counts from the top of the block. */
  readonly items: readonly PageItem[];
  readonly parts?: readonly { readonly down: number; readonly block: Block }[];
  /** Of its first line of text, from the top. */
  readonly baseline?: number;
};

export type TextOptions = {
  readonly x: number;
  readonly width: number;
  readonly size: number;
  readonly isBold?: boolean;
  readonly color?: string;
  readonly align?: 'start' | 'end' | 'center';
  readonly linesMax?: number;
  /** Unless given, that of the sheet. */
  readonly direction?: Direction;
  /** Two languages below each other, though there is room beside. */
  readonly isStacked?: boolean;
  /** On one line, in a smaller size if it must be: for amounts, of which no figure may be lost. */
  readonly isFitted?: boolean;
};

export const emptyBlock: Block = { height: 0, items: [] };

/** Fields may hold thousands of characters; on paper, this many lines of each. */
const linesMaxUsual = 4;

/** Longer ones are hardly on another bill. */
const rememberedLengthMax = 200;
/** Of a sheet: a bill has some hundred that are on others too. */
const rememberedTextsMax = 2_000;
/** Of one text. */
const settingsMax = 5;

/** What is drawn for a text: most are at the same place of every bill. */
type Setting = { readonly options: TextOptions; readonly block: Block };

const settingsOf = new WeakMap<Sheet, Remembered<Setting[]>>();

export function textBlock(sheet: Sheet, text: string, options: TextOptions): Block {
  if (text === '') return emptyBlock;
  if (text.length > rememberedLengthMax || isFigure(text)) return newText(sheet, text, options);
  let known = settingsOf.get(sheet);
  if (known === undefined) {
    known = new Remembered(rememberedTextsMax);
    settingsOf.set(sheet, known);
  }
  const settings = known.get(text);
  // A key of all options would take longer to make than to compare.
  for (const setting of settings ?? []) {
    if (areAlike(setting.options, options)) return setting.block;
  }
  const block = newText(sheet, text, options);
  if (settings === undefined) known.set(text, [{ options, block }]);
  else {
    if (settings.length >= settingsMax) settings.length = 0;
    settings.push({ options, block });
  }
  return block;
}

function areAlike(one: TextOptions, other: TextOptions): boolean {
  return (
    one.x === other.x &&
    one.width === other.width &&
    one.size === other.size &&
    one.isBold === other.isBold &&
    one.color === other.color &&
    one.align === other.align &&
    one.linesMax === other.linesMax &&
    one.direction === other.direction &&
    one.isStacked === other.isStacked &&
    one.isFitted === other.isFitted
  );
}

/** A text in two languages is set side by side if there is room, otherwise one below the other. */
function newText(sheet: Sheet, text: string, options: TextOptions): Block {
  const [first, second] = halvesOf(text);
  return second === undefined
    ? oneText(sheet, first, options)
    : bothTexts(sheet, [first, second], options);
}

/** Between two languages on one line. */
const languageGap = 6;

function bothTexts(
  sheet: Sheet,
  [first, second]: readonly [string, string],
  options: TextOptions,
): Block {
  const { align = 'start', isStacked = false } = options;
  const blocks = [
    oneText(sheet, first, options),
    oneText(sheet, second, {
      ...options,
      direction: ownDirection(second),
      align: align === 'start' && !isStacked ? 'end' : align,
    }),
  ] as const;
  const [one, other] = blocks.map(({ items }) =>
    items.length === 1 ? items[0]?.width : undefined,
  );
  const isBeside =
    align === 'start' &&
    !isStacked &&
    one !== undefined &&
    other !== undefined &&
    one + other + languageGap <= options.width;
  return isBeside ? onLine(blocks) : stack(blocks);
}

/** Of a text in the second language: that of its own letters, whatever values are in it. */
export function ownDirection(text: string): Direction {
  return hasRightToLeft(withoutValues(text)) ? 'rtl' : 'ltr';
}

function oneText(sheet: Sheet, text: string, options: TextOptions): Block {
  if (text === '') return emptyBlock;
  const { x, width, align = 'start', color = sheet.colors.text } = options;
  const faces = options.isBold ? sheet.typefaces.bold : sheet.typefaces.regular;
  const { lines, size } = linesOf(sheet, text, options, {
    faces,
    size: options.size * sheet.scale,
  });
  const items: PageItem[] = [];
  let y = 0;
  for (const line of lines) {
    const room = width - line.width;
    const shift = align === 'start' ? 0 : align === 'end' ? room : room / 2;
    const height = line.ascent + line.descent;
    items.push({ kind: 'text', x: x + shift, y, width: line.width, height, line, size, color });
    y += height;
  }
  const [first] = lines;
  return first === undefined ? { height: y, items } : { height: y, items, baseline: first.ascent };
}

const fittedSizeMin = 5;
/** Words that are wider than this many times their place are not set smaller. */
const wordsShrinkMax = 1.3;
/** Vowels of Indic scripts are marks. */
const longWord = /[\p{L}\p{M}]{4}/u;

function linesOf(
  sheet: Sheet,
  text: string,
  options: TextOptions,
  style: TextStyle,
): { lines: readonly TextLine[]; size: number } {
  const { width, linesMax = linesMaxUsual } = options;
  const direction = options.direction ?? sheet.direction;
  const wanted = { width, direction, linesMax };
  if (!options.isFitted) return { lines: setLines(text, style, wanted), size: style.size };
  const line = setLine(text, style, direction);
  if (line.width <= width) return { lines: [line], size: style.size };
  // Words can be wrapped, other than figures.
  if (linesMax > 1 && line.width > width * wordsShrinkMax && longWord.test(text)) {
    return { lines: setLines(text, style, wanted), size: style.size };
  }
  // A hair less, since what is measured and what is set are rounded apart.
  const size = Math.max(fittedSizeMin, (style.size * width * 0.999) / line.width);
  return { lines: setLines(text, { ...style, size }, wanted), size };
}

export function ruleBlock(
  sheet: Sheet,
  options: { x: number; width: number; thickness: number; color?: string; isDashed?: boolean },
): Block {
  const { x, width, thickness, color = sheet.colors.rule, isDashed = false } = options;
  return {
    height: thickness,
    items: [{ kind: 'rule', x, y: 0, width, height: thickness, color, isDashed }],
  };
}

export function spaceBlock(height: number): Block {
  return { height, items: [] };
}

/** One below the other. */
export function stack(blocks: readonly Block[], gap = 0): Block {
  const parts: { down: number; block: Block }[] = [];
  let y = 0;
  for (const block of blocks) {
    if (block === emptyBlock) continue;
    if (parts.length > 0) y += gap;
    parts.push({ down: y, block });
    y += block.height;
  }
  const baseline = parts[0]?.block.baseline;
  return { height: y, items: [], parts, ...(baseline !== undefined && { baseline }) };
}

/** Side by side: each has its own x. */
export function beside(blocks: readonly Block[]): Block {
  let height = 0;
  for (const block of blocks) height = Math.max(height, block.height);
  return { height, items: [], parts: blocks.map((block) => ({ down: 0, block })) };
}

/** Side by side, with their first lines of text on one line: of scripts of unlike height. */
export function onLine(blocks: readonly Block[]): Block {
  let lowest = 0;
  for (const { baseline = 0 } of blocks) lowest = Math.max(lowest, baseline);
  let height = 0;
  const parts = blocks.map((block) => {
    const down = block.baseline === undefined ? 0 : lowest - block.baseline;
    height = Math.max(height, down + block.height);
    return { down, block };
  });
  return { height, items: [], parts, baseline: lowest };
}

/** The same with room below. */
export function withRoom(block: Block, below: number): Block {
  return block === emptyBlock ? block : { ...block, height: block.height + below };
}

/** With room above and below, on a coloured ground as wide as given. */
export function onGround(
  block: Block,
  options: { x: number; width: number; color: string; above: number; below: number },
): Block {
  const { x, width, color, above, below } = options;
  const height = above + block.height + below;
  return {
    height,
    items: [{ kind: 'fill', x, y: 0, width, height, color }],
    parts: [{ down: above, block }],
  };
}

/** Field by field where there are many: copying a whole object takes several times as long. */
function lower(item: PageItem, down: number): PageItem {
  const { x, width, height } = item;
  const y = item.y + down;
  if (item.kind === 'text') {
    const { kind, line, size, color } = item;
    return { kind, x, y, width, height, line, size, color };
  }
  if (item.kind === 'rule') {
    const { kind, color, isDashed } = item;
    return { kind, x, y, width, height, color, isDashed };
  }
  if (item.kind === 'fill') return { kind: 'fill', x, y, width, height, color: item.color };
  return { ...item, y };
}

/** Puts what a block is made of onto a page. */
export function putItems(block: Block, down: number, page: PageItem[]): void {
  for (const item of block.items) page.push(lower(item, down));
  for (const part of block.parts ?? []) putItems(part.block, down + part.down, page);
}
