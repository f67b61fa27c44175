// Lays out a document other than a bill on pages, from the same blocks as bills.
import type { Page } from '../../../base/pdf/page.ts';
import type { PaperTable, PaperView } from '../paper-view.ts';
import { continuationBlock, footerBlock, notesBlocks } from './bill-pages.ts';
import { emptyBlock, textBlock, withRoom } from './blocks.ts';
import { type Flow, openFlow } from './flow.ts';
import { headBlock, partiesBlock } from './head.ts';
import { type Sheet, sizes } from './sheet.ts';
import { addTable, headingRow, placeColumns, tableRow, withFigures } from './tables.ts';
import { totalsBlock } from './totals.ts';

/** A statement of as many entries as one may have takes fewer. */
const pagesMax = 300;
const gap = 12;

export function paperPages(sheet: Sheet, { page, tables, before }: PaperView): Page[] {
  const flow = openFlow(sheet, () => continuationBlock(sheet, page), pagesMax);
  flow.add(headBlock(sheet, page));
  flow.add(partiesBlock(sheet, page), 10);
  if (before !== '') {
    const place = { x: sheet.left, width: sheet.right - sheet.left, size: sizes.body };
    const text = textBlock(sheet, before, { ...place, linesMax: Number.POSITIVE_INFINITY });
    text.items.forEach((item, index) => {
      flow.add({ height: item.height, items: [{ ...item, y: 0 }] }, index === 0 ? gap : 0);
    });
  }
  for (const table of tables) addPaperTable(flow, sheet, table);
  if (page.totals.length > 0) flow.add(totalsBlock(sheet, page), gap);
  notesBlocks(sheet, page).forEach((line, index) => {
    flow.add(line, index === 0 ? 10 : 0);
  });
  return flow.finish((number, pages) => footerBlock(sheet, page, number, pages));
}

function addPaperTable(flow: Flow, sheet: Sheet, table: PaperTable): void {
  const columns = withFigures(sheet, placeColumns(sheet, table.columns), table.rows);
  const heading = textBlock(sheet, table.heading, {
    x: sheet.left,
    width: sheet.right - sheet.left,
    size: sizes.heading,
    isBold: true,
    color: sheet.colors.accent,
    linesMax: 2,
  });
  addTable(flow, {
    title: table.heading === '' ? emptyBlock : withRoom(heading, 3),
    heading: headingRow(sheet, columns),
    rows: table.rows.map((row) => tableRow(sheet, columns, row)),
    gapBefore: gap,
  });
}
