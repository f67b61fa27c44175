// What the lines of a bill say about how their amounts come about.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notoTypefaces } from '../../src/base/typeset/noto.ts';
import type { PresentedLine } from '../../src/domain/bills/bill-forms.ts';
import type { BillDocument, DocumentUsage } from '../../src/domain/documents/bill-document.ts';
import { renderBillHtml } from '../../src/domain/documents/bill-html.ts';
import { billText } from '../../src/domain/documents/bill-text.ts';
import { layOutBill } from '../../src/domain/documents/render-bill.ts';
import { inMajorUnits } from '../../src/domain/rating/bill.ts';
import { compilePriceBook, singleVersion } from '../../src/domain/rating/compile/price-book.ts';
import { rateBill } from '../../src/domain/rating/rate/rate-bill.ts';
import { tariffCases } from '../rating/tariff-cases.ts';
import { line, ordinary, ordinaryBill } from './ordinary-bill.ts';
import { assertWellSet, textsOf } from './page-check.ts';

/** The rows of charges as printed: label, text below it, quantity, rate, amount. */
function rowsOf(over: Partial<BillDocument>, locale = 'en-PK'): string[][] {
  const { html } = renderBillHtml({ ...ordinary, locale, bill: { ...ordinaryBill, ...over } });
  const table = /<table class="charges">(.*?)<\/table>/s.exec(html)?.[1] ?? '';
  return [...table.matchAll(/<tr>(<td>.*?)<\/tr>/g)].map(([, row = '']) =>
    row
      .replace(/<[^>]+>/g, '|')
      .replace(/[\u2066-\u2069]/g, '')
      .split('|')
      .filter((text) => text !== ''),
  );
}

const rowOf = (
  over: Partial<PresentedLine> & { amount: number },
  bill: Partial<BillDocument> = {},
) => rowsOf({ ...bill, lines: [line({ label: 'Seats', ...over })] })[0];

test('seats for a part of the month are printed with their days and the calculation', () => {
  const saas = tariffCases.find((one) => one.id === 'SAAS');
  const [scenario] = saas?.scenarios ?? [];
  assert.ok(saas && scenario);
  const rated = rateBill(compilePriceBook(singleVersion(saas.service, saas.tariffs)), scenario);
  const bill = inMajorUnits(rated) as object as Partial<BillDocument>;
  const seats = rowsOf(bill).filter(([label]) => label === 'Seats');
  assert.deepEqual(seats, [
    [
      'Seats',
      '01-Apr-2026 – 10-Apr-2026 (10 of 30 days)',
      '12 seat × 15 × 10/30 = 60.00',
      '12 seat',
      '60.00',
    ],
    [
      'Seats',
      '11-Apr-2026 – 30-Apr-2026 (20 of 30 days)',
      '20 seat × 12 × 20/30 = 160.00',
      '20 seat',
      '160.00',
    ],
  ]);
  const text = billText({ ...ordinary, bill: { ...ordinaryBill, ...bill } });
  assert.match(text, /^Seats \(12 seat\) +60\.00\n {2}.*\(10 of 30 days\)\n {2}12 seat × 15 × 10/m);
});

test('a bill of which every line is of a part of the term says so in each', () => {
  const days = { fromDate: '15/07/2025', days: 17 };
  const billed = { billedFrom: '15/07/2025', days: 17 };
  const told = '15-Jul-2025 – 31-Jul-2025 (17 of 31 days)';
  // 5 * 200 * 17 / 31 = 548.387...
  const fixed = { ...days, quantity: '5', unit: 'kW', rate: '200', amount: 548.39 };
  const step = '5 kW × 200 × 17/31 = 548.3871';
  assert.deepEqual(rowOf(fixed, billed), ['Seats', told, step, '5 kW', '548.39']);
  // 600 * 17 / 31 = 329.03..., rounded to a whole unit
  const whole = { ...days, rate: '600', amount: 329 };
  assert.deepEqual(rowOf(whole, billed), ['Seats', told, '600 × 17/31 = 329.0323', '329.00']);
  // (10 * 5 + 5 * 4 + 3) * 17 / 31 = 40.03...
  const details = [
    { quantity: '10', rate: '5', amount: '50' },
    { quantity: '5', rate: '4', flat: '3', amount: '23' },
  ];
  const slabs = { ...days, quantity: '15', unit: 'seat', amount: 40.03, details };
  assert.deepEqual(rowOf(slabs, billed), [
    'Seats',
    told,
    '10 seat × 5 = 50.00',
    '5 seat × 4 + 3.00 = 23.00',
    '73.00 × 17/31 = 40.0323',
    '15 seat',
    '40.03',
  ]);
});

