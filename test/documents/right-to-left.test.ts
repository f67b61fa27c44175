// Pages from right to left, and pages in two languages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setLine } from '../../src/base/typeset/lines.ts';
import { notoTypefaces } from '../../src/base/typeset/noto.ts';
import type { BillDocumentInput } from '../../src/domain/documents/bill-document.ts';
import { renderBillHtml } from '../../src/domain/documents/bill-html.ts';
import { billText } from '../../src/domain/documents/bill-text.ts';
import { documentView } from '../../src/domain/documents/credit-note-view.ts';
import { ownDirection } from '../../src/domain/documents/layout/blocks.ts';
import { layOutBill } from '../../src/domain/documents/render-bill.ts';
import { halvesOf } from '../../src/domain/documents/two-languages.ts';
import { urdu } from './bills.ts';
import { ordinary } from './ordinary-bill.ts';
import { assertWellSet, textOf } from './page-check.ts';

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

const bilingual: readonly [string, BillDocumentInput][] = [
  ['English with Urdu', { ...ordinary, secondLocale: 'ur' }],
  ['Urdu with English', { ...urdu, secondLocale: 'en' }],
  ['Hindi with English', { ...ordinary, locale: 'hi-IN', secondLocale: 'en' }],
  ['English with Arabic', { ...ordinary, secondLocale: 'ar', amountInWords: true }],
];
for (const [name, input] of bilingual) {
  test(`a bill in ${name} has labels in both, figures once, and nothing overlaps`, () => {
    assertWellSet(lay(input), name);
    const alone = documentView({ ...input, secondLocale: null });
    const second = documentView({ ...input, locale: input.secondLocale ?? '', secondLocale: null });
    const { html } = renderBillHtml(input);
    const plain = html.replace(/[\u2066-\u2069]/g, '');
    for (const key of ['billNumber', 'dueDate', 'summary', 'description'] as const) {
      assert.ok(plain.includes(`${alone.labels[key]} · ${second.labels[key]}`), key);
    }
    const amounts = lay(input)
      .flatMap((page) => page.items)
      .filter((item) => item.kind === 'text' && textOf(item.line).endsWith('9,988.12'));
    assert.equal(amounts.length, 1);
  });
}

test('labels in two languages are beside each other, each in its own direction', () => {
  const [page] = lay({ ...ordinary, secondLocale: 'ur' });
  const texts = page?.items.filter((item) => item.kind === 'text') ?? [];
  const first = texts.findIndex((item) => textOf(item.line) === 'Due date');
  const [label, other] = texts.slice(first, first + 2);
  assert.ok(label && other);
  const baseline = (item: typeof label) => item.y + item.line.ascent;
  assert.ok(Math.abs(baseline(label) - baseline(other)) < 0.01, 'on one line');
  assert.ok(other.x > label.x + label.width);
  assert.equal(other.line.runs[0]?.face.name, 'NotoNastaliqUrdu-Regular');
});

test('plain text and mails are in the first language only', () => {
  const input = { ...ordinary, secondLocale: 'ur' };
  assert.equal(billText(input), billText(ordinary));
});

test('a label in the second language keeps its direction, whatever values are in it', () => {
  assert.equal(ownDirection('Payable by \u206815 اگست، 2025\u2069'), 'ltr');
  assert.equal(ownDirection('\u206815-Aug-2025\u2069 تک قابل ادا رقم'), 'rtl');
});

test('a title in English is in the order of English, whatever script its service is in', () => {
  for (const input of [
    { ...urdu, secondLocale: 'en' },
    { ...urdu, locale: 'en' },
  ]) {
    const texts = lay(input)[0]?.items.filter((item) => item.kind === 'text') ?? [];
    const title = texts.find((item) => textOf(item.line).includes(' bill'));
    assert.ok(title, input.locale);
    // Runs are drawn from left to right: the service, then the word.
    const [service, ...words] = title.line.runs;
    assert.match(service?.face.name ?? '', /Nastaliq|Naskh/);
    assert.equal(words.at(-1)?.face.name, 'NotoSans-Bold');
  }
});

test('a date in a label has the form of the language of the label', () => {
  const { payable } = documentView({ ...urdu, secondLocale: 'en' });
  const [first = '', second = ''] = halvesOf(payable?.label ?? '');
  assert.match(first, /اگست/);
  assert.match(second, /Payable by 15-Aug-2025/);
});

test('a full bill in Urdu has one page', () => {
  const bill = {
    ...urdu.bill,
    previousBalance: 13_500,
    paymentsReceived: 12_250.4,
    payments: [
      { date: '03/07/2025', amount: 12_000 },
      { date: '21/07/2025', amount: 250.4 },
    ],
  };
  const letterhead = { ...urdu.letterhead, complaintPhone: '0800 12345', officeHours: '9–17' };
  const pages = lay({ ...urdu, amountInWords: true, bill, letterhead });
  assert.equal(pages.length, 1);
  assertWellSet(pages, 'full Urdu bill');
});
