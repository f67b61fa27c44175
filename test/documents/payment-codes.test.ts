// The codes on payment slips, read back from PDF and HTML.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { create } from 'qrcode';
import type { BillDocument, BillDocumentInput } from '../../src/domain/documents/bill-document.ts';
import { renderBillHtml } from '../../src/domain/documents/bill-html.ts';
import { codeCharactersMax, codeRows } from '../../src/domain/documents/code.ts';
import { checksum } from '../../src/domain/documents/emv-code.ts';
import { layOutBill } from '../../src/domain/documents/render-bill.ts';
import type { PaymentCode } from '../../src/domain/pricing/context.ts';
import { cellsOf, readBars, readQr } from './code-reader.ts';
import { ordinary, ordinaryBill } from './ordinary-bill.ts';
import { assertWellSet, textsOf } from './page-check.ts';

const urduTitle = 'لاہور سٹی بجلی کمپنی';

type Over = Partial<BillDocument>;

function billWith(code: PaymentCode, over: Over = {}, account = {}): BillDocumentInput {
  const [first, second] = ordinaryBill.bankAccounts;
  assert.ok(first && second);
  const bankAccounts = [second, { ...first, paymentCode: code, ...account }];
  return { ...ordinary, bill: { ...ordinaryBill, bankAccounts, ...over } };
}

function figuresOf(input: BillDocumentInput): { cells: boolean[][]; caption: string }[] {
  const { html } = renderBillHtml(input);
  return [...html.matchAll(/<path d="([^"]*)"\/>.*?<figcaption>(.*?)<\/figcaption>/gs)].map(
    ([, path = '', caption = '']) => ({
      cells: cellsOf(path),
      caption: caption.replace(/<[^>]*>/g, ''),
    }),
  );
}

/** What the QR code says and what is written below it: the same in PDF and HTML. */
function codeOf(input: BillDocumentInput): { text: string; caption: string } {
  const pages = layOutBill(input);
  assertWellSet(pages, 'bill with a code');
  const items = pages.flatMap((page) => page.items);
  const matrix = items.filter((item) => item.kind === 'matrix').find((one) => one.rows.length > 1);
  assert.ok(matrix);
  assert.equal(matrix.width, matrix.height);
  const figure = figuresOf(input).find((one) => one.cells.length > 1);
  assert.ok(figure);
  const text = readQr(matrix.rows);
  assert.equal(readQr(figure.cells), text);
  if (input.locale.startsWith('en')) assert.ok(pages.flatMap(textsOf).includes(figure.caption));
  return { text, caption: figure.caption };
}

const amounts: [number, string][] = [
  [0.01, '0.01'],
  [15648.39, '15648.39'],
  [250, '250.00'],
  [1234567.9, '1234567.90'],
];

test('an EPC code has the transfer as EPC069-12 writes it, with the exact amount', () => {
  const account = { iban: 'DE75512108001245126199', swift: 'SOGEDEFF', currency: 'EUR' };
  for (const [payableWithinDueDate, amount] of [...amounts, [999999999.99, '999999999.99']]) {
    const over = { currency: 'EUR', payableWithinDueDate: Number(payableWithinDueDate) };
    const { text, caption } = codeOf(billWith({ type: 'EPC' }, over, account));
    const lines = ['BCD', '002', '1', 'SCT', 'SOGEDEFF', 'City Power Collections'];
    const rest = ['DE75512108001245126199', `EUR${amount}`, '', '', '1000009910'];
    assert.deepEqual(text.split('\n'), [...lines, ...rest]);
    assert.equal(caption, 'Scan to pay');
  }
  const noBic = codeOf(
    billWith(
      { type: 'EPC', name: 'Stadtwerke Köln' },
      { currency: 'EUR' },
      { ...account, swift: null },
    ),
  );
  assert.deepEqual(noBic.text.split('\n').slice(3, 7), [
    'SCT',
    '',
    'Stadtwerke Köln',
    'DE75512108001245126199',
  ]);
});

const promptPay: PaymentCode = {
  type: 'EMVCo',
  tag: '30',
  guid: 'A000000677010112',
  fields: [
    { tag: '01', value: '010753600031508' },
    { tag: '02', value: '{{bill.billRefNo}}' },
  ],
  name: 'Città di Lahore',
  city: 'Bangkok',
  country: 'TH',
  categoryCode: '4900',
};