test('a line whose figures come to its amount keeps its rate, whatever its days', () => {
  const days = { toDate: '10/07/2025', days: 10 };
  const told = '01-Jul-2025 – 10-Jul-2025 (10 days)';
  // Use of ten days: 80 * 3 = 240
  const used = { ...days, quantity: '80', unit: 'kWh', rate: '3', amount: 240 };
  assert.deepEqual(rowOf(used), ['Seats', told, '80 kWh', '3', '240.00']);
  // Half of the sum, which the days do not explain.
  const halved = { ...days, quantity: '80', unit: 'kWh', rate: '3', amount: 120 };
  assert.deepEqual(rowOf(halved), ['Seats', told, '80 kWh', '3', '120.00']);
  const percent = { ...days, unit: '%', rate: '30', amount: 9.68 };
  assert.deepEqual(rowOf(percent), ['Seats', told, '30 %', '9.68']);
  const most = { ...days, quantity: '9'.repeat(40), rate: '9'.repeat(40), amount: 1 };
  assert.equal(rowOf(most)?.[1], told);
});

test('a line of the term before is of as many days as that term has', () => {
  const days = { fromDate: '16/06/2025', toDate: '30/06/2025', days: 15 };
  const previousTerm = { startDate: '01/06/2025', endDate: '30/06/2025' };
  const half = { ...days, quantity: '2', unit: 'kW', rate: '100', amount: 100 };
  const told = '16-Jun-2025 – 30-Jun-2025 (15 of 30 days)';
  const step = '2 kW × 100 × 15/30 = 100.00';
  assert.deepEqual(rowOf(half, { previousTerm }), ['Seats', told, step, '2 kW', '100.00']);
});

test('days of a term are printed in the language of the bill', () => {
  const days = { toDate: '10/07/2025', days: 10 };
  const lines = [line({ label: 'Seats', ...days, quantity: '31', rate: '3', amount: 30 })];
  const told = (locale: string) => rowsOf({ lines }, `${locale}-u-nu-latn`)[0]?.[1];
  assert.match(told('hi-IN') ?? '', /\(31 में से 10 दिन\)/);
  assert.match(told('ur-PK') ?? '', /\(31 میں سے 10 دن\)/);
  assert.match(told('ar-EG') ?? '', /\(10 من 31 يومًا\)/);
});

test('steps carry the unit of the line where they count it, and no other', () => {
  const details = [
    { quantity: '200', rate: '0.4', amount: '80' },
    { quantity: '84.35', rate: '0.25', amount: '21.0875' },
  ];
  // Thousands above an allowance of a million.
  const calls = { quantity: '1284350', unit: 'call', amount: 101.09, details };
  assert.deepEqual(rowOf(calls), [
    'Seats',
    '200 × 0.4 = 80.00',
    '84.35 × 0.25 = 21.0875',
    '1,284,350 call',
    '101.09',
  ]);
  const one = { ...calls, amount: 80, details: details.slice(0, 1) };
  assert.deepEqual(rowOf(one), ['Seats', '200 × 0.4 = 80.00', '1,284,350 call', '80.00']);
  // A third of each, rounded where decimal text ends.
  const thirds = [
    { quantity: '33.333333333333', rate: '1', amount: '33.333333333333' },
    { quantity: '33.333333333333', rate: '2', amount: '66.666666666667' },
  ];
  const cut = { quantity: '66.666666666667', unit: 'm3', amount: 100, details: thirds };
  assert.match(rowOf(cut)?.[1] ?? '', / m³ × 1 = /);
  const pages = layOutBill(
    { ...ordinary, bill: { ...ordinaryBill, lines: [line({ label: 'Calls', ...calls })] } },
    notoTypefaces(),
  );
  assert.ok(pages.flatMap(textsOf).includes('200 × 0.4 = 80.00'));
});

