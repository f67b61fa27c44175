// Bills and credit notes of every kind and language, for tests of e-invoices and their validators.
import type {
  BillDocument,
  BillDocumentInput,
  DocumentLine,
} from '../../src/domain/documents/bill-document.ts';
import type { EInvoiceSetting } from '../../src/domain/documents/e-invoice/setting.ts';
import { line, ordinary, ordinaryBill } from './ordinary-bill.ts';
import { languages } from './sheet-languages.ts';

export const seller: EInvoiceSetting = {
  format: 'UBL',
  vatID: 'DE123456789',
  street: 'Marktplatz 1',
  city: 'Bonn',
  postalCode: '53111',
  vat: [
    { component: 'vat19', on: ['energy', 'rebate'] },
    { component: 'vat7', on: ['water'] },
    { component: 'vat0', on: ['export'] },
  ],
  untaxed: [
    { on: ['meterRent'], category: 'ZeroRated' },
    { on: ['insurance'], category: 'Exempt', reason: 'Insurance, section 4 no. 10 UStG' },
  ],
};

/** An amount is in cents. */
export const charge = (component: string, cents: number, label = component): DocumentLine =>
  line({ component, label, amount: cents / 100 });

export const vat = (
  component: string,
  percent: string,
  of: string,
  cents: number,
): DocumentLine => ({
  ...line({ component, label: component, amount: cents / 100, type: 'Tax' }),
  basis: { percent, of },
});

const centsOf = (lines: readonly DocumentLine[]) =>
  lines.reduce((sum, one) => sum + Math.round(one.amount * 100), 0);

const bankAccounts = ordinaryBill.bankAccounts.map((bank, index) => ({
  ...bank,
  ...(index === 0 && { iban: 'DE75512108001245126199', swift: 'SOGEDEFF' }),
  currency: 'EUR',
}));

export function billOf(
  lines: readonly DocumentLine[],
  over: Partial<BillDocument> = {},
  base: BillDocumentInput = ordinary,
): BillDocumentInput {
  const cents = centsOf(lines);
  const amounts = { roundingAdjustment: 0, walletApplied: 0, arrears: 0, previousBalance: 0 };
  const payable = Math.max(0, cents) / 100;
  const shown = {
    billAmount: cents / 100,
    totalAmount: cents / 100,
    payableWithinDueDate: payable,
  };
  const bill = { ...base.bill, currency: 'EUR', bankAccounts, ...amounts, ...shown };
  const numbered = lines.map((one, index) => ({ ...one, lineNo: index + 1 }));
  return { ...base, bill: { ...bill, currentCharges: cents / 100, lines: numbered, ...over } };
}

const oneLine = [charge('energy', 10_033), vat('vat19', '19', '100.33', 1906)];

const many = Array.from({ length: 40 }, (_, index) =>
  charge('energy', 1000 + index * 37, `Charge ${index + 1}`),
);
// 68 860 cents at 19 % are 13 083.4.
const manyLines = [...many, vat('vat19', '19', '688.60', 13_083)];

const manyRates = [
  charge('energy', 10_033),
  charge('rebate', -2055),
  charge('water', 3333),
  charge('export', 500),
  charge('meterRent', 250),
  charge('insurance', 199),
  charge('deposit', 5000),
  vat('vat19', '19', '79.78', 1516),
  vat('vat7', '7.0', '33.33', 233),
  vat('vat0', '0', '5.00', 0),
];

const negative = [charge('energy', -10_000), vat('vat19', '19', '-100', -1900)];

export type EInvoiceSample = { input: BillDocumentInput; setting?: EInvoiceSetting };

const credited = (
  bill: BillDocumentInput,
  lines: readonly { component: string | null; cents: number }[],
): BillDocumentInput => ({
  ...bill,
  creditNote: {
    number: 'CN-2025-000017',
    issueDate: '20/08/2025',
    reason: 'The meter was misread & <corrected>',
    amount: lines.reduce((sum, one) => sum + one.cents, 0) / 100,
    walletAmount: 0,
    lines: lines.map(({ component, cents }) => ({ component, amount: cents / 100 })),
  },
});

/** Each bill as a whole, as when it is cancelled. */
function creditedInFull(input: BillDocumentInput): BillDocumentInput {
  const lines = input.bill.lines.map(({ component, amount }) => ({
    component,
    cents: Math.round(amount * 100),
  }));
  const cancelled = { ...input.bill, status: 'Cancelled' };
  return credited({ ...input, bill: cancelled }, lines);
}

const labelsOf = (language: string) =>
  (languages[language] ?? ordinary).bill.lines.map((one) => one.label);

/** With the labels of the language; the others are as they are. */
function inLanguage(language: string, lines: readonly DocumentLine[]): BillDocumentInput {
  const labels = labelsOf(language);
  const named = lines.map((one, index) => ({ ...one, label: labels[index % labels.length] ?? '' }));
  return billOf(named, {}, languages[language]);
}

const ofLanguages = Object.keys(languages).flatMap((language): [string, EInvoiceSample][] => [
  [`${language}-one-line`, { input: inLanguage(language, oneLine) }],
  [`${language}-many-lines`, { input: inLanguage(language, manyLines) }],
  [`${language}-many-rates`, { input: inLanguage(language, manyRates) }],
  [`${language}-negative`, { input: inLanguage(language, negative) }],
  [`${language}-cancelled`, { input: creditedInFull(inLanguage(language, manyRates)) }],
]);

const yen = [charge('energy', 1_003_300), vat('vat19', '19', '10033', 190_600)];

export const eInvoiceSamples: Readonly<Record<string, EInvoiceSample>> = {
  ...Object.fromEntries(ofLanguages),
  credited: {
    input: credited(billOf(oneLine), [
      { component: 'energy', cents: 1000 },
      { component: 'vat19', cents: 190 },
      { component: null, cents: 3 },
    ]),
  },
  'credited-negative': { input: creditedInFull(billOf(negative)) },
  prepaid: { input: billOf(manyRates, { walletApplied: 30, roundingAdjustment: -0.1 }) },
  'prepaid-in-full': { input: billOf(oneLine, { walletApplied: 119.39 }) },
  nothing: { input: billOf([charge('energy', 0), vat('vat19', '19', '0', 0)]) },
  exempt: { input: billOf([charge('insurance', 500)]) },
  'zero-rated': { input: billOf([charge('meterRent', 500)]) },
  'no-address': { input: billOf(oneLine, { address: null, bankAccounts: [] }) },
  'other-country': { input: billOf(oneLine, { address: { city: 'Wien', countryId: 40 } }) },
  hostile: {
    input: billOf(oneLine, {
      partyName: '<&>"\u0000 ]]> \u202e محمد \uffff',
      connectionGroupLabel: '',
    }),
  },
  'no-decimals': { input: { ...billOf(yen, { currency: 'JPY' }), currencyDecimals: 0 } },
  'foreign-script': {
    input: billOf([charge('energy', 100, 'Ελληνικά Привет 漢字 €')]),
    setting: { ...seller, vat: [{ component: 'vat19' }] },
  },
};
