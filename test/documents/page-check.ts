// Rules for any page, checked from the positions of its items.
import assert from 'node:assert/strict';
import type { Page, PageItem } from '../../src/base/pdf/page.ts';
import type { TextLine } from '../../src/base/typeset/lines.ts';

/** Measures are rounded when lines are fitted; a hair is no overlap. */
const hair = 0.05;

/** The text of a line whose words have a glyph for each letter, as Latin ones do. */
export function textOf(line: TextLine): string {
  return line.runs
    .flatMap((run) => run.words)
    .flatMap((word) => word.texts)
    .join('');
}

export function textsOf(page: Page): string[] {
  return page.items.flatMap((item) => (item.kind === 'text' ? [textOf(item.line)] : []));
}

function overlap(a: PageItem, b: PageItem): boolean {
  return (
    a.x + a.width > b.x + hair &&
    b.x + b.width > a.x + hair &&
    a.y + a.height > b.y + hair &&
    b.y + b.height > a.y + hair
  );
}

function shown(item: PageItem): string {
  const words = item.kind === 'text' ? textOf(item.line) : item.kind;
  return `${words} at ${item.x.toFixed(1)},${item.y.toFixed(1)} ${item.width.toFixed(1)}x${item.height.toFixed(1)}`;
}

/** Texts, pictures and codes are inside the page and do not overlap; bars do not cross texts. */
export function assertWellSet(pages: readonly Page[], name: string): void {
  pages.forEach((page, index) => {
    const where = `${name}, page ${index + 1}`;
    for (const item of page.items) {
      const isInside =
        item.x >= -hair &&
        item.y >= -hair &&
        item.x + item.width <= page.width + hair &&
        item.y + item.height <= page.height + hair;
      if (!isInside) assert.fail(`${where}: ${shown(item)} leaves the page`);
      if (item.width < 0 || item.height < 0) assert.fail(`${where}: ${shown(item)}`);
    }
    const solid = page.items.filter((item) => item.kind !== 'fill');
    for (let a = 0; a < solid.length; a++) {
      for (let b = a + 1; b < solid.length; b++) {
        const [one, other] = [solid[a] as PageItem, solid[b] as PageItem];
        if (overlap(one, other)) assert.fail(`${where}: ${shown(one)} and ${shown(other)}`);
      }
    }
  });
}
