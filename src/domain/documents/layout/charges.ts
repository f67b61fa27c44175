// Readings and charges of each section.
import type { BillView } from '../bill-view.ts';
import type { SectionView } from '../charges-view.ts';
import type { ChargeRow } from '../lines-view.ts';
import { joined } from '../wording.ts';
import { type Block, emptyBlock, onLine, stack, textBlock, withRoom } from './blocks.ts';
import type { Flow } from './flow.ts';
import { type Sheet, sizes } from './sheet.ts';
import {
  addTable,
  type Cell,
  headingRow,
  type PlacedColumn,
  placeColumns,
  tableRow,
  usedColumns,
  withFigures,
} from './tables.ts';

/** Less where type is smaller, to save a page. */
function gapBetweenTables({ scale }: Sheet): number {
  return scale < 1 ? 6 : 10;
}

export function addSections(flow: Flow, sheet: Sheet, view: BillView): void {
  for (const section of view.sections) {
    const heading =
      section.heading === null ? emptyBlock : title(sheet, section.heading, { isSection: true });
    const usage = usageBlock(sheet, view, section);
    const hasReadings = section.readings.length > 0;
    const hasCharges = section.groups.length > 0 || section.subtotal !== null;
    const isListed = usage === null || (usage !== emptyBlock && !hasReadings && !hasCharges);
    const shown = isListed ? emptyBlock : usage;
    if (hasReadings) addReadings(flow, sheet, view, section, { heading, usage: shown });
    if (isListed) addUsage(flow, sheet, view, section, hasReadings ? emptyBlock : heading);
    const isBegun = hasReadings || isListed;
    const begin = isBegun ? nothing : { heading, usage: shown };
    if (hasCharges) addCharges(flow, sheet, view, section, begin);
  }
}

/** Printed with the title of the first table of a section: above it, and at its other end. */
type Beginning = { readonly heading: Block; readonly usage: Block };

const nothing: Beginning = { heading: emptyBlock, usage: emptyBlock };
/** Of the width, before what was used. */
const titlePart = 0.3;
/** The most lines next to the title of a table; longer usage has its own table. */
const usageLinesMax = 4;

function title(
  sheet: Sheet,
  text: string,
  options: { isSection?: boolean; width?: number } = {},
): Block {
  const { isSection = false, width = sheet.right - sheet.left } = options;
  const block = textBlock(sheet, text, {
    x: sheet.left,
    width,
    size: isSection ? sizes.name : sizes.heading,
    isBold: true,
    color: isSection ? sheet.colors.text : sheet.colors.accent,
    linesMax: 2,
  });
  return withRoom(block, 3);
}

function addReadings(
  flow: Flow,
  sheet: Sheet,
  view: BillView,
  section: SectionView,
  begin: Beginning,
): void {
  const { labels } = view;
  const { columns, rows } = usedColumns(
    [
      { heading: labels.meter, part: 0.15, align: 'start' },
      { heading: labels.register, part: 0.11, align: 'start' },
      { heading: labels.previous, part: 0.22, align: 'end' },
      { heading: labels.current, part: 0.22, align: 'end' },
      { heading: labels.factor, part: 0.07, align: 'end' },
      { heading: labels.consumption, part: 0.1, align: 'end' },
      { heading: labels.readingType, part: 0.13, align: 'end' },
    ],
    section.readings.map((row) => [
      { text: row.meter },
      { text: row.register },
      { text: row.previous, beside: row.previousDate },
      { text: row.current, beside: row.currentDate },
      { text: row.factor },
      { text: row.consumption, isBold: true },
      { text: row.type, below: row.rollover },
    ]),
  );
  const placed = withFigures(sheet, placeColumns(sheet, columns), rows);
  addTable(flow, {
    title: beginning(sheet, begin, labels.readings),
    heading: headingRow(sheet, placed),
    rows: rows.map((cells) => tableRow(sheet, placed, cells)),
    gapBefore: gapBetweenTables(sheet),
  });
}

