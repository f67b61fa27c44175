// Rendering takes time in proportion to the length of a text, whatever the text is made of.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BillDocumentInput } from '../../src/domain/documents/bill-document.ts';
import { renderBill } from '../../src/domain/documents/render-bill.ts';
import { ordinary } from './ordinary-bill.ts';

/** Of the lengths below; `npm run nightly` takes the whole. */
const share = Number(process.env.HOSTILE_SHARE ?? 0.4);

/** Texts that a caller may send, each with a length at which a search would show. */
const texts: Record<string, { length: number; text(length: number): string }> = {
  'combining marks': { length: 40_000, text: (length) => `a${'\u0301'.repeat(length)}` },
  'Arabic marks': { length: 40_000, text: (length) => `ب${'\u064b'.repeat(length)}` },
  'emoji with joiners': { length: 48_000, text: (length) => '👩\u200d'.repeat(length / 3) },
  'Arabic letters': { length: 4_000, text: (length) => 'ب'.repeat(length) },
  'Devanagari letters': { length: 40_000, text: (length) => 'कि'.repeat(length / 2) },
  'brackets after an Arabic letter': { length: 4_000, text: (length) => `ب${'()'.repeat(length)}` },
};

/** Of the processor, which other programs on the machine do not lengthen. */
function renderMs(input: BillDocumentInput): number {
  const before = process.threadCpuUsage();
  renderBill(input);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

const notes = (body: string): BillDocumentInput => ({ ...ordinary, template: { body } });
const growth = 4;

for (const [name, { length: whole, text }] of Object.entries(texts)) {
  test(`a document with a long run of ${name} takes time in proportion to its length`, () => {
    const length = whole * share;
    renderMs(notes(text(length / 8)));
    const short = renderMs(notes(text(length)));
    const long = renderMs(notes(text(length * growth)));
    // In proportion is 4 times; with a search for each character it was 16 times and more.
    const told = `${short.toFixed()} ms, then ${long.toFixed()} ms`;
    assert.ok(long < Math.max(short, 30) * growth * 2, told);
  });
}
