// The totals of the bill, next to a chart of past terms.
import type { PageItem } from '../../../base/pdf/page.ts';
import type { BillView } from '../bill-view.ts';
import { labelPiecesMax } from '../chart-labels.ts';
import type { HistoryPoint, HistoryView } from '../history-view.ts';
import {
  type Block,
  beside,
  emptyBlock,
  onGround,
  onLine,
  ruleBlock,
  spaceBlock,
  stack,
  textBlock,
  withRoom,
} from './blocks.ts';
import { factRow } from './head.ts';
import { type Sheet, sizes } from './sheet.ts';
import { figuresPlace } from './tables.ts';

/** Lower where type is smaller. */
function chartHeightOf({ scale }: Sheet): number {
  return scale < 1 ? 48 : 64;
}

export function totalsBlock(sheet: Sheet, view: BillView): Block {
  const width = (sheet.right - sheet.left) * 0.46;
  const sums = sumsBlock(sheet, view, { x: sheet.right - width, width });
  if (view.history === null) return sums;
  const chartWidth = sheet.right - sheet.left - width - 18;
  return beside([historyBlock(sheet, view.history, chartWidth), sums]);
}

function sumsBlock(sheet: Sheet, view: BillView, place: { x: number; width: number }): Block {
  const labelWidth = place.width * 0.62;
  const column = { x: place.x + labelWidth, width: place.width - labelWidth - 6 };
  const sums = view.totals.map(({ value, weight }) => ({
    text: value,
    isBold: weight === 'strong',
  }));
  const isMirrored = sheet.direction === 'rtl';
  const figures = isMirrored ? figuresPlace(sheet, column, sums, sizes.body) : undefined;
  const rows = view.totals.map(({ label, value, weight }) => {
    const isStrong = weight === 'strong';
    const isDetail = weight === 'detail';
    const size = isDetail ? sizes.small : sizes.body;
    const color = isDetail ? sheet.colors.muted : sheet.colors.text;
    const indent = isDetail ? 10 : 0;
    const row = onLine([
      textBlock(sheet, label, {
        x: place.x + 6 + indent,
        width: labelWidth - 10 - indent,
        size,
        color,
        isBold: isStrong,
      }),
      textBlock(sheet, value, {
        ...(figures ?? column),
        size,
        color,
        isBold: isStrong,
        // Mirrored, the start is on the right, where figures end.
        align: figures === undefined ? 'end' : 'start',
        isFitted: true,
      }),
    ]);
    if (!isStrong) return withRoom(row, 2 * sheet.room);
    const room = 3 * sheet.room;
    return onGround(row, { ...place, color: sheet.colors.tint, above: room, below: room });
  });
  return stack([heading(sheet, view.labels.summary, place), ...rows], 0.6);
}

function heading(sheet: Sheet, text: string, place: { x: number; width: number }): Block {
  const block = textBlock(sheet, text, {
    ...place,
    size: sizes.heading,
    isBold: true,
    color: sheet.colors.accent,
    linesMax: 2,
  });
  return withRoom(block, 3);
}

/** The chart, and below it what is compared with it. */
function historyBlock(sheet: Sheet, history: HistoryView, width: number): Block {
  const place = { x: sheet.left, width, labelPart: 0.6, align: 'end' } as const;
  return stack([
    heading(sheet, history.heading, { x: sheet.left, width }),
    history.points.length === 0 ? emptyBlock : chartBlock(sheet, history, width),
    spaceBlock(history.facts.length === 0 ? 0 : 4),
    ...history.facts.map((fact) => factRow(sheet, fact, place)),
  ]);
}

function chartBlock(sheet: Sheet, history: HistoryView, width: number): Block {
  const { points } = history;
  const slot = width / points.length;
  const highest = Math.max(...points.map((point) => point.value), 1e-9);
  const columns = points.map((point, index) =>
    barBlock(sheet, point, { x: sheet.left + index * slot, slot, highest }),
  );
  const base = ruleBlock(sheet, { x: sheet.left, width, thickness: 0.6 });
  const labels = points.map((point, index) =>
    labelBlock(sheet, point, { x: sheet.left + index * slot + 0.5, width: slot - 1 }),
  );
  return stack([
    beside(columns),
    base,
    { height: 1.5, items: [] },
    labels.length === 0 ? emptyBlock : onLine(labels),
  ]);
}

/** A line for each piece; one that is too wide takes lines that are left over. */
function labelBlock(
  sheet: Sheet,
  { label, isPresent }: HistoryPoint,
  place: { x: number; width: number },
): Block {
  const color = isPresent ? sheet.colors.text : sheet.colors.muted;
  const style = { ...place, size: sizes.chart, align: 'center', color } as const;
  let linesLeft = labelPiecesMax - label.length;
  const blocks = label.map(({ text, marked, isWhole = false }) => {
    if (isWhole) return textBlock(sheet, text, { ...style, isFitted: true, linesMax: 1 });
    const whole = textBlock(sheet, marked, { ...style, linesMax: 2 });
    const hasRoom = whole.items.length === 1;
    const block = hasRoom ? whole : textBlock(sheet, text, { ...style, linesMax: 1 + linesLeft });
    linesLeft -= block.items.length - 1;
    return block;
  });
  return stack(blocks);
}

/** The figure above its bar; all bars end on one line. */
function barBlock(
  sheet: Sheet,
  point: HistoryPoint,
  place: { x: number; slot: number; highest: number },
): Block {
  const { x, slot, highest } = place;
  const text = textBlock(sheet, point.text, {
    x: x + 0.5,
    width: slot - 1,
    size: sizes.chart,
    align: 'center',
    isFitted: true,
  });
  const barWidth = Math.min(slot * 0.66, 26);
  const barMax = chartHeightOf(sheet) - sizes.chart * 1.4 - 1;
  const height = Math.max(0.5, (barMax * point.value) / highest);
  const y = chartHeightOf(sheet) - height;
  const bar: PageItem = {
    kind: 'fill',
    x: x + (slot - barWidth) / 2,
    y,
    width: barWidth,
    height,
    color: point.isPresent ? sheet.colors.accent : sheet.colors.bar,
  };
  const above = text.items.map((item) => ({ ...item, y: y - text.height - 0.5 + item.y }));
  return { height: chartHeightOf(sheet), items: [bar, ...above] };
}
