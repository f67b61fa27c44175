// Readings and charges of each section.
import type { BillView } from '../bill-view.ts';
import type { ChargeRow, SectionView } from '../charges-view.ts';
import { joined } from '../wording.ts';
import { type Block, beside, emptyBlock, stack, textBlock, withRoom } from './blocks.ts';
import type { Flow } from './flow.ts';
import { type Sheet, sizes } from './sheet.ts';
import { addTable, headingRow, type PlacedColumn, placeColumns, tableRow } from './tables.ts';

const gapBetweenTables = 10;

export function addSections(flow: Flow, sheet: Sheet, view: BillView): void {
  for (const section of view.sections) {
    const heading =
      section.heading === null ? emptyBlock : title(sheet, section.heading, { isSection: true });
    if (section.readings.length > 0) addReadings(flow, sheet, view, section, heading);
    const isHeaded = section.readings.length > 0;
    addCharges(flow, sheet, view, section, isHeaded ? emptyBlock : heading);
  }
}

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
  sectionHeading: Block,
): void {
  const { labels } = view;
  const columns = placeColumns(sheet, [
    { heading: labels.meter, part: 0.15, align: 'start' },
    { heading: labels.register, part: 0.11, align: 'start' },
    { heading: labels.previous, part: 0.22, align: 'end' },
    { heading: labels.current, part: 0.22, align: 'end' },
    { heading: labels.factor, part: 0.07, align: 'end' },
    { heading: labels.consumption, part: 0.1, align: 'end' },
    { heading: labels.readingType, part: 0.13, align: 'end' },
  ]);
  addTable(flow, {
    title: stack([sectionHeading, withUsage(sheet, view, section, labels.readings)]),
    heading: headingRow(sheet, columns),
    rows: section.readings.map((row) =>
      tableRow(sheet, columns, [
        { text: row.meter },
        { text: row.register },
        { text: row.previous, beside: row.previousDate },
        { text: row.current, beside: row.currentDate },
        { text: row.factor },
        { text: row.consumption, isBold: true },
        { text: row.type },
      ]),
    ),
    gapBefore: gapBetweenTables,
  });
}

function addCharges(
  flow: Flow,
  sheet: Sheet,
  view: BillView,
  section: SectionView,
  sectionHeading: Block,
): void {
  const { labels } = view;
  const columns = placeColumns(sheet, [
    { heading: labels.description, part: 0.5, align: 'start' },
    { heading: labels.quantity, part: 0.18, align: 'end' },
    { heading: labels.rate, part: 0.13, align: 'end' },
    { heading: view.amountHeading, part: 0.19, align: 'end' },
  ]);
  const rows = section.groups.flatMap((group, index) => {
    const blocks = group.rows.flatMap((row) => chargeBlocks(sheet, columns, row));
    if (index === 0) return blocks;
    const heading = tableRow(sheet, columns, [{ text: group.heading, isBold: true }]);
    // One block with its first line, so that no page ends with a heading.
    return [stack([heading, blocks[0] ?? emptyBlock]), ...blocks.slice(1)];
  });
  if (section.subtotal !== null) {
    const cells = [{ text: labels.subtotal, isBold: true }, { text: '' }, { text: '' }];
    rows.push(tableRow(sheet, columns, [...cells, { text: section.subtotal, isBold: true }]));
  }
  if (rows.length === 0) return;
  const heading = section.groups[0]?.heading ?? labels.charges;
  const name =
    section.readings.length > 0 ? title(sheet, heading) : withUsage(sheet, view, section, heading);
  addTable(flow, {
    title: stack([sectionHeading, name]),
    heading: headingRow(sheet, columns),
    rows,
    gapBefore: gapBetweenTables,
  });
}

/** What was used in all, at the other end of the line with the table's title. */
function withUsage(sheet: Sheet, view: BillView, section: SectionView, text: string): Block {
  if (section.usage.length === 0) return title(sheet, text);
  const whole = sheet.right - sheet.left;
  const usage = joined(view.wording, ' – ', [
    view.labels.usage,
    joined(view.wording, ' · ', section.usage),
  ]);
  const width = whole * 0.7 - 4;
  const block = textBlock(sheet, usage, {
    x: sheet.left + whole * 0.3,
    width,
    size: sizes.body,
    color: sheet.colors.muted,
    align: 'end',
  });
  const name = title(sheet, text, { width: whole * 0.3 - 6 });
  return beside([name, withRoom(block, 3)]);
}

/** The line, then its steps, each of which may go onto the next page. */
function chargeBlocks(sheet: Sheet, columns: readonly PlacedColumn[], row: ChargeRow): Block[] {
  const line = tableRow(sheet, columns, [
    { text: row.label, below: row.remark },
    { text: row.quantity },
    { text: row.rate },
    { text: row.amount },
  ]);
  return [line, ...row.steps.map((step) => stepBlock(sheet, columns, step))];
}

function stepBlock(sheet: Sheet, columns: readonly PlacedColumn[], step: string): Block {
  const { x, width } = columns[0] as PlacedColumn;
  const indent = 12;
  const block = textBlock(sheet, step, {
    x: x + indent,
    width: width - indent,
    size: sizes.small,
    color: sheet.colors.muted,
  });
  return withRoom(block, 0.5);
}
