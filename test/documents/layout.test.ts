// Positions on the pages of a bill.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { BillDocument, BillDocumentInput } from '../../src/domain/documents/bill-document.ts';
import { documentView } from '../../src/domain/documents/credit-note-view.ts';
import { layOutBill } from '../../src/domain/documents/render-bill.ts';
import { allBills, crowded, letterSize, sectioned } from './bills.ts';
import { line, ordinary, ordinaryBill } from './ordinary-bill.ts';
import { assertWellSet, textsOf } from './page-check.ts';

const lay = (input: BillDocumentInput) => layOutBill(input);

for (const [name, input] of Object.entries(allBills)) {
  test(`the bill '${name}': nothing overlaps and nothing leaves the page`, () => {
    assertWellSet(lay(input), name);
  });
}

test('the check sees a text that is moved onto another, and one that is moved off the page', () => {
  const [page] = lay(ordinary);
  assert.ok(page);
  const moved = (by: { x: number; y: number }) => ({
    ...page,
    items: page.items.map((item, index) =>
      item.kind === 'text' && index > 20 && index < 25
        ? { ...item, x: item.x + by.x, y: item.y + by.y }
        : item,
    ),
  });
  assert.throws(() => assertWellSet([moved({ x: 0, y: 11 })], 'moved'), / and /);
  assert.throws(() => assertWellSet([moved({ x: 500, y: 0 })], 'moved'), /leaves the page/);
});

test('an ordinary bill is one page; forty lines go on, with headings repeated and pages numbered', () => {
  assert.equal(lay(ordinary).length, 1);
  const pages = lay(crowded);
  assert.equal(pages.length, 2);
  pages.forEach((page, index) => {
    const texts = textsOf(page);
    assert.ok(texts.includes('Description') && texts.includes('Amount (PKR)'));
    assert.ok(texts.includes(`Page ${index + 1} of 2`));
  });
  const all = pages.flatMap(textsOf);
  for (const { lineNo, amount } of crowded.bill.lines) {
    const shown = amount.toLocaleString('en', { minimumFractionDigits: 2 });
    assert.ok(all.includes(shown), `line ${lineNo}`);
  }
});

test('the heading of taxes is on the page of its first line', () => {
  const tax = line({ label: 'Sales tax', type: 'Tax', amount: 1 });
  // One of these many charges fills the first page up to a row.
  for (let count = 26; count <= 34; count++) {
    const charges = Array.from({ length: count }, (_, index) =>
      line({ label: `Charge ${index}`, amount: 1 }),
    );
    const pages = lay({ ...ordinary, bill: { ...ordinaryBill, lines: [...charges, tax] } });
    assertWellSet(pages, `${count} charges`);
    const texts = pages.map(textsOf).find((page) => page.includes('Taxes and duties'));
    assert.ok(texts);
    assert.equal(texts[texts.indexOf('Taxes and duties') + 1], 'Sales tax', `${count} charges`);
  }
});

test('the slip is at the foot of the last page, below a line to tear along', () => {
  for (const input of [ordinary, crowded, sectioned]) {
    const page = lay(input).at(-1);
    assert.ok(page);
    const tear = page.items.find((item) => item.kind === 'rule' && item.isDashed);
    const code = page.items.find((item) => item.kind === 'matrix');
    assert.ok(tear && code);
    assert.equal(tear.width, page.width, 'from edge to edge');
    assert.ok(code.y > tear.y && code.y + code.height > page.height - 140);
    const below = page.items.filter((item) => item.y > tear.y);
    assert.ok(below.some((item) => item.kind === 'text'));
  }
});

test('a draft, a cancelled bill and a credit have no slip, and say so', () => {
  const has = (over: Partial<BillDocument>) => {
    const pages = lay({ ...ordinary, bill: { ...ordinaryBill, ...over } });
    const texts = pages.flatMap(textsOf);
    return {
      code: pages.some((page) => page.items.some((item) => item.kind === 'matrix')),
      says: (words: string) => texts.includes(words),
    };
  };
  const draft = has({ status: 'Draft' });
  assert.ok(!draft.code && draft.says('DRAFT – not for payment'));
  const cancelled = has({ status: 'Cancelled' });
  assert.ok(!cancelled.code && cancelled.says('CANCELLED – do not pay'));
  const credit = has({ payableWithinDueDate: 0, creditBalance: 10 });
  assert.ok(!credit.code && credit.says('Credit in your favour'));
});

