// Receipts, statements and reminders for the contact sheets: ordinary ones, and with names and
// numbers of lines that are hard to print.
import type { BillDocumentInput } from '../../src/domain/documents/bill-document.ts';
import type { Paper } from '../../src/domain/documents/paper.ts';
import { smallLogo } from './ordinary-bill.ts';

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

const number = (index: number) => `ELEC-2026-${String(index + 1).padStart(6, '0')}`;
/** From January on, with at most five entries a month. */
const dayOf = (index: number) => {
  const month = Math.floor(index / 5) + 1;
  return `${String((index % 5) * 6 + 2).padStart(2, '0')}/${String(month).padStart(2, '0')}/2026`;
};

/** A bill and its payment in turn, with the balance after each. */
function entriesOf(count: number) {
  let cents = 10_000;
  return Array.from({ length: count }, (_, index) => {
    const isBill = index % 2 === 0;
    const amount = 1_484_200 + index * 1_375;
    cents += isBill ? amount : -amount + 1_375;
    return {
      date: dayOf(index),
      type: isBill ? 'Bill' : 'Payment',
      reference: isBill ? number(index) : `TT-2026-${index}`,
      description: null,
      debit: isBill ? amount / 100 : 0,
      credit: isBill ? 0 : (amount - 1_375) / 100,
      balance: cents / 100,
    };
  });
}

function statementOf(account: string, count: number) {
  const entries = entriesOf(count);
  const sum = (of: 'debit' | 'credit') =>
    Math.round(entries.reduce((total, entry) => total + entry[of] * 100, 0)) / 100;
  const closingBalance = entries.at(-1)?.balance ?? 0;
  return {
    account,
    fromDate: '01/01/2026',
    toDate: '31/08/2026',
    issuedOn: '31/08/2026',
    openingBalance: 100,
    entries,
    debits: sum('debit'),
    credits: sum('credit'),
    closingBalance,
    walletBalance: 0,
    disputedBalance: 30,
    aging: { current: closingBalance, d1_30: 0, d31_60: 0, d61_90: 0, over90: 0 },
  };
}

function reminderOf(words: string, count: number) {
  return {
    reminderID: 17,
    date: '18/08/2026',
    oldestDueDate: '15/08/2026',
    amount: 15_192 * count,
    words,
    items: Array.from({ length: count }, (_, index) => ({
      kind: 'Bill',
      billNumber: number(index),
      dueDate: '15/08/2026',
      daysOverdue: 3 + index,
      amount: 15_192,
    })),
    banks: [
      {
        title: 'National Bank, Main Boulevard – City Power Collections',
        facts: [{ label: 'IBAN', value: 'PK36 SCBL 0000 0011 2345 6702' }],
      },
    ],
  };
}

export function papersOf({ bill, locale, letterhead }: BillDocumentInput): Record<string, Paper> {
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
  const { partyName: name, address, connectionGroupLabel } = bill;
  const party = { name, number: 100_009, address, connectionNumber: 'E-000101' };
  const shared = { setting, party };
  const long = { setting, party: { ...party, name: `${name} `.repeat(12) } };
  const account = connectionGroupLabel ?? '';
  const settled = Array.from({ length: 40 }, (_, index) => ({
    kind: 'Bill',
    billNumber: number(index),
    amount: 400,
    surcharge: index % 5 === 0 ? 12.5 : 0,
  }));
  const negative = {
    ...statementOf(account, 2),
    entries: entriesOf(2).map((one) => ({ ...one, balance: (one.balance * 100 - 135_040) / 100 })),
    openingBalance: -1_250.4,
    closingBalance: -1_250.4,
    walletBalance: 1_250.4,
    aging: { current: 0, d1_30: 0, d31_60: 0, d61_90: 0, over90: 0 },
  };
  const words = locale.startsWith('en')
    ? `Dear ${name},\n\nthese bills are overdue. Please pay within seven days.`
    : `${name}`;
  return {
    receipt: { ...shared, receipt },
    'receipt of forty lines': {
      ...shared,
      receipt: { ...receipt, amount: 16_600, settled, settledAmount: 16_000 },
    },
    'receipt with a long name': { ...long, receipt },
    statement: { ...shared, statement: statementOf(account, 12) },
    'statement of one line': { ...shared, statement: statementOf(account, 1) },
    'statement of forty lines': { ...shared, statement: statementOf(account, 40) },
    'statement below zero': { ...shared, statement: negative },
    'statement with a long name': { ...long, statement: statementOf(`${account} `.repeat(9), 3) },
    reminder: { ...shared, reminder: reminderOf(words, 2) },
    'reminder of forty lines': { ...shared, reminder: reminderOf(words, 40) },
    'reminder with a long name': { ...long, reminder: reminderOf(words, 1) },
  };
}
