// The payment slip at the foot of the last page, to be torn off: the payer, the amount and its due
// date, the reference as figures and as a code, and the bank account.
import type { BankView, BillView } from '../bill-view.ts';
import { barRow, codeRows } from '../code.ts';
import type { SlipCode } from '../payment-code.ts';
import { joined } from '../wording.ts';
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
} from './blocks.ts';
import { factRow } from './head.ts';
import { type Sheet, sizes } from './sheet.ts';

const codeSide = 64;
const gap = 14;

export function slipBlock(sheet: Sheet, view: BillView): Block {
  const { left, right } = sheet;
  const code = codeBlock(sheet, view);
  const inner = right - left - (code === emptyBlock ? 0 : codeSide + gap);
  const payerWidth = inner * 0.46;
  const amountX = left + payerWidth + gap;
  return stack([
    tearLine(sheet, view),
    spaceBlock(6),
    beside([
      stack(
        [
          headLine(sheet, view, { x: left, width: inner }),
          beside([
            payerBlock(sheet, view, { x: left, width: payerWidth }),
            amountBlock(sheet, view, { x: amountX, width: left + inner - amountX }),
          ]),
        ],
        3,
      ),
      code,
    ]),
    spaceBlock(5),
    footBlock(sheet, view),
  ]);
}

/** The bank accounts and, beside them if there is room, the bar code. */
function footBlock(sheet: Sheet, view: BillView): Block {
  const room = sheet.right - sheet.left;
  const bars = barcodeBlock(sheet, view);
  if (bars === undefined) return banksBlock(sheet, view, room);
  const rest = room - bars.width - 2 * gap;
  return rest > room * 0.6
    ? beside([banksBlock(sheet, view, rest), bars.block])
    : stack([banksBlock(sheet, view, room), spaceBlock(6), bars.block]);
}

function tearLine(sheet: Sheet, view: BillView): Block {
  const place = { x: sheet.left, width: sheet.right - sheet.left };
  return stack(
    [
      textBlock(sheet, view.labels.detach, {
        ...place,
        size: 6.5,
        align: 'center',
        color: sheet.colors.muted,
        linesMax: 1,
      }),
      // From edge to edge, so that it can be folded along.
      ruleBlock(sheet, {
        x: 0,
        width: sheet.width,
        thickness: 0.7,
        isDashed: true,
        color: '#8b949e',
      }),
    ],
    1.5,
  );
}

function headLine(sheet: Sheet, view: BillView, place: { x: number; width: number }): Block {
  const slipWidth = place.width * 0.35;
  return onLine([
    textBlock(sheet, view.labels.slip, {
      x: place.x,
      width: slipWidth - gap,
      size: sizes.heading,
      isBold: true,
      color: sheet.colors.accent,
      linesMax: 1,
    }),
    textBlock(sheet, view.letterhead.name, {
      x: place.x + slipWidth,
      width: place.width - slipWidth,
      size: sizes.heading,
      isBold: true,
      align: 'end',
      linesMax: 2,
    }),
  ]);
}

function payerBlock(sheet: Sheet, view: BillView, place: { x: number; width: number }): Block {
  const { labels, customer } = view;
  const wanted = new Set([
    labels.customerNumber,
    labels.connection,
    labels.billNumber,
    labels.term,
  ]);
  const facts = [...customer.facts, ...view.facts].filter((fact) => wanted.has(fact.label));
  return stack([
    textBlock(sheet, customer.name, { ...place, size: sizes.body, isBold: true, linesMax: 2 }),
    spaceBlock(1),
    ...facts.map((fact) => factRow(sheet, fact, { ...place, labelPart: 0.42 })),
  ]);
}

