// Lays out a bill on pages: gives every item its position. Painting comes after.
import type { Page } from '../../../base/pdf/page.ts';
import type { BillView } from '../bill-view.ts';
import { halvesOf } from '../two-languages.ts';
import { joined, worded } from '../wording.ts';
import {
  type Block,
  beside,
  emptyBlock,
  onGround,
  ownDirection,
  ruleBlock,
  spaceBlock,
  stack,
  textBlock,
} from './blocks.ts';
import { addSections } from './charges.ts';
import { openFlow } from './flow.ts';
import { headBlock, partiesBlock } from './head.ts';
import { type Sheet, sizes } from './sheet.ts';
import { slipBlock } from './slip.ts';
import { totalsBlock } from './totals.ts';

/** A longer bill is probably a mistake in a template. */
const pagesMax = 100;
/** Some bills are of thousands of subscriptions, such as the street lights of a town. */
const pagesPerSectionMax = 2;

export function billPages(sheet: Sheet, view: BillView): Page[] {
  const pages = pagesMax + pagesPerSectionMax * view.sections.length;
  const flow = openFlow(sheet, () => continuationBlock(sheet, view), pages);
  flow.add(headBlock(sheet, view));
  flow.add(partiesBlock(sheet, view), sheet.scale < 1 ? 7 : 10);
  addSections(flow, sheet, view);
  const totals = totalsBlock(sheet, view);
  const words = wordsBlock(sheet, view);
  const notes = [...notesBlocks(sheet, view), contactBlock(sheet, view)];
  const slip = view.isPayable ? slipBlock(sheet, view) : emptyBlock;
  // The sums stay with the slip where they can, rather than a slip alone on a page.
  const gap = sheet.scale < 1 ? 6 : 10;
  const ending = gap + totals.height + words.height + stack(notes).height + gap + gap + slip.height;
  if (!flow.fits(ending) && flow.fitsNewPage(ending)) flow.newPage();
  flow.add(totals, gap);
  if (words !== emptyBlock) flow.add(words);
  notes.forEach((line, index) => {
    if (line !== emptyBlock) flow.add(line, index === 0 ? gap : 0);
  });
  if (slip !== emptyBlock) flow.addAtBottom(slip, gap);
  return flow.finish((page, pages) => footerBlock(sheet, view, page, pages));
}

/**
 * Line by line, so that a long text continues on the next page; the heading stays with the first
 * line.
 */
export function notesBlocks(sheet: Sheet, view: BillView): Block[] {
  if (view.notes === '') return [];
  const place = { x: sheet.left, width: sheet.right - sheet.left };
  const heading = textBlock(sheet, view.labels.notes, {
    ...place,
    size: sizes.heading,
    isBold: true,
    color: sheet.colors.accent,
  });
  const style = { ...place, size: sizes.body, linesMax: Number.POSITIVE_INFINITY };
  const [first, second = ''] = halvesOf(view.notes);
  const other = { ...style, align: 'end', direction: ownDirection(second) } as const;
  const texts = [textBlock(sheet, first, style), textBlock(sheet, second, other)];
  const items = texts.flatMap((text) => text.items);
  const lines = items.map((item) => ({ height: item.height, items: [{ ...item, y: 0 }] }));
  return [stack([heading, spaceBlock(2), lines[0] ?? emptyBlock]), ...lines.slice(1)];
}

function wordsBlock(sheet: Sheet, { inWords, wording }: BillView): Block {
  if (inWords === null) return emptyBlock;
  const { label, value } = inWords;
  const text = textBlock(sheet, joined(wording, ': ', [label, value]), {
    x: sheet.left,
    width: sheet.right - sheet.left,
    size: sizes.body,
    isBold: true,
    linesMax: 3,
  });
  return stack([spaceBlock(sheet.scale < 1 ? 3 : 6), text]);
}

/** Where to ask and complain, on a tinted ground. */
function contactBlock(sheet: Sheet, { contact }: BillView): Block {
  if (contact === null) return emptyBlock;
  const place = { x: sheet.left, width: sheet.right - sheet.left };
  const inner = { x: place.x + 6, width: place.width - 12 };
  const heading = textBlock(sheet, contact.heading, {
    ...inner,
    size: sizes.body,
    isBold: true,
    color: sheet.colors.accent,
    linesMax: 2,
  });
  const text = textBlock(sheet, contact.text, { ...inner, size: sizes.small, linesMax: 3 });
  const room = sheet.scale < 1 ? 2 : 4;
  const ground = { ...place, color: sheet.colors.tint, above: room, below: room };
  return stack([spaceBlock(room + 2), onGround(stack([heading, text]), ground)]);
}

/** At the head of the second and further pages. */
export function continuationBlock(sheet: Sheet, view: BillView): Block {
  const { left, right, colors } = sheet;
  const half = (right - left) / 2;
  const style = { size: sizes.small, color: colors.muted, linesMax: 1 };
  const words = joined(view.wording, ' ', [view.title, view.billNumber]);
  return stack([
    beside([
      textBlock(sheet, view.letterhead.name, { ...style, x: left, width: half - 6 }),
      textBlock(sheet, joined(view.wording, ' ', [words, `(${view.labels.continued})`]), {
        ...style,
        x: left + half,
        width: half,
        align: 'end',
      }),
    ]),
    spaceBlock(3),
    ruleBlock(sheet, { x: left, width: right - left, thickness: 0.8, color: colors.accent }),
    spaceBlock(8),
  ]);
}

export function footerBlock(sheet: Sheet, view: BillView, page: number, pages: number): Block {
  const { left, right, colors } = sheet;
  const half = (right - left) / 2;
  const style = { size: 6.5, color: colors.muted, linesMax: 1 };
  const { count } = view.wording.formats;
  const numbers = { page: count(page), pages: count(pages) };
  return beside([
    textBlock(sheet, joined(view.wording, ' · ', [view.customer.name, view.reference]), {
      ...style,
      x: left,
      width: half,
    }),
    textBlock(sheet, worded(view.wording, 'page', numbers), {
      ...style,
      x: left + half + 6,
      width: half - 6,
      align: 'end',
    }),
  ]);
}
