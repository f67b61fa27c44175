// The first part of the first page: letterhead, title, customer, and what to pay until when.
import { openImage, type PdfImage } from '../../../base/pdf/images.ts';
import type { BillView } from '../bill-view.ts';
import type { Fact } from '../fact.ts';
import { halvesOf } from '../two-languages.ts';
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
import { type Sheet, sizes } from './sheet.ts';

const logoWidthMax = 130;
const logoHeightMax = 50;
const titleWidthUsual = 165;
/** For a title that has one line then. */
const titleWidthMax = 190;
const gap = 14;

export function headBlock(sheet: Sheet, view: BillView): Block {
  const { left, right, colors } = sheet;
  const logo = logoBlock(sheet, view.letterhead.logo);
  const titleWidth = titleWidthOf(sheet, view.title);
  const x = left + (logo.width === 0 ? 0 : logo.width + 10);
  const width = right - titleWidth - gap - x;
  const organisation = stack([
    textBlock(sheet, view.letterhead.name, {
      x,
      width,
      size: sizes.organisation,
      isBold: true,
      color: colors.accent,
      linesMax: 3,
    }),
    ...view.organisationLines.map((line) =>
      textBlock(sheet, line, { x, width, size: sizes.small, color: colors.muted, linesMax: 2 }),
    ),
  ]);
  const title = textBlock(sheet, view.title, {
    x: right - titleWidth,
    width: titleWidth,
    size: sizes.title,
    isBold: true,
    align: 'end',
    linesMax: 3,
  });
  const rule = ruleBlock(sheet, {
    x: left,
    width: right - left,
    thickness: 1.5,
    color: colors.accent,
  });
  return stack([beside([logo.block, organisation, title]), rule, warningBlock(sheet, view)], 7);
}

function titleWidthOf(sheet: Sheet, title: string): number {
  const style = {
    x: 0,
    width: titleWidthMax,
    size: sizes.title,
    isBold: true,
    align: 'end',
  } as const;
  const lines = halvesOf(title).map((half) => textBlock(sheet, half ?? '', style).items);
  const isWhole = lines.every((items) => items.length <= 1);
  const widths = lines.flatMap((items) => items.map((item) => item.width));
  return isWhole ? Math.max(titleWidthUsual, ...widths) + 0.01 : titleWidthUsual;
}

const images = new WeakMap<Buffer, PdfImage | false>();

/** A picture is decoded once for all bills of a letterhead. */
function pictureOf(bytes: Buffer): PdfImage | undefined {
  let found = images.get(bytes);
  if (found === undefined) {
    found = openImage(bytes) ?? false;
    images.set(bytes, found);
  }
  return found || undefined;
}

function logoBlock(sheet: Sheet, bytes: Buffer | null): { block: Block; width: number } {
  const image = bytes === null ? undefined : pictureOf(bytes);
  if (image === undefined) return { block: emptyBlock, width: 0 };
  const scale = Math.min(logoWidthMax / image.width, logoHeightMax / image.height);
  const width = image.width * scale;
  const height = image.height * scale;
  return {
    block: { height, items: [{ kind: 'image', x: sheet.left, y: 0, width, height, image }] },
    width,
  };
}

function warningBlock(sheet: Sheet, view: BillView): Block {
  if (view.warning === null) return emptyBlock;
  const { left, right, colors } = sheet;
  return textBlock(sheet, view.warning, {
    x: left,
    width: right - left,
    size: sizes.heading,
    isBold: true,
    color: colors.warning,
    align: 'center',
  });
}

/** The customer, next to a panel with numbers, dates and the amount. */
export function partiesBlock(sheet: Sheet, view: BillView): Block {
  const { left, right } = sheet;
  const panelWidth = (right - left) * 0.46;
  const customerWidth = right - left - panelWidth - gap;
  return beside([
    customerBlock(sheet, view, customerWidth),
    panelBlock(sheet, view, { x: right - panelWidth, width: panelWidth }),
  ]);
}

function customerBlock(sheet: Sheet, view: BillView, width: number): Block {
  const { left, colors } = sheet;
  const { name, lines, facts } = view.customer;
  const address = lines.map((line) =>
    textBlock(sheet, line, { x: left, width, size: sizes.body, linesMax: 3 }),
  );
  return stack([
    textBlock(sheet, view.labels.billTo, {
      x: left,
      width,
      size: sizes.small,
      color: colors.muted,
    }),
    textBlock(sheet, name, { x: left, width, size: sizes.name, isBold: true, linesMax: 4 }),
    ...address,
    spaceBlock(6),
    ...facts.map((fact) => factRow(sheet, fact, { x: left, width, labelPart: 0.36 })),
  ]);
}

function panelBlock(sheet: Sheet, view: BillView, place: { x: number; width: number }): Block {
  const padding = 9;
  const x = place.x + padding;
  const width = place.width - 2 * padding;
  const facts = view.facts.map((fact) =>
    factRow(sheet, fact, { x, width, labelPart: 0.4, align: 'end' }),
  );
  const content = stack([...facts, ...payableBlocks(sheet, view, { x, width })]);
  const room = sheet.scale < 1 ? 5 : 8;
  return onGround(content, { ...place, color: sheet.colors.tint, above: room, below: room });
}

/** The amount to pay, below a rule. A cancelled bill has none. */
function payableBlocks(
  sheet: Sheet,
  { payable, payableLate: late }: BillView,
  { x, width }: { x: number; width: number },
): Block[] {
  if (payable === null) return [];
  const { colors } = sheet;
  const label = { size: sizes.body, color: colors.muted };
  const figures = { size: sizes.payable, isBold: true, align: 'end', isFitted: true } as const;
  // On one line where a page is to be saved.
  const labelWidth = sheet.scale < 1 ? width * 0.52 : 0;
  const amount =
    labelWidth === 0
      ? stack([
          textBlock(sheet, payable.label, { x, width, ...label }),
          textBlock(sheet, payable.value, { x, width, ...figures }),
        ])
      : onLine([
          textBlock(sheet, payable.label, { x, width: labelWidth - 6, ...label }),
          textBlock(sheet, payable.value, {
            x: x + labelWidth,
            width: width - labelWidth,
            ...figures,
          }),
        ]);
  return [
    spaceBlock(4),
    ruleBlock(sheet, { x, width, thickness: 0.6, color: colors.bar }),
    spaceBlock(4),
    amount,
    late === null ? emptyBlock : factRow(sheet, late, { x, width, labelPart: 0.55, align: 'end' }),
  ];
}

/** Of the width, for labels in two languages. */
const bothLabelsPart = 0.56;

export function factRow(
  sheet: Sheet,
  fact: Fact,
  options: { x: number; width: number; labelPart: number; align?: 'start' | 'end' },
): Block {
  const { x, width, labelPart, align = 'start' } = options;
  const [, second] = halvesOf(fact.label);
  const part = second === undefined ? labelPart : Math.max(labelPart, bothLabelsPart);
  const labelWidth = width * part - (second === undefined ? 4 : 10);
  const valueX = x + width * part;
  const row = onLine([
    textBlock(sheet, fact.label, {
      x,
      width: labelWidth,
      size: sizes.body,
      color: sheet.colors.muted,
    }),
    textBlock(sheet, fact.value, {
      x: valueX,
      width: x + width - valueX,
      size: sizes.body,
      align,
      isFitted: align === 'end',
    }),
  ]);
  return withRoom(row, sheet.scale < 1 ? 0.5 : 1);
}