/** The reference and the amounts, each in large figures next to its label. */
function amountBlock(sheet: Sheet, view: BillView, place: { x: number; width: number }): Block {
  const { colors } = sheet;
  const padding = 7;
  const x = place.x + padding;
  const width = place.width - 2 * padding;
  const { payable, payableLate: late } = view;
  const rows = [
    { label: view.labels.reference, value: view.reference, size: 11, isBold: true },
    ...(payable === null ? [] : [{ ...payable, size: 11, isBold: true }]),
    ...(late === null ? [] : [{ ...late, size: sizes.body, isBold: false }]),
  ].filter((row) => row.value !== '');
  const blocks = rows.map(({ label, value, size, isBold }) => {
    const labelWidth = width * 0.5;
    return onLine([
      textBlock(sheet, label, {
        x,
        width: labelWidth - 4,
        size: sizes.small,
        color: colors.muted,
        linesMax: 2,
      }),
      textBlock(sheet, value, {
        x: x + labelWidth,
        width: width - labelWidth,
        size,
        isBold,
        align: 'end',
        isFitted: true,
      }),
    ]);
  });
  return onGround(stack(blocks, 5), { ...place, color: colors.tint, above: 6, below: 6 });
}

const squares = new WeakMap<SlipCode, ReturnType<typeof codeRows>>();

/** A bill may be laid out in several sizes of type, each time with the same code. */
function squaresOf(code: SlipCode): ReturnType<typeof codeRows> {
  if (!squares.has(code)) squares.set(code, codeRows(code.text));
  return squares.get(code);
}

function codeBlock(sheet: Sheet, view: BillView): Block {
  const { code, labels } = view;
  const rows = squaresOf(code);
  if (rows === undefined) return emptyBlock;
  const x = sheet.right - codeSide;
  const caption = textBlock(sheet, code.isPayment ? labels.scan : labels.reference, {
    x,
    width: codeSide,
    size: 6.5,
    align: 'center',
    color: sheet.colors.muted,
    linesMax: 2,
  });
  const square: Block = {
    height: codeSide,
    items: [{ kind: 'matrix', x, y: 0, width: codeSide, height: codeSide, rows }],
  };
  // The light margin that readers look for: four squares.
  return stack([square, caption], 6);
}

/** A bar of one cell: readers at counters take 0.25 to 0.5 mm; below that, few do. */
const cellWidths = { usual: 0.9, least: 0.55 } as const;
const barHeight = 30;

/** Code 128 with its text below it, for counters. */
function barcodeBlock(sheet: Sheet, view: BillView): { block: Block; width: number } | undefined {
  const bars = barRow(view.barcode);
  if (bars === undefined) return undefined;
  const cell = Math.min(cellWidths.usual, (sheet.right - sheet.left) / bars.length);
  if (cell < cellWidths.least) return undefined;
  const width = cell * bars.length;
  const x = sheet.right - width;
  const drawn: Block = {
    height: barHeight,
    items: [{ kind: 'matrix', x, y: 0, width, height: barHeight, rows: [bars] }],
  };
  const style = { size: sizes.small, align: 'center', isFitted: true } as const;
  const caption = textBlock(sheet, view.barcode, { x, width, ...style });
  return { block: stack([drawn, spaceBlock(2), caption]), width };
}

function banksBlock(sheet: Sheet, view: BillView, room: number): Block {
  const columns = view.banks.length === 1 ? 1 : 2;
  const width = (room - gap * (columns - 1)) / columns;
  const rows: Block[] = [];
  for (let index = 0; index < view.banks.length; index += columns) {
    const pair = view.banks.slice(index, index + columns);
    rows.push(
      beside(
        pair.map((bank, column) =>
          bankBlock(sheet, view, bank, { x: sheet.left + column * (width + gap), width }),
        ),
      ),
    );
  }
  return stack(rows, 4);
}

function bankBlock(
  sheet: Sheet,
  view: BillView,
  bank: BankView,
  place: { x: number; width: number },
): Block {
  const facts = bank.facts.map(({ label, value }) => joined(view.wording, ' ', [label, value]));
  return stack([
    textBlock(sheet, bank.title, { ...place, size: sizes.small, isBold: true, linesMax: 2 }),
    textBlock(sheet, joined(view.wording, ' · ', facts), {
      ...place,
      size: sizes.small,
      color: sheet.colors.muted,
      linesMax: 3,
    }),
  ]);
}
