// The text of a QR code by the EMVCo specification for merchant-presented mode, on which Raast,
// PromptPay and others build: fields of a tag, a length and a value, and a checksum at the end.
import currencies from 'currency-codes';
import type { PaymentCode } from '../pricing/context.ts';

export type EmvPayment = {
  readonly currency: string;
  /** Decimal text in major units. */
  readonly amount: string;
  readonly billNumber: string;
  readonly reference: string;
  /** The account of the payee, with its placeholders filled. */
  readonly account: readonly { readonly tag: string; readonly value: string }[];
};

export const emvLimits = { value: 99, name: 25, city: 15, amount: 13, label: 25 } as const;

const tags = {
  payloadFormat: '00',
  initiation: '01',
  categoryCode: '52',
  currency: '53',
  amount: '54',
  country: '58',
  name: '59',
  city: '60',
  additional: '62',
  checksum: '63',
} as const;
const additionalTags = { billNumber: '01', referenceLabel: '05' } as const;
/** The code is for one payment, not for many. */
const dynamic = '12';
/** The category of a payee that states none. */
const categoryUnknown = '0000';

/** Undefined if the payment does not fit the specification. */
export function emvText(code: PaymentCode, name: string, payment: EmvPayment): string | undefined {
  const { amount, account } = payment;
  const currency = currencies.code(payment.currency)?.number;
  const isFine = account.every(({ value }) => isEmvText(value, emvLimits.value));
  const payee =
    field('00', code.guid ?? '') + account.map((one) => field(one.tag, one.value)).join('');
  if (currency === undefined || !isFine || payee.length > emvLimits.value) return undefined;
  if (amount.length > emvLimits.amount) return undefined;
  const text = [
    field(tags.payloadFormat, '01'),
    field(tags.initiation, dynamic),
    field(code.tag ?? '', payee),
    field(tags.categoryCode, code.categoryCode || categoryUnknown),
    field(tags.currency, currency),
    field(tags.amount, amount),
    field(tags.country, code.country ?? ''),
    field(tags.name, plainLatin(name)),
    field(tags.city, plainLatin(code.city ?? '')),
    field(tags.additional, additionalData(payment)),
    `${tags.checksum}04`,
  ].join('');
  return text + checksum(text);
}

/** A label that the specification does not allow is left out. */
function additionalData({ billNumber, reference }: EmvPayment): string {
  return [
    field(additionalTags.billNumber, isEmvText(billNumber, emvLimits.label) ? billNumber : ''),
    field(additionalTags.referenceLabel, isEmvText(reference, emvLimits.label) ? reference : ''),
  ].join('');
}

function field(tag: string, value: string): string {
  return value === '' ? '' : `${tag}${String(value.length).padStart(2, '0')}${value}`;
}

/** Printable ASCII. */
export function isEmvText(text: string, lengthMax: number): boolean {
  return text.length <= lengthMax && /^[ -~]+$/.test(text);
}

/** Latin letters without their marks: München -> Munchen. Other scripts stay as they are. */
export function plainLatin(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').trim();
}

/** CRC-16/CCITT-FALSE in four hexadecimal digits. */
export function checksum(text: string): string {
  let crc = 0xffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) {
      crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
    }
  }
  return crc.toString(16).toUpperCase().padStart(4, '0');
}
