// Pieces of a page: items whose y counts from the top of the piece, and its height.
import type { PageItem } from '../../../base/pdf/page.ts';
import { setLine, setLines, type TextStyle } from '../../../base/typeset/lines.ts';
import type { Sheet } from './sheet.ts';

export type Block = { readonly height: number; readonly items: readonly PageItem[] };

export type TextOptions = {
  readonly x: number;
  readonly width: number;
  readonly size: number;
  readonly isBold?: boolean;
  readonly color?: string;
  readonly align?: 'start' | 'end' | 'center';
  readonly linesMax?: number;
  /** On one line, in a smaller size if it must be: for amounts, of which no figure may be lost. */
  readonly isFitted?: boolean;
};

export const emptyBlock: Block = { height: 0, items: [] };

/** Fields may hold thousands of characters; on paper, this many lines of each. */
const linesMaxUsual = 4;

export function textBlock(sheet: Sheet, text: string, options: TextOptions): Block {
  if (text === '') return emptyBlock;
  const { x, width, align = 'start', color = sheet.colors.text } = options;
  const faces = options.isBold ? sheet.typefaces.bold : sheet.typefaces.regular;
  const wanted = options.size * sheet.scale;
  const size = options.isFitted ? fittedSize(sheet, text, { faces, size: wanted }, width) : wanted;
  const lines = setLines(
    text,
    { faces, size },
    { width, direction: sheet.direction, linesMax: options.linesMax ?? linesMaxUsual },
  );
  const items: PageItem[] = [];
  let y = 0;
  for (const line of lines) {
    const room = width - line.width;
    const shift = align === 'start' ? 0 : align === 'end' ? room : room / 2;
    const height = line.ascent + line.descent;
    items.push({ kind: 'text', x: x + shift, y, width: line.width, height, line, size, color });
    y += height;
  }
  return { height: y, items };
}

const fittedSizeMin = 5;

function fittedSize(sheet: Sheet, text: string, style: TextStyle, width: number): number {
  const { size } = style;
  const line = setLine(text, style, sheet.direction);
  // A hair less, since what is measured and what is set are rounded apart.
  return line.width <= width ? size : Math.max(fittedSizeMin, (size * width * 0.999) / line.width);
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

export function movedBy(items: readonly PageItem[], down: number): PageItem[] {
  return down === 0 ? [...items] : items.map((item) => ({ ...item, y: item.y + down }));
}

/** One below the other. */
export function stack(blocks: readonly Block[], gap = 0): Block {
  const items: PageItem[] = [];
  let y = 0;
  for (const block of blocks) {
    if (block.height === 0 && block.items.length === 0) continue;
    if (items.length > 0) y += gap;
    items.push(...movedBy(block.items, y));
    y += block.height;
  }
  return { height: y, items };
}

/** Side by side: each has its own x. */
export function beside(blocks: readonly Block[]): Block {
  return {
    height: Math.max(0, ...blocks.map((block) => block.height)),
    items: blocks.flatMap((block) => block.items),
  };
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
    items: [{ kind: 'fill', x, y: 0, width, height, color }, ...movedBy(block.items, above)],
  };
}