test('a bill from right to left is the mirror of the page', () => {
  const pages = lay(allBills.urdu as BillDocumentInput);
  const page = pages[0];
  assert.ok(page);
  const logo = page.items.find((item) => item.kind === 'image');
  const code = page.items.find((item) => item.kind === 'matrix');
  assert.ok(logo && logo.x > page.width / 2, 'the logo is on the right');
  assert.ok(code && code.x < page.width / 2, 'the code is on the left');
});

test('sheets are A4 unless the letterhead or the country says Letter', () => {
  const size = (input: BillDocumentInput) => {
    const [page] = lay(input);
    return [page?.width, page?.height];
  };
  assert.deepEqual(size(ordinary), [595.28, 841.89]);
  assert.deepEqual(size(letterSize), [612, 792]);
  const { pageSize: _, ...rest } = letterSize;
  assert.deepEqual(
    size({ ...rest, letterhead: { ...rest.letterhead, pageSize: 'Letter' } }),
    [612, 792],
  );
});

test('each section of an account has its readings, lines and subtotal', () => {
  const texts = lay(sectioned).flatMap(textsOf);
  for (const { connectionNumber } of sectioned.bill.sections) {
    assert.ok(texts.includes(`Connection ${connectionNumber} · Residential A-1`));
  }
  assert.equal(texts.filter((text) => text === 'Subtotal').length, 3);
  assert.equal(texts.filter((text) => text === '4,530.67').length, 3);
  assert.equal(texts.filter((text) => text === 'TV licence fee').length, 3);
});

test('the texts on a page agree with the bill', () => {
  const texts = lay(ordinary).flatMap(textsOf);
  for (const wanted of [
    'City Power & Light Company Limited',
    'Electricity bill',
    'A. Khan',
    'Gulberg III, Lahore',
    'ELEC-2025-000991',
    '1000009910',
    '01-Jul-2025 – 31-Jul-2025',
    'PKR\u00a014,842.00',
    'PKR\u00a016,201.00',
    '48,210',
    '100 kWh × 16.48 = 1,648.00',
    '104 kWh × 32.03 = 3,331.12',
    '9,988.12',
    '2,221.66',
    '1,249.60',
    'Dear A. Khan, please pay PKR 14,842.00 by 15-Aug-2025.',
  ]) {
    assert.ok(texts.includes(wanted), wanted);
  }
});

const chartCases: readonly { title: string; name: (term: string) => string; last: string[] }[] = [
  { title: 'month and year', name: (term) => term, last: ['Jul', '2025'] },
  {
    title: 'a batch before',
    name: (term) => `Batch North ${term}`,
    last: ['North', 'Jul', '2025'],
  },
  {
    title: 'a batch behind',
    name: (term) => `${term} Batch North`,
    last: ['Jul', '2025', 'Batch'],
  },
  {
    title: 'a batch on either side',
    name: (term) => `Batch North ${term} Zone A`,
    last: ['…Jul', '2025', 'Zone…'],
  },
  { title: 'a short batch', name: (term) => `Zone Old A ${term}`, last: ['…A', 'Jul', '2025'] },
  { title: 'a wide name', name: (term) => `Northeastern ${term}`, last: ['Nort…', 'Jul', '2025'] },
  {
    title: 'a hyphen amid spaces',
    name: (term) => term.replace('-', ' - '),
    last: ['Jul', '2025'],
  },
];

for (const { title, name, last } of chartCases) {
  test(`the bars of a chart can be distinguished, with labels of ${title}`, () => {
    const history = ordinaryBill.history.map((term) => ({ ...term, label: name(term.label) }));
    const bill = { ...ordinaryBill, termLabel: name('Jul-2025'), history };
    const pages = lay({ ...ordinary, bill });
    assertWellSet(pages, title);
    const texts = pages.flatMap(textsOf);
    // Thirteen labels under the chart's thirteen figures.
    const from = texts.indexOf('404', texts.indexOf('Your use in past terms (kWh)')) + 1;
    const labels = Array.from({ length: 13 }, (_, index) => {
      const at = from + index * last.length;
      return texts.slice(at, at + last.length);
    });
    assert.deepEqual(labels.at(-1), last);
    assert.equal(new Set(labels.map((label) => label.join(' '))).size, 13);
  });
}

