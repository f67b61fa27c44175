// Bills as HTML and as plain text.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { notoTypefaces } from '../../src/base/typeset/noto.ts';
import { renderBillHtml } from '../../src/domain/documents/bill-html.ts';
import { billText } from '../../src/domain/documents/bill-text.ts';
import { readLetterhead } from '../../src/domain/documents/letterhead.ts';
import { layOutBill } from '../../src/domain/documents/render-bill.ts';
import { allBills, sectioned, urdu } from './bills.ts';
import { line, ordinary, ordinaryBill } from './ordinary-bill.ts';
import { textsOf } from './page-check.ts';

const hostileText = `<script>alert(1)</script>"' onload=alert(1) </style> & {{x}} \u202e\u0000`;

/** Names of elements and attributes, as a browser would see them. */
function marks(html: string): { elements: Set<string>; attributes: Set<string> } {
  const elements = new Set<string>();
  const attributes = new Set<string>();
  for (const [, name = '', rest = ''] of html.matchAll(/<([a-z0-9]+)((?:\s+[^<>]*)?)\/?>/gi)) {
    elements.add(name.toLowerCase());
    for (const [, attribute = ''] of rest.matchAll(/([a-zA-Z:-]+)="[^"]*"/g)) {
      attributes.add(attribute.toLowerCase());
    }
  }
  return { elements, attributes };
}