/** Tags, lengths and values; the checksum is that of all before it. */
function fieldsOf(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (let at = 0; at < text.length; ) {
    const end = at + 4 + Number(text.slice(at + 2, at + 4));
    fields.set(text.slice(at, at + 2), text.slice(at + 4, end));
    at = end;
  }
  return fields;
}

test('an EMVCo code has the payee, the exact amount, the bill number and a right checksum', () => {
  // The check value of CRC-16/CCITT-FALSE.
  assert.equal(checksum('123456789'), '29B1');
  for (const [payableWithinDueDate, amount] of amounts) {
    const { text, caption } = codeOf(
      billWith(promptPay, { currency: 'THB', payableWithinDueDate }),
    );
    assert.equal(caption, 'Scan to pay');
    const fields = fieldsOf(text);
    const additional = fields.get('62') ?? '';
    assert.deepEqual(Object.fromEntries(fields), {
      '00': '01',
      '01': '12',
      30: '0016A000000677010112' + '0115010753600031508' + '02101000009910',
      52: '4900',
      53: '764',
      54: amount,
      58: 'TH',
      59: 'Citta di Lahore',
      60: 'Bangkok',
      62: additional,
      63: checksum(text.slice(0, -4)),
    });
    assert.deepEqual(Object.fromEntries(fieldsOf(additional)), {
      '01': 'ELEC-2025-000991',
      '05': '1000009910',
    });
  }
  const yen = codeOf(billWith(promptPay, { currency: 'JPY', payableWithinDueDate: 15648 }));
  assert.equal(fieldsOf(yen.text).get('54'), '15648');
  assert.equal(fieldsOf(yen.text).get('53'), '392');
});

test('a UPI code is a link with the exact amount; a name in Urdu stays as it is', () => {
  const code = { type: 'UPI', upiAddress: 'city.power@bank' } as const;
  for (const [payableWithinDueDate, amount] of [...amounts, [999999999999.99, '999999999999.99']]) {
    const over = { currency: 'INR', payableWithinDueDate: Number(payableWithinDueDate) };
    const { text } = codeOf(billWith(code, over, { title: urduTitle }));
    assert.ok(text.startsWith('upi://pay?pa=city.power@bank&pn='), text);
    assert.deepEqual(Object.fromEntries(new URL(text).searchParams), {
      pa: 'city.power@bank',
      pn: urduTitle,
      am: amount,
      cu: 'INR',
      tn: 'ELEC-2025-000991',
      tr: '1000009910',
    });
    assert.ok(!text.includes('+'), text);
  }
});

test('the address of a payment page has exact amounts and plain dates in every language', () => {
  const url =
    'https://pay.example.com/{{bill.billRefNo}}?a={{bill.payableWithinDueDate}}&d={{bill.dueDate}}&n={{bill.partyName}}';
  for (const locale of ['en-PK', 'ur-PK', 'hi-IN', 'ar-EG']) {
    const input = billWith(
      { type: 'URL', url },
      { payableWithinDueDate: 999999999999.99, partyName: 'احمد & Co?a=1#' },
    );
    const { text } = codeOf({ ...input, locale });
    const read = new URL(text);
    assert.equal(read.host + read.pathname, 'pay.example.com/1000009910');
    assert.deepEqual(
      [...read.searchParams],
      [
        ['a', '999999999999.99'],
        ['d', '2025-08-15'],
        ['n', 'احمد & Co?a=1#'],
      ],
    );
    assert.equal(read.hash, '');
  }
});

test('a code that is only the reference is labelled so in the language of the bill', () => {
  const input = billWith({ type: 'Reference' });
  const reference = { text: '1000009910', caption: 'Payment reference' };
  assert.deepEqual(codeOf(input), reference);
  assert.deepEqual(codeOf(ordinary), reference, 'no bank account has a code');
  assert.equal(codeOf({ ...input, locale: 'ur-PK' }).caption, 'حوالہ نمبر');
  assert.equal(codeOf({ ...input, locale: 'hi-IN' }).caption, 'भुगतान संदर्भ');
  const { letterhead } = ordinary;
  const codeText = 'https://pay.example.com/{{bill.billRefNo}}';
  const page = codeOf({ ...ordinary, letterhead: { ...letterhead, codeText } });
  assert.deepEqual(page, { text: 'https://pay.example.com/1000009910', caption: 'Scan to pay' });
});

