// Draws every kind of document in every language, with names, lines and totals that are hard to
// print, as contact sheets to be looked at: npm run contact-sheets [folder]. Needs pdftoppm.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import type { BillDocumentInput } from '../../src/domain/documents/bill-document.ts';
import { readLetterhead } from '../../src/domain/documents/letterhead.ts';
import type { Paper } from '../../src/domain/documents/paper.ts';
import { renderBill } from '../../src/domain/documents/render-bill.ts';
import { renderPaper } from '../../src/domain/documents/render-paper.ts';
import { allBills, hindi, urdu } from './bills.ts';
import { line, ordinary, ordinaryBill, smallLogo } from './ordinary-bill.ts';

const letterheadOf = (name: string) =>
  readLetterhead({
    name,
    country: 'PK',
    letterhead: {
      addressLines: ['22 Canal Road'],
      phone: '+92 42 111 000 222',
      email: 'care@citypower.example',
      complaintPhone: '0800 12345',
      complaintEmail: 'complaints@citypower.example',
      officeHours: '9:00–17:00',
      logo: smallLogo,
    },
  });

const languages: Readonly<Record<string, BillDocumentInput>> = {
  en: { ...ordinary, letterhead: letterheadOf('City Power & Light') },
  ur: { ...urdu, letterhead: letterheadOf(urdu.letterhead.name) },
  ar: {
    ...(allBills.arabic ?? urdu),
    letterhead: letterheadOf('شركة كهرباء المدينة'),
  },
  hi: { ...hindi, letterhead: letterheadOf(hindi.letterhead.name) },
  'en-ur': {
    ...ordinary,
    letterhead: letterheadOf('City Power & Light'),
    secondLocale: 'ur',
    template: { body: 'Please pay in time.', secondBody: 'براہ کرم وقت پر ادائیگی کریں۔' },
  },
  'ur-en': { ...urdu, letterhead: letterheadOf(urdu.letterhead.name), secondLocale: 'en' },
};

const history = ordinaryBill.history.map((term, index) => ({
  ...term,
  month: String(202407 + index + (index > 5 ? 88 : 0)),
}));

const many = Array.from({ length: 40 }, (_, index) =>
  line({
    lineNo: index + 1,
    label: `Charge ${index + 1}`,
    quantity: '120',
    unit: 'kwh',
    rate: '4.5',
    amount: 540,
    ...(index < 20 ? { toDate: '15/07/2025', days: 15 } : { fromDate: '16/07/2025', days: 16 }),
  }),
);

/** What is hard to print, on the bill of a language. */
function casesOf(input: BillDocumentInput): Record<string, BillDocumentInput> {
  const bill = { ...input.bill, history };
  const with_ = (over: Partial<typeof bill>): BillDocumentInput => ({
    ...input,
    amountInWords: true,
    bill: { ...bill, ...over },
  });
  const [first] = bill.lines;
  const tax = { basis: { percent: '17', of: '11370.34' } };
  const lines = bill.lines.map((one) => (one.rate === '17' ? { ...one, ...tax } : one));
  const past = {
    previousBalance: 13_500,
    paymentsReceived: 12_250.4,
    payments: [
      { date: '03/07/2025', amount: 12_000 },
      { date: '21/07/2025', amount: 250.4 },
    ],
  };
  const creditNote = {
    number: 'CN-2025-000017',
    issueDate: '09/08/2025',
    reason: 'Reading corrected',
    amount: 1_500.25,
    walletAmount: 0,
    lines: [{ component: 'energyCharge', amount: 1_500.25 }],
  };
  return {
    ordinary: with_({ lines, ...past }),
    'long name': with_({
      partyName: `${bill.partyName} `.repeat(12),
      connectionGroupLabel: `${bill.connectionGroupLabel} `.repeat(9),
    }),
    'one line': with_({ lines: first === undefined ? [] : [first] }),
    'forty lines': with_({ lines: many }),
    negative: with_({
      payableWithinDueDate: 0,
      latePaymentSurcharge: 0,
      creditBalance: 250.75,
      currentCharges: -1_500.35,
    }),
    'credit note': { ...with_({}), creditNote },
    cancelled: with_({ status: 'Cancelled', creditNoteNumber: 'CN-2025-000017' }),
  };
}