test('the page holds all it needs: no script, no inline style, nothing to fetch', () => {
  for (const input of Object.values(allBills)) {
    const { html, policy } = renderBillHtml(input);
    const { elements, attributes } = marks(html);
    for (const name of ['script', 'link', 'iframe', 'object', 'form', 'a', 'base']) {
      assert.ok(!elements.has(name), name);
    }
    assert.ok(!attributes.has('style'));
    assert.ok(![...attributes].some((name) => name.startsWith('on')));
    assert.doesNotMatch(html, /(?:src|href)="(?!data:image)/);
    assert.doesNotMatch(html, /url\(|@import|https?:\/\//);
    const style = /<style>([\s\S]*?)<\/style>/.exec(html)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    assert.ok(policy.includes(`style-src 'sha256-${hash}'`));
    assert.match(policy, /^default-src 'none'; /);
  }
});

test('hostile texts stay text in every place', () => {
  const usual = marks(renderBillHtml(ordinary).html);
  const bill = {
    ...ordinaryBill,
    partyName: hostileText,
    serviceLabel: hostileText,
    termLabel: hostileText,
    billNumber: hostileText,
    connectionNumber: hostileText,
    address: { street: hostileText, city: hostileText },
    lines: [line({ label: hostileText, amount: 1, description: hostileText, unit: hostileText })],
    usage: [{ input: hostileText, unit: hostileText, quantity: '1' }],
    history: [{ label: hostileText, quantity: '1', amount: 1, paidAmount: 0 }],
    bankAccounts: ordinaryBill.bankAccounts
      .slice(0, 1)
      .map((bank) => ({ ...bank, title: hostileText, iban: hostileText })),
  };
  const { html } = renderBillHtml({
    ...ordinary,
    bill,
    letterhead: readLetterhead({
      name: hostileText,
      country: 'PK',
      letterhead: {
        name: hostileText,
        color: 'red;} body{background:url(//evil.example)}',
        addressLines: [hostileText],
        website: hostileText,
        logo: Buffer.from(hostileText).toString('base64'),
      },
    }),
    template: { body: `${hostileText.replace('{{x}}', '')} {{bill.partyName}}` },
  });
  const found = marks(html);
  assert.deepEqual(
    [...found.elements].filter((name) => !usual.elements.has(name)),
    [],
  );
  assert.deepEqual(
    [...found.attributes].filter((name) => !usual.attributes.has(name)),
    [],
  );
  assert.doesNotMatch(html, /evil\.example|\u202e/);
  assert.ok(!html.includes('\0'));
});

test('the page says what the paper says, in its language and direction', () => {
  const { html } = renderBillHtml(ordinary);
  assert.match(html, /<html lang="en-PK" dir="ltr">/);
  for (const text of [
    'City Power &amp; Light',
    'PKR\u00a014,842.00',
    '100 kWh × 16.48 = 1,648.00',
  ]) {
    assert.ok(html.includes(text), text);
  }
  assert.match(renderBillHtml(urdu).html, /<html lang="ur-PK" dir="rtl">/);
});

test('on a narrow screen readings and charges stack, and paper keeps its tables', () => {
  const { html } = renderBillHtml(ordinary);
  const [narrow = ''] = /@media screen and \(max-width: 600px\) \{[\s\S]*?\n\}/.exec(html) ?? [];
  for (const rule of ['.readings td::before', '.charges tr { display: grid', 'flex-basis: 100%']) {
    assert.ok(narrow.includes(rule), rule);
  }
  const cells = [...html.matchAll(/<td data-name="([^"]*)"><bdi>([^<]*)/g)];
  assert.deepEqual(
    cells.slice(0, 3).map(([, name, value]) => [name, value]),
    [
      ['Meter', '700101'],
      ['Register', 'kWh'],
      ['Previous reading', '48,210 (30-Jun-2025)'],
    ],
  );
});

test('a colour too light to be read on white is darkened, as on paper', () => {
  const accent = (color: string) => {
    const { html } = renderBillHtml({ ...ordinary, letterhead: { ...ordinary.letterhead, color } });
    return /--accent: (#[0-9a-f]{6});/.exec(html)?.[1];
  };
  assert.equal(accent('#0b6e4f'), '#0b6e4f');
  // 255 * 0.45 = 114.75
  assert.equal(accent('#ffffff'), '#727272');
  const yellow = { ...ordinary, letterhead: { ...ordinary.letterhead, color: '#f2c500' } };
  const colors = layOutBill(yellow, notoTypefaces()).flatMap((page) =>
    page.items.map((item) => ('color' in item ? item.color : '')),
  );
  assert.ok(colors.includes(accent('#f2c500') ?? ''));
});

test('bars of the chart with long labels are distinguished by the end of the label', () => {
  const name = (term: string) => `Batch North ${term}`;
  const history = ordinaryBill.history.map((term) => ({ ...term, label: name(term.label) }));
  const bill = { ...ordinaryBill, termLabel: name('Jul-2025'), history };
  const shown = ({ html }: { html: string }) =>
    [...html.matchAll(/<text [^>]*>([^<]*)</g)].map(([, text]) => text);
  const texts = shown(renderBillHtml({ ...ordinary, bill }));
  assert.deepEqual(texts.slice(0, 4), ['310', '…North', 'Jul', '2024']);
  assert.deepEqual(texts.slice(-4), ['404', '…North', 'Jul', '2025']);
  assert.deepEqual(shown(renderBillHtml(ordinary)).slice(-3), ['404', 'Jul', '2025']);
});

test('a bill in plain text has the currency, the amounts payable with dates, readings and days', () => {
  const [first] = ordinaryBill.meterReadings;
  assert.ok(first);
  const estimated = { ...first, estimated: 1 as const, mf: 40, consumption: '5680' };
  const demand = { ...first, register: 'kW', previousReading: null, readingType: null };
  const part = { toDate: '10/07/2025', days: 10, description: 'By letter' };
  const lines = [line({ label: 'Energy', amount: 5, ...part })];
  const meterReadings = [estimated, demand];
  const text = billText({ ...ordinary, bill: { ...ordinaryBill, lines, meterReadings } });
  assert.match(text, /^Payable by 15-Aug-2025: +PKR.14,842\.00$/m);
  assert.match(text, /^Payable after 15-Aug-2025: +PKR.16,201\.00$/m);
  assert.match(text, /^Meter 700101 kWh 48,210 – 48,352 × 40 \(Estimated\) +5,680$/m);
  assert.match(text, /^Meter 700101 kW 48,352 +142$/m);
  assert.match(text, /^ {2}01-Jul-2025 – 10-Jul-2025 \(10 days\) · By letter$/m);
});

test('a bill in plain text has its lines, sums and dates, and no marks of direction', () => {
  const text = billText(ordinary);
  assert.match(text, /^Electricity bill ELEC-2025-000991$/m);
  assert.match(text, /^Energy charges \(404 kWh\) +9,988\.12$/m);
  assert.match(text, /^General sales tax \(17 %\) +1,932\.96$/m);
  assert.match(text, /^Payable within due date +14,842\.00$/m);
  assert.match(text, /^Due date: +15-Aug-2025$/m);
  for (const input of Object.values(allBills)) {
    assert.doesNotMatch(billText(input), /[\u2066-\u2069\u202a-\u202e]/);
  }
  assert.equal(billText(sectioned).match(/^Subtotal/gm)?.length, 3);
  const colored = { ...ordinary, bill: { ...ordinaryBill, partyName: 'a\u001b[31mb' } };
  assert.ok(!billText(colored).includes('\u001b'), 'a terminal is given no commands');
});

test('a line of one step with a flat part shows the step, and one without shows its rate', () => {
  const shown = (flat?: string) => {
    const step = { quantity: '80', rate: '3', amount: flat === '50' ? '290' : '240' };
    const details = [flat === undefined ? step : { ...step, flat }];
    const amount = Number(step.amount);
    const lines = [line({ label: 'Energy', quantity: '80', unit: 'kWh', amount, details })];
    const input = { ...ordinary, bill: { ...ordinaryBill, lines } };
    const { html } = renderBillHtml(input);
    const cells = /<td><bdi>Energy.*?<\/tr>/.exec(html)?.[0].replace(/<[^>]+>/g, '|') ?? '';
    return {
      html: cells.split('|').filter((text) => text !== ''),
      text: billText(input).match(/^(?:Energy| ).*$/gm),
      pdf: layOutBill(input).flatMap(textsOf),
    };
  };
  // 80 * 3 + 50
  const step = '80 kWh × 3 + 50.00 = 290.00';
  const flat = shown('50');
  assert.deepEqual(flat.html, ['Energy', step, '80 kWh', '290.00']);
  assert.deepEqual(flat.text, [pair('Energy (80 kWh)', '290.00'), `  ${step}`]);
  const at = flat.pdf.indexOf('Energy');
  assert.deepEqual(flat.pdf.slice(at, at + 4), ['Energy', '80 kWh', '290.00', step]);
  for (const none of [shown(), shown('0'), shown('0.00')]) {
    assert.deepEqual(none.html, ['Energy', '80 kWh', '3', '240.00']);
    assert.deepEqual(none.text, [pair('Energy (80 kWh × 3)', '240.00')]);
    const from = none.pdf.indexOf('Energy');
    assert.deepEqual(none.pdf.slice(from, from + 4), ['Energy', '80 kWh', '3', '240.00']);
    assert.ok(!none.pdf.some((text) => text.startsWith('80 kWh ×')));
  }
});

function pair(label: string, value: string): string {
  return label + value.padStart(64 - label.length);
}

test('a statement of what the workspace owes names the payer, and asks for no payment', () => {
  const owed = { ...ordinary, isOwedByWorkspace: true };
  const text = billText(owed);
  assert.match(text, /^Electricity statement ELEC-2025-000991$/m);
  assert.match(text, /^We pay you +14,842\.00$/m);
  const seen = renderBillHtml({ ...owed, template: null }).html.replace(
    /<style>.*?<\/style>|<[^>]*>/gs,
    ' ',
  );
  assert.match(seen, /We pay you by 15-Aug-2025/);
  for (const shown of [text, seen]) {
    assert.doesNotMatch(shown, /payable|\bbill\b|slip|scan|detach/i);
  }
  for (const locale of ['ur-PK', 'ar-EG', 'hi-IN']) {
    const [own, usual] = [owed, ordinary].map((input) =>
      billText({ ...input, locale }).split('\n'),
    );
    assert.notEqual(own?.at(-2), usual?.at(-2), locale);
    assert.doesNotMatch(renderBillHtml({ ...owed, locale }).html, /<footer/);
  }
});

test('a bill with nothing to pay threatens with no surcharge', () => {
  assert.match(billText(ordinary), /surcharge/i);
  const paid = { payableWithinDueDate: 0, walletApplied: 14_842, payableAfterDueDate: 1_359 };
  const text = billText({ ...ordinary, bill: { ...ordinaryBill, ...paid } });
  assert.match(text, /^Paid from your balance +-14,842\.00$/m);
  assert.doesNotMatch(text, /surcharge|after due date/i);
});
