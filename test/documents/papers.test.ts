// Documents that are no bills, on pages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notoTypefaces } from '../../src/base/typeset/noto.ts';
import { billView } from '../../src/domain/documents/bill-view.ts';
import { paperPages } from '../../src/domain/documents/layout/paper-pages.ts';
import { sheetOf } from '../../src/domain/documents/layout/sheet.ts';
import type { Paper } from '../../src/domain/documents/paper.ts';
import { viewOf } from '../../src/domain/documents/papers.ts';
import { layOutPaper } from '../../src/domain/documents/render-paper.ts';
import { ordinary, ordinaryBill, smallLogo } from './ordinary-bill.ts';
import { assertWellSet, textOf } from './page-check.ts';

const long = 'The Honourable Society for the Preservation of Unusually Long Names and Addresses';

function shared(locale: string) {
  const letterhead = { addressLines: ['22 Canal Road', 'Lahore'], logo: smallLogo };
  const organisation = { name: 'City Power & Light', country: 'PK', letterhead };
  const address = { buildingNo: '12-B', street: 'Street 4', city: 'Lahore' };
  return {
    setting: { organisation, locale, currency: 'PKR', currencyDecimals: 2 },
    party: { name: long, number: 100_009, address, connectionNumber: 'E-000101' },
  };
}

const receipt = {
  paymentID: 1234,
  reference: 'TT-2026-888',
  receiptNumber: 'GATE-2026-000017',
  cashDesk: 'Counter at the gate',
  paidOn: '03/08/2026',
  issuedOn: '03/08/2026',
  method: 'Cheque',
  chequeNumber: '0044551',
  amount: 16_551,
  settled: [
    { kind: 'Bill', billNumber: 'ELEC-2026-000991', amount: 14_951, surcharge: 1359 },
    { kind: 'Deposit', billNumber: null, amount: 1000, surcharge: 0 },
  ],
  settledAmount: 15_951,
  walletAmount: 600,
  recoveredAmount: 0,
  remark: long,
};

const entry = {
  date: '03/08/2026',
  type: 'Payment',
  reference: 'TT-2026-888',
  description: long,
  debit: 0,
  credit: 99_999_999_999.99,
  balance: -99_999_999_999.99,
};

const statement = {
  account: 'House',
  fromDate: '01/07/2026',
  toDate: '31/08/2026',
  issuedOn: '31/08/2026',
  openingBalance: 100,
  entries: Array.from({ length: 90 }, () => entry),
  debits: 0,
  credits: 99_999_999_999.99,
  closingBalance: -99_999_999_899.99,
  walletBalance: 12,
  disputedBalance: 30,
  aging: { current: 1, d1_30: 2, d31_60: 3, d61_90: 4, over90: 99_999_999_999.99 },
};

const reminder = {
  reminderID: 17,
  date: '18/08/2026',
  oldestDueDate: '15/08/2026',
  amount: 16_551,
  words: `Dear ${long}, please pay what is overdue.`,
  items: [
    { kind: 'Surcharge', billNumber: 'E-1', dueDate: '15/08/2026', daysOverdue: 3, amount: 1359 },
    { kind: 'Bill', billNumber: 'E-1', dueDate: '15/08/2026', daysOverdue: 3, amount: 15_192 },
  ],
  banks: [{ title: long, facts: [{ label: 'IBAN', value: 'PK36SCBL0000001123456702' }] }],
};

test('a final bill is titled so in each language, and a regular one is not', () => {
  const titles = { en: /^Electricity final bill$/, ar: /النهائية/, ur: /آخری بل/, hi: /^अंतिम/ };
  for (const [locale, title] of Object.entries(titles)) {
    const titleOf = (billType: string) =>
      billView({ ...ordinary, locale, bill: { ...ordinaryBill, billType } }).title;
    assert.match(titleOf('Final'), title);
    assert.doesNotMatch(titleOf('Regular'), title);
  }
});

for (const locale of ['en', 'ar', 'ur-PK', 'hi']) {
  test(`receipts, statements and reminders in ${locale} are well set`, () => {
    const papers: Paper[] = [
      { ...shared(locale), receipt },
      { ...shared(locale), statement },
      { ...shared(locale), reminder },
    ];
    for (const paper of papers) {
      const { view } = viewOf(paper);
      assertWellSet(layOutPaper(view, notoTypefaces(view.page.wording.locale)), view.page.title);
    }
  });
}

test('figures of a statement in Urdu end below each other on the right', () => {
  const entries = [14_842, 100].map((balance) => ({ ...entry, credit: 0, balance }));
  const paper = { ...shared('ur'), statement: { ...statement, entries } } as Paper;
  const pages = layOutPaper(viewOf(paper).view, notoTypefaces('ur'));
  const ends = pages.flatMap(({ items }) =>
    items.flatMap((item) =>
      item.kind === 'text' && /^(14,842|100)\.00$/.test(textOf(item.line)) && item.x < 130
        ? [Math.round(item.x + item.width)]
        : [],
    ),
  );
  assert.ok(ends.length >= 2);
  assert.equal(new Set(ends.slice(0, 3)).size, 1);
});

test('a long label of an account wraps instead of becoming unreadably small', () => {
  const account = 'House in the garden of the embassy '.repeat(4).trim();
  const paper = { ...shared('en'), statement: { ...statement, account } } as Paper;
  const items = layOutPaper(viewOf(paper).view, notoTypefaces('en'))[0]?.items ?? [];
  const sizes = items.flatMap((item) =>
    item.kind === 'text' && /embassy/.test(textOf(item.line)) ? [item.size] : [],
  );
  assert.ok(sizes.length > 1 && sizes.every((size) => size > 8), String(sizes));
});

test('a statement whose last page would be nearly empty is set in smaller type', () => {
  const typefaces = notoTypefaces('en');
  const options = { size: 'A4', direction: 'ltr', color: '#1a1a1a', typefaces } as const;
  const viewWith = (count: number) => {
    const entries = Array.from({ length: count }, () => ({ ...entry, description: 'Cash' }));
    return viewOf({ ...shared('en'), statement: { ...statement, entries } } as Paper).view;
  };
  const usual = (count: number) =>
    paperPages(sheetOf({ ...options, scale: 1 }), viewWith(count)).length;
  let count = 1;
  while (usual(count) === usual(1)) count += 1;
  assert.equal(usual(count + 3), usual(1) + 1);
  assert.equal(layOutPaper(viewWith(count + 3), typefaces).length, usual(1));
});