function addCharges(
  flow: Flow,
  sheet: Sheet,
  view: BillView,
  section: SectionView,
  begin: Beginning,
): void {
  const { labels } = view;
  const { columns } = usedColumns(
    [
      { heading: labels.description, part: 0.5, align: 'start' },
      { heading: labels.quantity, part: 0.18, align: 'end' },
      { heading: labels.rate, part: 0.13, align: 'end' },
      { heading: view.amountHeading, part: 0.19, align: 'end' },
    ],
    [...rowsOf(section).map(cellsOf), [{ text: '-' }, none, none, { text: '-' }]],
  );
  const has = (heading: string) => columns.some((column) => column.heading === heading);
  const isShown = [true, has(labels.quantity), has(labels.rate), true];
  const shown = (cells: readonly Cell[]) => cells.filter((_, index) => isShown[index]);
  const sum = { text: section.subtotal ?? '', isBold: true };
  const sumCells = [{ text: labels.subtotal, isBold: true }, none, none, sum];
  const all = [...rowsOf(section).map(cellsOf), sumCells].map(shown);
  const placed = withFigures(sheet, placeColumns(sheet, columns), all);
  const rows = section.groups.flatMap((group, index) => {
    const blocks = group.rows.flatMap((row) => [
      tableRow(sheet, placed, shown(cellsOf(row))),
      ...stepBlocks(sheet, placed, row.steps),
    ]);
    if (index === 0) return blocks;
    const heading = groupHeading(sheet, group.heading);
    // One block with its first line, so that no page ends with a heading.
    return [stack([heading, blocks[0] ?? emptyBlock]), ...blocks.slice(1)];
  });
  if (section.subtotal !== null) rows.push(tableRow(sheet, placed, shown(sumCells)));
  addTable(flow, {
    title: beginning(sheet, begin, section.groups[0]?.heading ?? labels.charges),
    heading: headingRow(sheet, placed),
    rows,
    gapBefore: gapBetweenTables(sheet),
  });
}

const none: Cell = { text: '' };

function rowsOf({ groups }: SectionView): ChargeRow[] {
  return groups.flatMap((group) => group.rows);
}

function cellsOf(row: ChargeRow): Cell[] {
  const { label, remark, quantity, rate, amount } = row;
  return [{ text: label, below: remark }, { text: quantity }, { text: rate }, { text: amount }];
}

/** Over the whole width: it may name a period. */
function groupHeading(sheet: Sheet, text: string): Block {
  const [column] = placeColumns(sheet, [{ heading: '', part: 1, align: 'start' }]);
  return tableRow(sheet, [column as PlacedColumn], [{ text, isBold: true }]);
}

function beginning(sheet: Sheet, { heading, usage }: Beginning, text: string): Block {
  if (usage === emptyBlock) return stack([heading, title(sheet, text)]);
  const width = (sheet.right - sheet.left) * titlePart - 6;
  return stack([heading, onLine([title(sheet, text, { width }), usage])]);
}

/** What was used in all, for the line with a table's title; null where that has no room for it. */
function usageBlock(sheet: Sheet, view: BillView, section: SectionView): Block | null {
  if (section.usage.length === 0) return emptyBlock;
  const whole = sheet.right - sheet.left;
  const usage = joined(view.wording, ' – ', [
    view.labels.usage,
    joined(
      view.wording,
      ' · ',
      section.usage.map((row) => row.text),
    ),
  ]);
  const block = textBlock(sheet, usage, {
    x: sheet.left + whole * titlePart,
    width: whole * (1 - titlePart) - 4,
    size: sizes.body,
    color: sheet.colors.muted,
    align: 'end',
    linesMax: usageLinesMax + 1,
  });
  return block.items.length > usageLinesMax ? null : withRoom(block, 3);
}

/** A row for each input, so that none of them is left out however many there are. */
function addUsage(
  flow: Flow,
  sheet: Sheet,
  view: BillView,
  section: SectionView,
  sectionHeading: Block,
): void {
  const { labels } = view;
  const columns = placeColumns(sheet, [
    { heading: labels.description, part: 0.6, align: 'start' },
    { heading: labels.quantity, part: 0.4, align: 'end' },
  ]);
  addTable(flow, {
    title: stack([sectionHeading, title(sheet, labels.usage)]),
    heading: headingRow(sheet, columns),
    rows: section.usage.map((row) =>
      tableRow(sheet, columns, [{ text: row.label }, { text: row.quantity, below: row.carried }]),
    ),
    gapBefore: gapBetweenTables(sheet),
  });
}

const stepIndent = 12;

/** Each may go onto the next page. Where a page is to be saved, two are beside each other. */
function stepBlocks(
  sheet: Sheet,
  columns: readonly PlacedColumn[],
  steps: readonly string[],
): Block[] {
  const { x, width } = columns[0] as PlacedColumn;
  const perRow = sheet.scale < 1 && steps.length > 2 ? 2 : 1;
  const own = (width - stepIndent) / perRow;
  const blocks = steps.map((step, index) =>
    textBlock(sheet, step, {
      x: x + stepIndent + (index % perRow) * own,
      width: own - (perRow - 1) * 6,
      size: sizes.small,
      color: sheet.colors.muted,
    }),
  );
  const rows: Block[] = [];
  for (let at = 0; at < blocks.length; at += perRow) {
    rows.push(withRoom(onLine(blocks.slice(at, at + perRow)), 0.5));
  }
  return rows;
}
