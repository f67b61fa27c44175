// Converts a bill or a credit note into the semantic model of EN 16931: parties, lines with their
// VAT, a breakdown by rate, and totals. UBL and CII are written from it.
import { parseDate } from '../../../base/calendar.ts';
import type { BillDocumentInput, CreditNoteDocument } from '../bill-document.ts';
import { lineText } from '../plain-text.ts';
import { buyerOf, type InvoiceParty, sellerOf } from './parties.ts';
import { refusal } from './refusal.ts';
import type { EInvoiceSetting } from './setting.ts';
import {
  type Tax,
  type VatCategory,
  type VatSum,
  type VatTable,
  vatSums,
  vatTable,
} from './vat.ts';

/** Dates are YYYY-MM-DD; a period is empty if the line has none. */
export type Period = { from: string; to: string };

export type InvoiceLine = Period & { name: string; amount: bigint; vat: VatCategory };

export type PayeeAccount = { id: string; isIban: boolean; name: string; bic: string };

export type Amounts = {
  lines: readonly InvoiceLine[];
  vatSums: readonly VatSum[];
  net: bigint;
  tax: bigint;
  prepaid: bigint;
  rounding: bigint;
  payable: bigint;
};

export type Invoice = Amounts & {
  kind: 'Invoice' | 'CreditNote';
  number: string;
  issueDate: string;
  /** Empty in a credit note. */
  dueDate: string;
  /** The payment terms, which a credit note has instead of a due date. */
  terms: string;
  note: string;
  /** The bill that a credit note credits; null for a bill. */
  preceding: { number: string; issueDate: string } | null;
  currency: string;
  decimals: number;
  period: Period;
  seller: InvoiceParty;
  buyer: InvoiceParty;
  accounts: readonly PayeeAccount[];
  paymentReference: string;
};

/** EN 16931 allows amounts with at most two decimals. */
const decimalsMax = 2;
const creditTerms = 'The amount is credited to the customer.';

/**
 * `country` is that of the workspace. Throws E_INVOICE_NOT_POSSIBLE with the reason if the bill
 * does not fit the model.
 */
export function invoiceOf(
  input: BillDocumentInput,
  setting: EInvoiceSetting,
  country: string,
): Invoice {
  const { bill, creditNote, letterhead, currencyDecimals: decimals = 2 } = input;
  if (decimals > decimalsMax) throw refusal('amounts of an e-invoice have at most two decimals');
  const table = vatTable(bill.lines, setting);
  const head = {
    currency: bill.currency,
    decimals,
    period: { from: isoDay(bill.billedFrom), to: isoDay(bill.billedTo) },
    seller: sellerOf(setting, lineText(letterhead.name), country),
    buyer: buyerOf(bill, country),
  };
  if (!creditNote) return { ...head, ...ofBill(input, table, decimals) };
  return { ...head, ...ofCreditNote(input, creditNote, table, decimals) };
}

type Own = Omit<Invoice, 'currency' | 'decimals' | 'period' | 'seller' | 'buyer'>;

function ofBill(input: BillDocumentInput, table: VatTable, decimals: number): Own {
  const { bill } = input;
  const minor = (amount: number) => minorOf(amount, decimals);
  const wallet = minor(bill.walletApplied);
  const amounts = amountsOf(
    bill.lines.map((line) => ({ ...line, amount: minor(line.amount) })),
    { rounding: minor(bill.roundingAdjustment), prepaid: wallet > 0n ? wallet : 0n, decimals },
    table,
  );
  assertSum(amounts.net + amounts.tax, minor(bill.currentCharges));
  return {
    ...amounts,
    kind: 'Invoice',
    number: lineText(bill.billNumber),
    issueDate: isoDay(bill.issueDate),
    dueDate: isoDay(bill.dueDate),
    terms: '',
    note: '',
    preceding: null,
    accounts: amounts.payable > 0n ? accountsOf(input) : [],
    paymentReference: lineText(bill.billRefNo),
  };
}

/** The lines of a credit note are components of its bill, at the rates of the bill. */
function ofCreditNote(
  { bill }: BillDocumentInput,
  creditNote: CreditNoteDocument,
  table: VatTable,
  decimals: number,
): Own {
  const minor = (amount: number) => minorOf(amount, decimals);
  let rounding = 0n;
  const lines = creditNote.lines.flatMap(({ component, amount }) => {
    if (component === null) rounding += minor(amount);
    if (component === null) return [];
    const line = bill.lines.find((one) => one.component === component);
    const period = { fromDate: line?.fromDate ?? '', toDate: line?.toDate ?? '' };
    return [{ component, label: line?.label ?? component, ...period, amount: minor(amount) }];
  });
  const amounts = amountsOf(lines, { rounding, prepaid: 0n, decimals }, table);
  assertSum(amounts.net + amounts.tax + rounding, minor(creditNote.amount));
  return {
    ...amounts,
    kind: 'CreditNote',
    number: lineText(creditNote.number),
    issueDate: isoDay(creditNote.issueDate),
    dueDate: '',
    terms: creditTerms,
    note: lineText(creditNote.reason),
    preceding: { number: lineText(bill.billNumber), issueDate: isoDay(bill.issueDate) },
    accounts: [],
    paymentReference: '',
  };
}

type ChargedLine = {
  component: string;
  label: string;
  fromDate: string;
  toDate: string;
  amount: bigint;
};

function amountsOf(
  all: readonly ChargedLine[],
  { rounding, prepaid, decimals }: { rounding: bigint; prepaid: bigint; decimals: number },
  table: VatTable,
): Amounts {
  const isTax = ({ component }: ChargedLine) => table.vatOf(component) !== undefined;
  const taxes = all
    .filter(isTax)
    .map(({ component, amount }): Tax => ({ percent: table.percentOf(component), amount }));
  const lines = all
    .filter((line) => !isTax(line))
    .map(
      ({ component, label, amount, fromDate, toDate }): InvoiceLine => ({
        name: lineText(label) || component,
        amount,
        from: isoDay(fromDate),
        to: isoDay(toDate),
        vat: table.categoryOf(component),
      }),
    );
  if (lines.length === 0) throw refusal('it has no charges');
  const sums = vatSums(lines, taxes, decimals);
  const net = sumOf(lines.map((line) => line.amount));
  const tax = sumOf(sums.map((one) => one.tax));
  const payable = net + tax - prepaid + rounding;
  return { lines, vatSums: sums, net, tax, prepaid, rounding, payable };
}

function accountsOf({ bill, bankAccounts }: BillDocumentInput): PayeeAccount[] {
  return (bankAccounts ?? bill.bankAccounts).flatMap((bank) => {
    const iban = lineText(bank.iban);
    const id = iban || lineText(bank.accountNumber);
    const other = { name: lineText(bank.title), bic: lineText(bank.swift) };
    return id === '' ? [] : [{ id, isIban: iban !== '', ...other }];
  });
}

function assertSum(lines: bigint, charged: bigint): void {
  if (lines === charged) return;
  throw refusal(`its lines add up to ${lines} and not to ${charged}, in minor units`);
}

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}

function minorOf(amount: number, decimals: number): bigint {
  return BigInt(amount.toFixed(decimals).replace('.', ''));
}

function isoDay(day: string | null | undefined): string {
  return parseDate(day ?? '')?.toString() ?? '';
}