const words = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    'محمد احمد خان (12-B) 5',
    'श्रीमती लक्ष्मी',
    'A'.repeat(4_000),
    'a b '.repeat(1_000),
    '',
    '=cmd|calc!A1\r\n\u202e\u0000😀',
  ),
);
const amount = fc.double({ min: -1e12, max: 1e12, noNaN: true });
const decimal = fc
  .tuple(fc.nat(999_999), fc.nat(9_999))
  .map(([whole, part]) => `${whole}.${String(part).padStart(4, '0')}`);

const anyLine = fc
  .record({ label: words, amount, description: fc.option(words), quantity: fc.option(decimal) })
  .map((over) => line({ ...over, unit: 'kWh', rate: over.quantity }));

const anyBill = fc.record({
  partyName: words,
  connectionGroupLabel: words,
  connectionNumber: words,
  tariffLabel: words,
  termLabel: words,
  serviceLabel: words,
  billNumber: words,
  billRefNo: fc.stringMatching(/^\d{0,20}$/),
  address: fc.dictionary(
    fc.constantFrom('title', 'street', 'city', 'buildingNo', 'society'),
    words,
  ),
  lines: fc.array(anyLine, { maxLength: 60 }),
  payableWithinDueDate: amount,
  payableAfterDueDate: amount,
  latePaymentSurcharge: amount,
  currentCharges: amount,
  arrears: amount,
  paymentsReceived: amount,
});

test('the bars of a chart tell small, large and negative figures as they are', () => {
  const history = ['0.4', '1.5', '-20', '-12345678', '101.6'].map((quantity, index) => ({
    label: `M${index}`,
    quantity,
    amount: 0,
    paidAmount: 0,
  }));
  const usage = [{ input: 'data', unit: 'GB', quantity: '0.25' }];
  const [page] = lay({ ...ordinary, bill: { ...ordinaryBill, usage, history } });
  assert.ok(page);
  const texts = textsOf(page);
  for (const wanted of ['0.4', '1.5', '-20', '-12.3M', '102', '0.25']) {
    assert.ok(texts.includes(wanted), `${wanted} in ${texts.join(', ')}`);
  }
});

test('a line over a single day says so in good English', () => {
  const days = { fromDate: '04/07/2025', toDate: '04/07/2025', days: 1 };
  const lines = [line({ label: 'Hire of a pump', amount: 5, ...days })];
  const [page] = lay({ ...ordinary, bill: { ...ordinaryBill, lines } });
  assert.ok(page);
  assert.ok(textsOf(page).includes('04-Jul-2025 – 04-Jul-2025 (1 day)'));
});

test('whatever the texts and figures, nothing overlaps and nothing leaves the page', () => {
  const property = fc.property(
    anyBill,
    words,
    fc.constantFrom('en-PK', 'ur-PK', 'hi-IN', 'ar-EG', 'de-DE'),
    fc.constantFrom('A4' as const, 'Letter' as const),
    (over, name, locale, pageSize) => {
      const letterhead = {
        ...ordinary.letterhead,
        name,
        website: name,
        addressLines: [name, name],
      };
      const bill = { ...ordinaryBill, ...over };
      assertWellSet(lay({ ...ordinary, bill, letterhead, locale, pageSize }), 'random');
    },
  );
  fc.assert(property, { numRuns: 40 });
});

test('forty lines of two periods are grouped by period, and need two pages', () => {
  const lines = Array.from({ length: 40 }, (_, index) =>
    line({
      lineNo: index + 1,
      label: `Charge ${index + 1}`,
      amount: index + 1,
      ...(index % 2 === 0
        ? { toDate: '15/07/2025', days: 15 }
        : { fromDate: '16/07/2025', days: 16 }),
    }),
  );
  const pages = lay({ ...ordinary, bill: { ...ordinaryBill, lines } });
  assertWellSet(pages, 'two periods');
  assert.equal(pages.length, 2);
  const texts = pages.flatMap(textsOf);
  const headings = texts.filter((text) => text.startsWith('Charges · '));
  assert.deepEqual(headings, [
    'Charges · 01-Jul-2025 – 15-Jul-2025 (15 days)',
    'Charges · 16-Jul-2025 – 31-Jul-2025 (16 days)',
  ]);
  assert.ok(texts.indexOf('Charge 39') < texts.indexOf('Charge 2'));
});