function papersOf({ bill, locale, letterhead }: BillDocumentInput): Record<string, Paper> {
  const setting = {
    organisation: {
      name: letterhead.name,
      country: 'PK',
      letterhead: { addressLines: ['22 Canal Road'], logo: smallLogo },
    },
    locale,
    currency: bill.currency,
    currencyDecimals: 2,
  };
  const { partyName: name, address } = bill;
  const party = { name, number: 100_009, address, connectionNumber: 'E-000101' };
  const receipt = {
    paymentID: 1234,
    reference: 'TT-2026-888',
    receiptNumber: 'GATE-2026-000017',
    cashDesk: 'Counter 4',
    paidOn: '03/08/2026',
    issuedOn: '03/08/2026',
    method: 'Cheque',
    chequeNumber: '0044551',
    amount: 16_551,
    settled: [{ kind: 'Bill', billNumber: 'ELEC-2026-000991', amount: 15_951, surcharge: 1359 }],
    settledAmount: 15_951,
    walletAmount: 600,
    recoveredAmount: 0,
    remark: null,
  };
  const entry = {
    date: '03/08/2026',
    type: 'Payment',
    reference: 'TT-2026-888',
    description: null,
    debit: 0,
    credit: 1_000,
    balance: 12_345.67,
  };
  const statement = {
    account: bill.connectionGroupLabel,
    fromDate: '01/07/2026',
    toDate: '31/08/2026',
    issuedOn: '31/08/2026',
    openingBalance: 100,
    entries: Array.from({ length: 12 }, () => entry),
    debits: 0,
    credits: 12_000,
    closingBalance: -11_900,
    walletBalance: 12,
    disputedBalance: 30,
    aging: { current: 1, d1_30: 2, d31_60: 3, d61_90: 4, over90: 5 },
  };
  return {
    receipt: { setting, party, receipt } as Paper,
    statement: { setting, party, statement } as Paper,
  };
}

/** Pages beside each other on white, as many as go into a row. */
function sheetOf(pictures: readonly PNG[]): Buffer {
  const perRow = 4;
  const wide = Math.max(...pictures.map((one) => one.width));
  const high = Math.max(...pictures.map((one) => one.height));
  const rows = Math.ceil(pictures.length / perRow);
  const sheet = new PNG({ width: wide * perRow, height: high * rows });
  sheet.data.fill(0xc8);
  pictures.forEach((one, index) => {
    const x = (index % perRow) * wide;
    const y = Math.floor(index / perRow) * high;
    PNG.bitblt(one, sheet, 0, 0, one.width - 2, one.height - 2, x, y);
  });
  return PNG.sync.write(sheet);
}

function draw(folder: string, name: string, bytes: Buffer): PNG[] {
  const file = join(folder, `${name.replaceAll(' ', '-')}`);
  writeFileSync(`${file}.pdf`, bytes);
  execFileSync('pdftoppm', ['-r', '60', '-png', `${file}.pdf`, file]);
  const prefix = `${name.replaceAll(' ', '-')}-`;
  const pages = readdirSync(folder).filter(
    (one) => one.startsWith(prefix) && /-\d+\.png$/.test(one),
  );
  return pages.sort().map((page) => PNG.sync.read(readFileSync(join(folder, page))));
}

const root = process.argv[2] ?? mkdtempSync(join(tmpdir(), 'contact-sheets-'));
for (const [language, input] of Object.entries(languages)) {
  const folder = join(root, language);
  mkdirSync(folder, { recursive: true });
  const bills = Object.entries(casesOf(input)).map(
    ([name, one]) => [name, renderBill(one)] as const,
  );
  const papers = Object.entries(language.includes('-') ? {} : papersOf(input)).map(
    ([name, paper]) => [name, renderPaper(paper)] as const,
  );
  const all = [...bills, ...papers];
  writeFileSync(
    join(root, `${language}.png`),
    sheetOf(all.flatMap(([name, bytes]) => draw(folder, name, bytes))),
  );
  const sizes = all.map(([name, bytes]) => `${name} ${Math.ceil(bytes.length / 1000)} kB`);
  console.log(`${join(root, `${language}.png`)}: ${sizes.join(', ')}`);
}
