// What the codes on a payment slip say: the QR code by the standard that the bank account names,
// and the bar code for counters.
import { parseDate } from '../../base/calendar.ts';
import type { PresentedBankAccount } from '../pricing/bank-accounts-store.ts';
import type { PaymentCode } from '../pricing/context.ts';
import { codeCharactersMax } from './code.ts';
import { emvText } from './emv-code.ts';
import { lineText } from './plain-text.ts';
import { fillLine, fillUrl, type PlaceholderSource } from './template.ts';

export type SlipCode = {
  readonly text: string;
  /** An application can pay with it; otherwise it only has the reference. */
  readonly isPayment: boolean;
};

export const noCode: SlipCode = { text: '', isPayment: false };

/**
 * The code of the first bank account that has one, the default account before others; without one,
 * the text of the letterhead. If the standard cannot express the payment, such as one that is too
 * large, the code is the payment reference.
 */
export function slipCode(
  accounts: readonly PresentedBankAccount[],
  source: PlaceholderSource,
  decimals: number,
): SlipCode {
  const plain = { ...source, formats: plainFormats(source.formats, decimals) };
  const account = accounts
    .filter((one) => one.paymentCode)
    .sort((a, b) => b.isDefault - a.isDefault)[0];
  if (!account?.paymentCode) return letterheadCode(plain);
  const { type } = account.paymentCode;
  const text = type === 'Reference' ? '' : textOf(account, account.paymentCode, plain, decimals);
  if (text !== undefined && text !== '' && text.length <= codeCharactersMax) {
    return { text, isPayment: true };
  }
  return { text: lineText(source.bill.billRefNo), isPayment: false };
}

/** For counters. */
export function slipBarcode(source: PlaceholderSource, decimals: number): string {
  const { barcodeText } = source.letterhead;
  if (barcodeText === null) return '';
  return fillLine(barcodeText, { ...source, formats: plainFormats(source.formats, decimals) });
}

function letterheadCode(source: PlaceholderSource): SlipCode {
  const text = fillLine(source.letterhead.codeText, source);
  return { text, isPayment: /^[a-z][a-z0-9+.-]*:/i.test(text) };
}

function textOf(
  account: PresentedBankAccount,
  code: PaymentCode,
  source: PlaceholderSource,
  decimals: number,
): string | undefined {
  const { bill } = source;
  const name = lineText(code.name) || lineText(account.title);
  switch (code.type) {
    case 'EPC':
      return epcText(account, name, source);
    case 'UPI':
      return upiText(code, name, source);
    case 'URL':
      return fillUrl(code.url ?? '', source);
    case 'EMVCo': {
      const account = (code.fields ?? []).map(({ tag, value }) => ({
        tag,
        value: fillLine(value, source),
      }));
      const amount = plainAmount(bill.payableWithinDueDate, decimals);
      const numbers = {
        billNumber: lineText(bill.billNumber),
        reference: lineText(bill.billRefNo),
      };
      if (amount === undefined) return undefined;
      return emvText(code, name, { currency: bill.currency, amount, account, ...numbers });
    }
    default:
      return undefined;
  }
}

/** The largest amount of an EPC code has nine digits before the point. */
const epcAmountForm = /^\d{1,9}\.\d\d$/;

/** EPC069-12, version 2: a SEPA credit transfer. Version 2 needs no BIC. */
function epcText(
  { iban, swift }: PresentedBankAccount,
  name: string,
  { bill }: PlaceholderSource,
): string | undefined {
  const amount = plainAmount(bill.payableWithinDueDate, 2);
  if (bill.currency !== 'EUR' || !iban || !epcAmountForm.test(amount ?? '')) return undefined;
  const [purpose, structuredReference] = ['', ''];
  return [
    'BCD',
    '002',
    // UTF-8
    '1',
    'SCT',
    swift ?? '',
    name,
    iban,
    `EUR${amount}`,
    purpose,
    structuredReference,
    lineText(bill.billRefNo),
  ].join('\n');
}

function upiText(code: PaymentCode, name: string, { bill }: PlaceholderSource): string | undefined {
  const amount = plainAmount(bill.payableWithinDueDate, 2);
  if (bill.currency !== 'INR' || amount === undefined) return undefined;
  const values: [string, string][] = [
    ['pn', name],
    ['am', amount],
    ['cu', 'INR'],
    ['tn', lineText(bill.billNumber)],
    ['tr', lineText(bill.billRefNo)],
  ];
  const given = values.filter(([, value]) => value !== '');
  // Not by URLSearchParams: it writes + for a space, which UPI applications show.
  const query = given.map(([key, value]) => `&${key}=${encodeURIComponent(value)}`).join('');
  return `upi://pay?pa=${code.upiAddress}${query}`;
}

/** For machines: amounts such as 15648.39 and dates such as 2025-08-15, whatever the locale. */
function plainFormats(
  formats: PlaceholderSource['formats'],
  decimals: number,
): PlaceholderSource['formats'] {
  return {
    ...formats,
    amount: (value) => plainAmount(value, decimals) ?? '',
    date: (value) => parseDate(value)?.toString() ?? value,
  };
}

/**
 * An amount as decimal text, without arithmetic: the shortest text of the number is the decimal
 * that it was read from. Undefined if it has more decimals.
 */
function plainAmount(value: number, decimals: number): string | undefined {
  const [match, whole = '', fraction = ''] = /^(-?\d+)(?:\.(\d+))?$/.exec(String(value)) ?? [];
  if (match === undefined || fraction.length > decimals) return undefined;
  return decimals === 0 ? whole : `${whole}.${fraction.padEnd(decimals, '0')}`;
}
