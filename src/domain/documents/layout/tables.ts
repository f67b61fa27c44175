// Tables that go on over pages, with their headings repeated.

import { setLine } from '../../../base/typeset/lines.ts';
import {
  type Block,
  onGround,
  onLine,
  ruleBlock,
  spaceBlock,
  stack,
  type TextOptions,
  textBlock,
  withRoom,
} from './blocks.ts';
import type { Flow } from './flow.ts';
import { type Sheet, sizes } from './sheet.ts';

export type Column = {
  readonly heading: string;
  /** Part of the table's width. */
  readonly part: number;
  readonly align: 'start' | 'end';
};

export type PlacedColumn = Column & {
  readonly x: number;
  readonly width: number;
  /** Where its figures are, if not over the whole width. */
  readonly figures?: { readonly x: number; readonly width: number };
};

const cellGap = 6;

export function placeColumns(sheet: Sheet, columns: readonly Column[]): PlacedColumn[] {
  const whole = sheet.right - sheet.left;
  let x = sheet.left;
  return columns.map((column, index) => {
    const width = whole * column.part;
    const isFirst = index === 0;
    const placed = {
      ...column,
      x: x + (isFirst ? 4 : cellGap / 2),
      width: width - (isFirst ? 4 : 0) - cellGap / 2 - (index === columns.length - 1 ? 4 : 0),
    };
    x += width;
    return placed;
  });
}

/**
 * On a page from right to left too, figures of a column end below each other on the right: the
 * widest of them takes the end of the column, and the others begin where it does.
 */
export function withFigures(
  sheet: Sheet,
  columns: readonly PlacedColumn[],
  rows: readonly (readonly Cell[])[],
): PlacedColumn[] {
  if (sheet.direction === 'ltr') return [...columns];
  return columns.map((column, index) => {
    const cells = rows.map((cells) => cells[index] ?? { text: '' });
    if (column.align !== 'end') return column;
    const place = cells.some((cell) => cell.beside) ? besideNote(column) : column;
    const figures = figuresPlace(sheet, place, cells, sizes.table);
    return figures === undefined ? column : { ...column, figures };
  });
}

/** Of cells that end their place; undefined where one takes all of it. */
export function figuresPlace(
  sheet: Sheet,
  place: { x: number; width: number },
  cells: readonly Cell[],
  size: number,
): { x: number; width: number } | undefined {
  let widest = 0;
  for (const { text, isBold = false } of cells) {
    const faces = isBold ? sheet.typefaces.bold : sheet.typefaces.regular;
    const { width } = setLine(text, { faces, size: size * sheet.scale }, sheet.direction);
    widest = Math.max(widest, width);
  }
  if (widest === 0 || widest >= place.width) return undefined;
  return { x: place.x + place.width - widest, width: widest + hair };
}

/** What is measured and what is set are rounded apart. */
const hair = 0.01;

/** Without columns that no row has a value in; their room goes to the first one. */
export function usedColumns(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
): { columns: Column[]; rows: Cell[][] } {
  const isUsed = columns.map((_, index) => rows.some((cells) => cells[index]?.text !== ''));
  const used = columns.filter((_, index) => isUsed[index]);
  const [first, ...others] = used;
  const rest = others.reduce((sum, column) => sum + column.part, 0);
  return {
    columns: first === undefined ? [] : [{ ...first, part: 1 - rest }, ...others],
    rows: rows.map((cells) => cells.filter((_, index) => isUsed[index])),
  };
}

export function headingRow(sheet: Sheet, columns: readonly PlacedColumn[]): Block {
  const cells = columns.map(({ heading, x, width, align }) =>
    textBlock(sheet, heading, {
      x,
      width,
      align,
      size: sizes.small,
      isBold: true,
      color: sheet.colors.accent,
      isStacked: true,
    }),
  );
  return onGround(onLine(cells), {
    x: sheet.left,
    width: sheet.right - sheet.left,
    color: sheet.colors.tint,
    above: 3 * sheet.room,
    below: 3 * sheet.room,
  });
}

export type Cell = {
  readonly text: string;
  /** Smaller, before the text and on its line: a date, say. */
  readonly beside?: string;
  readonly below?: string;
  readonly isBold?: boolean;
};

export function tableRow(
  sheet: Sheet,
  columns: readonly PlacedColumn[],
  cells: readonly Cell[],
  hasRule = true,
): Block {
  const blocks = columns.map((column, index) => {
    const { align } = column;
    const { x, width } = column.figures ?? column;
    const { text, below = '', isBold = false, beside: note = '' } = cells[index] ?? { text: '' };
    // Figures are aligned to the end of their columns.
    const isFitted = align === 'end';
    // Mirrored, their start is on the right, where figures end.
    const side = column.figures === undefined ? align : 'start';
    const main = { x, width, align: side, size: sizes.table, isBold, isFitted };
    return stack([
      note === '' ? textBlock(sheet, text, main) : pairOf(sheet, note, text, { column, main }),
      textBlock(sheet, below, {
        x: column.x,
        width: column.width,
        align,
        size: sizes.small,
        color: sheet.colors.muted,
      }),
    ]);
  });
  const row = withRoom(lowered(sheet, onLine(blocks)), 2.5 * sheet.room);
  return hasRule ? ruled(sheet, row) : row;
}

/** Words of a sloping hand are of unlike height. Their rows are about as high as each other. */
function lowered(sheet: Sheet, row: Block): Block {
  if (!sheet.typefaces.isSloping || sheet.scale < 1) return row;
  const missing = sizes.table * slopingAscent - (row.baseline ?? 0);
  return missing <= 0 ? row : stack([spaceBlock(missing), row]);
}

/** Of most words, as a part of their size. */
const slopingAscent = 1.4;

const notePart = 0.55;

function besideNote({ x, width }: PlacedColumn): { x: number; width: number } {
  return { x: x + width * notePart, width: width * (1 - notePart) };
}

function pairOf(
  sheet: Sheet,
  note: string,
  text: string,
  { column, main }: { column: PlacedColumn; main: TextOptions },
): Block {
  const indent = 10;
  const place = column.figures === undefined ? besideNote(column) : {};
  return onLine([
    textBlock(sheet, note, {
      x: column.x + indent,
      width: column.width * notePart - indent - cellGap / 2,
      size: sizes.small,
      color: sheet.colors.muted,
      linesMax: 2,
    }),
    textBlock(sheet, text, { ...main, ...place, isFitted: true }),
  ]);
}

/** A hairline above: between rows, and under the heading. */
function ruled(sheet: Sheet, row: Block): Block {
  const rule = ruleBlock(sheet, {
    x: sheet.left,
    width: sheet.right - sheet.left,
    thickness: 0.4,
  });
  return stack([rule, row], 1.5 * sheet.room);
}

/** The heading is never left alone at the foot of a page. */
export function addTable(
  flow: Flow,
  table: { title: Block; heading: Block; rows: readonly Block[]; gapBefore: number },
): void {
  const { title, heading, rows, gapBefore } = table;
  const first = rows[0]?.height ?? 0;
  const needed = gapBefore + title.height + heading.height + first;
  if (flow.fits(needed)) flow.add(title, gapBefore);
  else {
    flow.newPage();
    flow.add(title);
  }
  flow.add(heading);
  for (const row of rows) {
    if (!flow.fits(row.height)) {
      flow.newPage();
      flow.add(heading);
    }
    flow.add(row);
  }
}