test('a column without a value is not printed', () => {
  const [reading] = ordinaryBill.meterReadings;
  assert.ok(reading);
  const meterReadings = [{ ...reading, register: null, readingType: null }];
  const lines = [line({ label: 'Fee', amount: 5 })];
  const texts = lay({ ...ordinary, bill: { ...ordinaryBill, meterReadings, lines } }).flatMap(
    textsOf,
  );
  for (const heading of ['Register', 'Type', 'Quantity', 'Rate']) {
    assert.ok(!texts.includes(heading), heading);
  }
  assert.ok(texts.includes('Factor') && texts.includes('Description'));
});

const ofYear = ordinaryBill.history.map((term, index) => ({
  ...term,
  label: `Rebill ${index % 2}`,
  month: String(202407 + index + (index > 5 ? 88 : 0)),
}));

for (const locale of ['en-PK', 'ur-PK', 'ar-EG', 'hi-IN', 'fr-FR', 'es-MX', 'fa-IR', 'pt-BR']) {
  test(`each month of the chart has a label of its own in ${locale}, whatever terms are called`, () => {
    const bill = { ...ordinaryBill, termLabel: 'Rebill', history: ofYear };
    const { history } = documentView({ ...ordinary, locale, bill });
    const points = history?.points ?? [];
    const labels = points.map(({ label }) => label.map(({ text }) => text).join(' '));
    assert.equal(new Set(labels).size, 13, labels.join(', '));
    if (locale === 'en-PK') assert.deepEqual([labels[0], labels[12]], ['Jul 2024', 'Jul 2025']);
    assertWellSet(lay({ ...ordinary, locale, bill }), locale);
  });
}

test('beside the chart are the daily average and the same month of the year before', () => {
  const bill = { ...ordinaryBill, history: ofYear };
  const texts = lay({ ...ordinary, bill }).flatMap(textsOf);
  // 404 kWh in 31 days.
  assert.equal(texts[texts.indexOf('Daily average') + 1], '13.03 kWh');
  assert.equal(texts[texts.indexOf('Same month last year') + 1], '310 kWh');
});

test('units are written as people write them', () => {
  const usage = [{ input: 'water', unit: 'm3', quantity: '31' }];
  const lines = [
    line({ label: 'Water', quantity: '31', unit: 'M3', rate: '2', amount: 62 }),
    line({ label: 'Energy', quantity: '5', unit: 'kwh', rate: '2', amount: 10 }),
    line({ label: 'Data', quantity: '7', unit: 'gb', rate: '1', amount: 7 }),
    line({ label: 'Seats', quantity: '2', unit: 'seat', rate: '1', amount: 2 }),
  ];
  const bill = { ...ordinaryBill, usage, lines, meterReadings: [] };
  const texts = lay({ ...ordinary, bill }).flatMap(textsOf);
  for (const wanted of ['31 m³', '5 kWh', '7 GB', '2 seat', '1 m³']) {
    assert.ok(texts.includes(wanted), wanted);
  }
});

test('payments are listed by day, and of many the older ones in one row', () => {
  const days = Array.from({ length: 9 }, (_, index) => `0${index + 1}/07/2025`);
  const payments = days.map((date, index) => ({ date, amount: index === 8 ? -10 : 0.1 }));
  // Eight times 0.10, and 10.00 taken back.
  const past = { previousBalance: 100, paymentsReceived: -9.2, payments, arrears: 109.2 };
  const { totals } = documentView({ ...ordinary, bill: { ...ordinaryBill, ...past } });
  const rows = totals.map(({ label, value }) => `${label}: ${value}`);
  assert.deepEqual(rows.slice(0, 8), [
    'Previous bill: 100.00',
    'Earlier payments: -0.40',
    'Payment received on 05-Jul-2025: -0.10',
    'Payment received on 06-Jul-2025: -0.10',
    'Payment received on 07-Jul-2025: -0.10',
    'Payment received on 08-Jul-2025: -0.10',
    'Payment taken back on 09-Jul-2025: 10.00',
    'Balance brought forward: 109.20',
  ]);
});
