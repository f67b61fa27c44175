// Puts blocks on pages from top to bottom.

import { AppError } from '../../../base/errors.ts';
import type { Page, PageItem } from '../../../base/pdf/page.ts';
import { type Block, putItems } from './blocks.ts';
import type { Sheet } from './sheet.ts';

export type Flow = {
  /** On this page if it fits, otherwise on the next. */
  add(block: Block, gapBefore?: number): void;
  fits(height: number): boolean;
  fitsNewPage(height: number): boolean;
  newPage(): void;
  /** At the foot of the page, or of a new one. */
  addAtBottom(block: Block, gapBefore: number): void;
  /** Footers are made when the number of pages is known. */
  finish(footer: (page: number, pages: number) => Block): Page[];
};

export function openFlow(sheet: Sheet, head: () => Block, pagesMax: number): Flow {
  // Most documents have one page, and none.
  let made: Block | undefined;
  const continuation = () => {
    made ??= head();
    return made;
  };
  const pages: PageItem[][] = [[]];
  let y = sheet.top;

  function put(block: Block): void {
    putItems(block, y, pages.at(-1) as PageItem[]);
    y += block.height;
  }

  function newPage(): void {
    if (pages.length >= pagesMax) {
      throw new AppError('DOCUMENT_TOO_LONG', {
        message: `The document would have more than ${pagesMax} pages`,
      });
    }
    pages.push([]);
    y = sheet.top;
    put(continuation());
  }

  const fits = (height: number) => y + height <= sheet.bottom;

  return {
    fits,
    fitsNewPage: (height) => sheet.top + continuation().height + height <= sheet.bottom,
    newPage,
    add(block, gapBefore = 0) {
      if (fits(gapBefore + block.height)) y += gapBefore;
      else newPage();
      put(block);
    },
    addAtBottom(block, gapBefore) {
      if (!fits(gapBefore + block.height)) newPage();
      y = sheet.bottom - block.height;
      put(block);
    },
    finish(footer) {
      return pages.map((items, index) => {
        putItems(footer(index + 1, pages.length), sheet.bottom + 4, items);
        if (sheet.direction === 'rtl') mirror(items, sheet);
        return { width: sheet.width, height: sheet.height, items };
      });
    },
  };
}

/** The items are those of the page alone: each was copied when it was put there. */
function mirror(items: readonly { x: number; readonly width: number }[], sheet: Sheet): void {
  for (const item of items) item.x = sheet.width - item.x - item.width;
}
