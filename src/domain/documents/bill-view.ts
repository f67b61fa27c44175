// A bill as words and figures in the order of reading, before any page, screen or terminal. PDF,
// HTML and plain text show the same view, so that they cannot differ in what they say.
import { currencyDecimals } from '../../base/currencies.ts';
import type { PresentedBankAccount } from '../pricing/bank-accounts-store.ts';
import type { BillDocument, BillDocumentInput } from './bill-document.ts';
import { chargesOf, type SectionView } from './charges-view.ts';
import type { Fact } from './fact.ts';
import { formatsOf, inRegionOf, usableLocale } from './formats.ts';
import { type HistoryView, historyOf } from './history-view.ts';
import { kindLabelsOf } from './kind-labels.ts';
import { filled, type Labels, labelsOf } from './labels.ts';
import type { Letterhead } from './letterhead.ts';
import { noCode, type SlipCode, slipBarcode, slipCode } from './payment-code.ts';
import { lineText } from './plain-text.ts';
import { addressParts, fillNotes } from './template.ts';
import { cancelledRows, type TotalRow, totalRows } from './totals-view.ts';
import { inBoth, labelsInBoth } from './two-languages.ts';
import { joined, type Wording, worded, wordedDate } from './wording.ts';
import { amountInWords } from './words/amount-in-words.ts';

export type BankView = { readonly title: string; readonly facts: readonly Fact[] };

export type ContactView = { readonly heading: string; readonly text: string };

export type BillView = {
  readonly wording: Wording;
  readonly labels: Labels;
  readonly letterhead: Letterhead;
  /** Lines under the name of the organisation. */
  readonly organisationLines: readonly string[];
  readonly title: string;
  /** Why the bill is not to be paid. */
  readonly warning: string | null;
  readonly customer: {
    readonly name: string;
    readonly lines: readonly string[];
    readonly facts: readonly Fact[];
  };
  readonly facts: readonly Fact[];
  /** Null on a cancelled bill. */
  readonly payable: Fact | null;
  readonly payableLate: Fact | null;
  readonly sections: readonly SectionView[];
  readonly amountHeading: string;
  readonly totals: readonly TotalRow[];
  /** The amount to pay in words, if the template asks for it. */
  readonly inWords: Fact | null;
  readonly history: HistoryView | null;
  /** Paragraphs with a line break between them. */
  readonly notes: string;
  /** How to ask and complain. */
  readonly contact: ContactView | null;
  /** By who gets the document. */
  readonly isPayable: boolean;
  readonly banks: readonly BankView[];
  /** What the QR code on the slip says. */
  readonly code: SlipCode;
  /** What the bar code on the slip says. */
  readonly barcode: string;
  readonly billNumber: string;
  readonly reference: string;
};

export const banksMax = 6;

export function billView(input: BillDocumentInput): BillView {
  const { bill, letterhead } = input;
  const wording = wordingOf(input);
  const { labels, formats } = wording;
  const source = { bill, letterhead, formats };
  const warning = warningOf(bill, labels);
  const isCancelled = bill.status === 'Cancelled';
  const isPayable = bill.payableWithinDueDate > 0 && warning === null && !input.isOwedByWorkspace;
  const banks = input.bankAccounts ?? bill.bankAccounts;
  return {
    wording,
    labels,
    letterhead,
    organisationLines: organisationLines(letterhead, wording),
    title: titleOf(input, wording),
    warning,
    customer: {
      name: lineText(bill.partyName),
      lines: addressLines(bill, wording),
      facts: customerFacts(bill, labels),
    },
    facts: billFacts(bill, wording),
    payable: isCancelled ? null : payableFact(bill, wording),
    payableLate: isCancelled ? null : payableLateFact(bill, wording),
    sections: chargesOf(bill, wording),
    amountHeading: worded(wording, 'amount', { currency: bill.currency }),
    totals: isCancelled ? cancelledRows(bill, wording) : totalRows(bill, wording),
    inWords: isCancelled ? null : inWordsOf(input, bill.payableWithinDueDate, wording),
    history: historyOf(input, wording),
    // They ask for payment, as a rule.
    notes: isCancelled ? '' : notesOf(input, wording),
    contact: contactOf(letterhead, wording),
    isPayable,
    banks: banks.slice(0, banksMax).map((bank) => bankView(bank, wording)),
    code: isPayable ? slipCode(banks, source, wording.decimals) : noCode,
    barcode: isPayable ? slipBarcode(source, wording.decimals) : '',
    billNumber: lineText(bill.billNumber),
    reference: isCancelled ? '' : lineText(bill.billRefNo),
  };
}

