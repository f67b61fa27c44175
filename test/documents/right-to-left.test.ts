// Pages from right to left, and pages in two languages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setLine } from '../../src/base/typeset/lines.ts';
import { notoTypefaces } from '../../src/base/typeset/noto.ts';
import type { BillDocumentInput } from '../../src/domain/documents/bill-document.ts';
import { documentView } from '../../src/domain/documents/credit-note-view.ts';
import { layOutBill } from '../../src/domain/documents/render-bill.ts';
import { urdu } from './bills.ts';
import { ordinary } from './ordinary-bill.ts';
import { textOf } from './page-check.ts';

const lay = (input: BillDocumentInput) => layOutBill(input);

test('figures of a bill from right to left end below each other on the right', () => {
  for (const input of [urdu, { ...urdu, locale: 'ar-EG' }]) {
    const [page] = lay(input);
    const ends = page?.items.flatMap((item) =>
      item.kind === 'text' && /^[\d,٠-٩٬٫.]+$/.test(textOf(item.line)) && item.x < 130
        ? [item.x + item.width]
        : [],
    );
    const columns = Map.groupBy(ends ?? [], (end) => end.toFixed(1));
    // The amounts of six lines, and seven sums.
    const sizes = [...columns.values()].map((some) => some.length);
    assert.ok(sizes.includes(6) && sizes.includes(7), String(ends));
  }
});

test('Urdu is set in Nastaliq with room for its slopes, Arabic in Naskh', () => {
  const facesOf = (input: BillDocumentInput) =>
    new Set(
      lay(input)
        .flatMap((page) => page.items)
        .flatMap((item) =>
          item.kind === 'text' ? item.line.runs.map((run) => run.face.name) : [],
        ),
    );
  assert.ok(facesOf(urdu).has('NotoNastaliqUrdu-Regular'));
  assert.ok(!facesOf(urdu).has('NotoNaskhArabic-Regular'));
  const arabic = facesOf({ ...urdu, locale: 'ar-EG' });
  assert.ok(arabic.has('NotoNaskhArabic-Regular') && !arabic.has('NotoNastaliqUrdu-Regular'));
  const tall = setLine('کنکشن', { faces: notoTypefaces('ur-PK').regular, size: 10 }, 'rtl');
  const flat = setLine('رو', { faces: notoTypefaces('ur-PK').regular, size: 10 }, 'rtl');
  assert.ok(tall.ascent > flat.ascent + 4, `${tall.ascent} ${flat.ascent}`);
});

test('parts of an address are joined by the comma of the language', () => {
  assert.deepEqual(documentView(urdu).customer.lines.slice(1), [
    '\u2068گلی نمبر 4\u2069، \u2068بلاک سی\u2069',
    '\u2068گلبرگ III\u2069، \u2068لاہور\u2069',
  ]);
  assert.equal(documentView(ordinary).customer.lines[1], 'Street 4, Block C');
});