test('use of however many inputs is printed whole, each by its label where it has one', () => {
  const names = (count: number) => Array.from({ length: count }, (_, at) => `reactiveImport${at}`);
  const usageOf = (count: number) =>
    names(count).map((input, at) => ({ input, unit: 'kvarh', quantity: String(1_204_310 + at) }));
  for (const count of [1, 6, 14, 150]) {
    for (const over of [{}, { meterReadings: [] }, { meterReadings: [], lines: [] }]) {
      const bill = { ...ordinaryBill, ...over, usage: usageOf(count) };
      const pages = layOutBill({ ...ordinary, bill }, notoTypefaces());
      assertWellSet(pages, `${count} inputs`);
      const words = pages.flatMap(textsOf).join(' ');
      for (const { input, quantity } of bill.usage) {
        assert.ok(words.includes(input), input);
        assert.ok(words.includes(Number(quantity).toLocaleString('en')), quantity);
      }
    }
  }
  const sections = ['A', 'B'].map((connectionNumber) => ({
    ...{ connectionNumber, tariffCode: null, tariffLabel: null, meterReadings: [], subtotal: 0 },
    usage: [{ input: 'calls', label: 'Calls abroad', unit: null, quantity: '7' }, ...usageOf(20)],
  }));
  const bill = { ...ordinaryBill, lines: [], meterReadings: [], usage: [], sections };
  const texts = layOutBill({ ...ordinary, bill }, notoTypefaces()).flatMap(textsOf);
  assert.equal(texts.filter((text) => text === '1,204,329 kvarh').length, 2);
  assert.equal(texts.filter((text) => text === 'Calls abroad').length, 2);
  assert.deepEqual(
    texts.filter((text) => text.startsWith('Connection ')),
    ['Connection A', 'Connection B'],
  );
  assert.match(billText({ ...ordinary, bill }), /^Calls abroad: 7$/m);
});

test('units carried from bill to bill are printed on both, and those that pass through on one', () => {
  const usageOf = (over: Partial<DocumentUsage>, locale = 'en-PK') => {
    const [reading] = ordinaryBill.meterReadings;
    assert.ok(reading);
    const usage = [{ input: 'energy', unit: 'kWh', quantity: '142', ...over }];
    const bill = { ...ordinaryBill, meterReadings: [reading], usage };
    return billText({ ...ordinary, locale, bill }).match(/^energy: .*$/m)?.[0];
  };
  assert.equal(usageOf({}), undefined, 'the reading shows it');
  const over = usageOf({ quantity: '0', carried: '100' });
  assert.equal(over, 'energy: 0 kWh (100 kWh carried to your next bill)');
  const next = usageOf({ quantity: '1500', carriedIn: '100' });
  assert.equal(next, 'energy: 1,500 kWh (less 100 kWh carried from before)');
  assert.equal(
    usageOf({ quantity: '0', carriedIn: '100', carried: '50' }),
    'energy: 0 kWh (less 100 kWh carried from before, 50 kWh carried to your next bill)',
  );
  const passed = usageOf({ carriedIn: '100', carried: '100' });
  assert.equal(passed, 'energy: 142 kWh (100 kWh carried to your next bill)');
  assert.equal(
    usageOf({ carriedIn: '-20.5', carried: '-1' }),
    'energy: 142 kWh (with 20.5 kWh added from before, 1 kWh added to your next bill)',
  );
  for (const locale of ['ur-PK', 'hi-IN', 'ar-EG']) {
    assert.doesNotMatch(usageOf({ carried: '100', carriedIn: '7' }, locale) ?? '(', /carried|\{/);
  }
  const many = Array.from({ length: 30 }, (_, at) => ({ input: `register${at}`, unit: 'kWh' }));
  const usage = many.map((one) => ({ ...one, quantity: '1', carried: '100' }));
  const pages = layOutBill({ ...ordinary, bill: { ...ordinaryBill, usage } }, notoTypefaces());
  assertWellSet(pages, 'carried');
  const told = pages
    .flatMap(textsOf)
    .filter((text) => text === '100 kWh carried to your next bill');
  assert.equal(told.length, many.length);
});

test('a reading after the register went round says so', () => {
  const [first] = ordinaryBill.meterReadings;
  assert.ok(first);
  const again = { previousReading: '99871', currentReading: '143', rollover: 1 as const };
  const round = { ...first, ...again };
  const shown = (over: object, locale = 'en-PK') =>
    billText({
      ...ordinary,
      locale,
      bill: { ...ordinaryBill, meterReadings: [{ ...round, ...over }] },
    });
  assert.match(shown({}), /99,871 – 143 \(Removal, rollover\)/);
  assert.match(shown({ estimated: 1 }), /\(Estimated, rollover\)/);
  assert.match(shown({ readingType: null }), /99,871 – 143 \(rollover\)/);
  assert.doesNotMatch(shown({ rollover: 0 }), /rollover/);
  assert.doesNotMatch(shown({}, 'hi-IN'), /rollover/);
  for (const locale of ['en-PK', 'ur-PK', 'hi-IN', 'ar-EG']) {
    const bill = { ...ordinaryBill, meterReadings: [{ ...round, readingType: 'Installation' }] };
    assertWellSet(layOutBill({ ...ordinary, locale, bill }, notoTypefaces()), locale);
  }
});