/** A final bill says so, unless the workspace pays it. */
function titleOf({ bill, isOwedByWorkspace = false }: BillDocumentInput, wording: Wording): string {
  const service = lineText(bill.serviceLabel);
  if (bill.billType !== 'Final' || isOwedByWorkspace) return worded(wording, 'title', { service });
  const [first, second] = [wording, wording.second].map(
    (one) => one && filled(kindLabelsOf(one.locale).finalTitle, { service }, one.direction),
  );
  return inBoth(first ?? '', second ?? '');
}

function wordingOf(input: BillDocumentInput): Wording {
  const { bill, locale, currencyDecimals: wanted, isOwedByWorkspace = false } = input;
  const usable = usableLocale(locale);
  const decimals = wanted ?? currencyDecimals(bill.currency);
  const formats = formatsOf(usable, bill.currency, decimals);
  const first = labelsOf(usable, isOwedByWorkspace);
  const wording = { locale: usable, decimals, formats, ...first };
  if (!input.secondLocale) return wording;
  const second = labelsOf(input.secondLocale, isOwedByWorkspace);
  const labels = labelsInBoth(first.labels, second.labels);
  const other = inRegionOf(usable, usableLocale(input.secondLocale));
  const secondFormats = formatsOf(other, bill.currency, decimals);
  const { direction } = second;
  return { ...wording, labels, second: { locale: other, direction, formats: secondFormats } };
}

export function organisationLines(letterhead: Letterhead, wording: Wording): string[] {
  const { phone, email, website, taxNumber } = letterhead;
  const contact = joined(wording, ' · ', [
    phone && joined(wording, ' ', [wording.labels.phone, phone]),
    email,
    website,
  ]);
  const tax = taxNumber && joined(wording, ' ', [wording.labels.taxNumber, taxNumber]);
  return [...letterhead.addressLines, contact, tax ?? ''].filter((line) => line !== '');
}

/** In the second language below those in the first. */
function notesOf({ bill, letterhead, template }: BillDocumentInput, wording: Wording): string {
  if (!template) return '';
  const { body, secondBody = '' } = template;
  const filledIn = (text: string, { formats, direction }: Pick<Wording, 'formats' | 'direction'>) =>
    fillNotes(text, { bill, letterhead, formats }, direction);
  return inBoth(
    filledIn(body, wording),
    secondBody && filledIn(secondBody, wording.second ?? wording),
  );
}

/** Amounts of more than this are not exact as JSON numbers. */
const exactMax = 1e13;

export function inWordsOf(
  { bill, amountInWords: isWanted = false, secondLocale }: BillDocumentInput,
  amount: number,
  { locale, decimals, labels }: Wording,
): Fact | null {
  if (!isWanted || amount <= 0 || amount >= exactMax) return null;
  const minor = BigInt(amount.toFixed(decimals).replace('.', ''));
  const inLanguageOf = (tag: string) => {
    const language = tag.split('-')[0] ?? '';
    return amountInWords({ minor, decimals, currency: bill.currency, language }) ?? '';
  };
  const value = inBoth(inLanguageOf(locale), secondLocale ? inLanguageOf(secondLocale) : '');
  return value === '' ? null : { label: labels.inWords, value };
}

/** Only where the letterhead says more than its head does. */
function contactOf(letterhead: Letterhead, wording: Wording): ContactView | null {
  const { complaintPhone, complaintEmail, officeHours, phone, email } = letterhead;
  if (complaintPhone === null && complaintEmail === null && officeHours === null) return null;
  const { labels } = wording;
  const named = (label: string, value: string | null) =>
    value && joined(wording, ' ', [label, value]);
  const text = joined(wording, ' · ', [
    named(labels.phone, phone),
    email,
    named(labels.complaints, complaintPhone),
    complaintPhone === null ? named(labels.complaints, complaintEmail) : complaintEmail,
    named(labels.officeHours, officeHours),
  ]);
  return { heading: labels.complaintsHeading, text };
}