test('a payment that a standard cannot express leaves the reference', () => {
  const huge = { payableWithinDueDate: 999999999999.99 };
  const reference = { text: '1000009910', caption: 'Payment reference' };
  const euro = { iban: 'DE75512108001245126199' };
  const cases: BillDocumentInput[] = [
    billWith({ type: 'EPC' }, { currency: 'EUR', ...huge }, euro),
    billWith({ type: 'EPC' }, { currency: 'PKR' }, euro),
    billWith({ type: 'EPC' }, { currency: 'EUR' }, { iban: null }),
    billWith(promptPay, { currency: 'THB', ...huge }),
    billWith({ type: 'UPI', upiAddress: 'a1@bank' }, { currency: 'PKR' }),
    billWith(
      { ...promptPay, fields: [{ tag: '01', value: '{{bill.partyName}}' }] },
      {
        currency: 'THB',
        partyName: urduTitle,
      },
    ),
    billWith({ type: 'URL', url: `https://a.example/${'x'.repeat(290)}/{{bill.billRefNo}}` }),
  ];
  for (const input of cases) assert.deepEqual(codeOf(input), reference);
});

test('the bar code says the reference to counters, in PDF and HTML and in every direction', () => {
  const { letterhead } = ordinary;
  for (const [barcodeText, expected] of [
    ['{{bill.billRefNo}}', '1000009910'],
    ['{{bill.billNumber}}', 'ELEC-2025-000991'],
    ['48213{{bill.billRefNo}}-{{bill.payableWithinDueDate}}', '482131000009910-15648.39'],
  ] as const) {
    for (const locale of ['en-PK', 'ur-PK']) {
      const bill = { ...ordinaryBill, payableWithinDueDate: 15648.39 };
      const input = { ...ordinary, bill, locale, letterhead: { ...letterhead, barcodeText } };
      const pages = layOutBill(input);
      assertWellSet(pages, 'bill with a bar code');
      const items = pages.flatMap((page) => page.items).filter((item) => item.kind === 'matrix');
      const bars = items.find((item) => item.rows.length === 1)?.rows[0];
      assert.ok(bars);
      assert.equal(readBars(bars), expected);
      const drawn = figuresOf(input).find((one) => one.cells.length === 1);
      assert.equal(readBars(drawn?.cells[0] ?? []), expected);
      assert.equal(drawn?.caption, expected);
    }
  }
  const urdu = { ...letterhead, barcodeText: '{{bill.partyName}}' };
  const bill = { ...ordinaryBill, partyName: urduTitle };
  assert.equal(figuresOf({ ...ordinary, bill, letterhead: urdu }).length, 1, 'no bars for Urdu');
});

test('a bill that asks for no payment has no code and no bar code', () => {
  const { letterhead } = ordinary;
  const marked = { ...letterhead, barcodeText: '{{bill.billRefNo}}' };
  const of = (over: Over, rest: Partial<BillDocumentInput> = {}): BillDocumentInput => {
    const url = { type: 'URL', url: 'https://pay.example.com' } as const;
    return { ...billWith(url, over), letterhead: marked, ...rest };
  };
  assert.equal(figuresOf(of({})).length, 2);
  const creditNote = {
    number: 'CN-1',
    issueDate: '02/08/2025',
    reason: 'Wrong reading',
    amount: 1,
    walletAmount: 0,
    lines: [],
  };
  const cases = [
    of({ status: 'Draft' }),
    of({ status: 'Error' }),
    of({ status: 'Cancelled' }),
    of({ payableWithinDueDate: 0 }),
    of({}, { isOwedByWorkspace: true }),
    of({}, { creditNote }),
  ];
  for (const input of cases) {
    assert.equal(figuresOf(input).length, 0);
    const items = layOutBill(input).flatMap((page) => page.items);
    assert.ok(!items.some((item) => item.kind === 'matrix'));
  }
});

test('the squares of a QR code are those that the library chooses', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: codeCharactersMax }),
    fc.bigInt({ min: 1n, max: 10n ** 40n }).map(String),
  );
  fc.assert(
    fc.property(text, (wanted) => {
      const { modules } = create(wanted, { errorCorrectionLevel: 'M' });
      const squares = codeRows(wanted)?.flat() ?? [];
      assert.deepEqual(squares.map(Number), [...modules.data]);
    }),
    { numRuns: 60 },
  );
});
