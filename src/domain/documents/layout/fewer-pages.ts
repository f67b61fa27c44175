// A document whose last page would be nearly empty is set in slightly smaller type, where that
// saves the page.
import type { Page } from '../../../base/pdf/page.ts';

/** Type that can still be read without effort. */
const smallerScales = [0.94, 0.88];
/** A longer document is not set in smaller type: one page less would hardly matter. */
const pagesToSaveMax = 4;

export function fewerPages(layOut: (scale: number) => Page[]): Page[] {
  const pages = layOut(1);
  if (pages.length === 1 || pages.length > pagesToSaveMax) return pages;
  for (const scale of smallerScales) {
    const smaller = layOut(scale);
    if (smaller.length < pages.length) return smaller;
  }
  return pages;
}