function warningOf(bill: BillDocument, labels: Labels): string | null {
  if (bill.status === 'Cancelled') return labels.cancelled;
  return bill.status === 'Draft' || bill.status === 'Error' ? labels.draft : null;
}

/** House, street and place on a line each. */
export function addressLines(bill: Pick<BillDocument, 'address'>, wording: Wording): string[] {
  const part = (name: string) => lineText(bill.address?.[name]);
  const line = (...names: string[]) => joined(wording, ', ', names.map(part));
  const lines = [
    part('title'),
    line('shopNo', 'buildingNo', 'buildingName'),
    line('street', 'block'),
    line('society', 'city'),
  ].filter((text) => text !== '');
  return lines.length > 0 ? lines : addressParts(bill);
}

function customerFacts(bill: BillDocument, labels: Labels): Fact[] {
  return present([
    [labels.customerNumber, String(bill.partyNumber)],
    [labels.account, lineText(bill.connectionGroupLabel)],
    [labels.connection, lineText(bill.connectionNumber)],
    [labels.connectionReference, lineText(bill.connectionRefNo)],
    [labels.plan, lineText(bill.tariffLabel ?? bill.tariffCode)],
  ]);
}

function billFacts(bill: BillDocument, wording: Wording): Fact[] {
  const { labels, formats } = wording;
  const days = [bill.billedFrom ?? bill.startDate, bill.billedTo ?? bill.endDate];
  const isCancelled = bill.status === 'Cancelled';
  return present([
    [labels.billNumber, lineText(bill.billNumber)],
    [labels.replacesBill, lineText(bill.replacesBillNumber)],
    [labels.creditNote, lineText(bill.creditNoteNumber)],
    [labels.replacedBy, lineText(bill.replacedByBillNumber)],
    [labels.reference, isCancelled ? '' : lineText(bill.billRefNo)],
    [labels.term, lineText(bill.termLabel)],
    [labels.period, joined(wording, ' – ', days.map(formats.date))],
    [labels.issueDate, bill.issueDate ? formats.date(bill.issueDate) : ''],
    [labels.dueDate, bill.dueDate && !isCancelled ? formats.date(bill.dueDate) : ''],
  ]);
}

function present(facts: readonly (readonly [string, string])[]): Fact[] {
  return facts.filter(([, value]) => value !== '').map(([label, value]) => ({ label, value }));
}

function payableFact(bill: BillDocument, wording: Wording): Fact {
  const { labels, formats } = wording;
  if (bill.payableWithinDueDate <= 0) {
    const label = bill.creditBalance > 0 ? labels.creditBalance : labels.nothingToPay;
    return { label, value: formats.money(bill.creditBalance) };
  }
  const label = bill.dueDate ? wordedDate(wording, 'payableBy', bill.dueDate) : labels.payable;
  return { label, value: formats.money(bill.payableWithinDueDate) };
}

function payableLateFact(bill: BillDocument, wording: Wording): Fact | null {
  const { labels, formats } = wording;
  if (bill.payableWithinDueDate <= 0 || bill.latePaymentSurcharge === 0) return null;
  const label = bill.dueDate
    ? wordedDate(wording, 'payableAfter', bill.dueDate)
    : labels.payableLate;
  return { label, value: formats.money(bill.payableAfterDueDate) };
}

export function bankView(bank: PresentedBankAccount, wording: Wording): BankView {
  const { labels } = wording;
  const place = joined(wording, ', ', [lineText(bank.bankName), lineText(bank.branch)]);
  return {
    title: joined(wording, ' – ', [place, lineText(bank.title)]),
    facts: present([
      [labels.accountNumber, lineText(bank.accountNumber)],
      ['IBAN', inFours(lineText(bank.iban))],
      ['SWIFT', lineText(bank.swift)],
      [labels.collectionCode, lineText(bank.collectionCode)],
    ]),
  };
}

/** As people write an IBAN, and where it may be broken. */
function inFours(iban: string): string {
  return iban.replace(/\s/g, '').replace(/.{4}(?=.)/g, '$& ');
}
