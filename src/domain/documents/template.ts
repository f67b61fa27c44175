// Texts with placeholders such as {{bill.partyName}}. What a placeholder may name is a fixed list,
// looked up in maps: there is nothing to call and nothing to reach by a name of the language.
import { AppError } from '../../base/errors.ts';
import type { BillDocument } from './bill-document.ts';
import type { Formats } from './formats.ts';
import type { Letterhead } from './letterhead.ts';
import { isolated, linesText, lineText } from './plain-text.ts';

export type PlaceholderSource = {
  readonly bill: BillDocument;
  readonly letterhead: Letterhead;
  readonly formats: Formats;
  /** Of the mail with a receipt. */
  readonly payment?: PaymentFacts;
};

export type PaymentFacts = {
  readonly amount: number;
  /** DD/MM/YYYY */
  readonly date: string;
  readonly receiptNumber: string;
  readonly reference: string;
  readonly method: string;
};

type Reader = (source: PlaceholderSource) => string;

type FieldsOf<Type> = {
  [Name in keyof BillDocument]-?: BillDocument[Name] extends Type ? Name : never;
}[keyof BillDocument];

const textFields: readonly FieldsOf<string | null | undefined>[] = [
  'billNumber',
  'billRefNo',
  'billType',
  'status',
  'paymentStatus',
  'termLabel',
  'serviceCode',
  'serviceLabel',
  'batchCode',
  'tariffCode',
  'tariffLabel',
  'connectionNumber',
  'connectionRefNo',
  'connectionGroupLabel',
  'partyName',
  'currency',
];
const dateFields: readonly FieldsOf<string | null | undefined>[] = [
  'issueDate',
  'startDate',
  'endDate',
  'dueDate',
  'billedFrom',
  'billedTo',
];
const numberFields = ['billID', 'partyNumber', 'days'] as const;
const amountFields = [
  'previousBalance',
  'paymentsReceived',
  'arrears',
  'currentCharges',
  'taxAmount',
  'adjustments',
  'roundingAdjustment',
  'billAmount',
  'totalAmount',
  'walletApplied',
  'payableWithinDueDate',
  'latePaymentSurcharge',
  'payableAfterDueDate',
  'paidAmount',
  'outstandingAmount',
  'creditBalance',
] as const;
const addressFields = [
  'title',
  'shopNo',
  'buildingNo',
  'buildingName',
  'street',
  'block',
  'society',
  'city',
] as const;
const letterheadFields = ['name', 'phone', 'email', 'website', 'taxNumber'] as const;

const readers = new Map<string, Reader>([
  ...textFields.map((name): [string, Reader] => [
    `bill.${name}`,
    ({ bill }) => lineText(bill[name]),
  ]),
  ...dateFields.map((name): [string, Reader] => [
    `bill.${name}`,
    ({ bill, formats }) => formats.date(bill[name] ?? ''),
  ]),
  // A notice has few of the figures of a bill.
  ...numberFields.map((name): [string, Reader] => [
    `bill.${name}`,
    ({ bill }) => `${bill[name] ?? ''}`,
  ]),
  ...amountFields.map((name): [string, Reader] => [
    `bill.${name}`,
    ({ bill, formats }) => (bill[name] === undefined ? '' : formats.amount(bill[name])),
  ]),
  ...addressFields.map((name): [string, Reader] => [
    `bill.address.${name}`,
    ({ bill }) => lineText(bill.address?.[name]),
  ]),
  ...letterheadFields.map((name): [string, Reader] => [
    `letterhead.${name}`,
    ({ letterhead }) => letterhead[name] ?? '',
  ]),
  ...(['receiptNumber', 'reference', 'method'] as const).map((name): [string, Reader] => [
    `payment.${name}`,
    ({ payment }) => lineText(payment?.[name]),
  ]),
  ['payment.amount', ({ payment, formats }) => (payment ? formats.amount(payment.amount) : '')],
  ['payment.date', ({ payment, formats }) => formats.date(payment?.date ?? '')],
  ['bill.address', ({ bill }) => addressParts(bill).join(', ')],
  ['bill.lines', linesList],
  ['letterhead.address', ({ letterhead }) => letterhead.addressLines.join(', ')],
]);

export const placeholderNames: readonly string[] = [...readers.keys()];

/** Longer than any letter; a template that names the lines again and again ends here. */
const filledCharactersMax = 1_000_000;

const placeholder = /\{\{([^{}]*)\}\}/g;
const name = /^[A-Za-z]+(?:\.[A-Za-z]+)*!?$/;

/** How a value is written into the text. */
type Writer = (value: string) => string;

const asIs: Writer = (value) => value;

/**
 * Fills a template. `{{bill.dueDate}}` that has no value leaves nothing; `{{bill.dueDate!}}` with
 * the sign must have one, or the document is not made.
 */
function fillTemplate(template: string, source: PlaceholderSource, written: Writer): string {
  checkTemplate(template);
  // Each value is made once, however often the template names it.
  const values = new Map<string, string>();
  let size = template.length;
  return template.replace(placeholder, (_, between: string) => {
    const inner = between.trim();
    let value = values.get(inner);
    if (value === undefined) {
      value = written(filledValue(inner, source));
      values.set(inner, value);
    }
    size += value.length;
    if (size <= filledCharactersMax) return value;
    throw new AppError('DOCUMENT_TOO_LONG', {
      message: `The filled template has more than ${filledCharactersMax} characters`,
    });
  });
}

function filledValue(inner: string, source: PlaceholderSource): string {
  const isRequired = inner.endsWith('!');
  const wanted = isRequired ? inner.slice(0, -1) : inner;
  const value = readers.get(wanted)?.(source) ?? '';
  if (isRequired && value === '') {
    throw new AppError('TEMPLATE_INVALID', {
      message: `The bill has no value for {{${wanted}!}}, which the template demands`,
    });
  }
  return value;
}

/** For the subject of a mail or the text of a short message: one line. */
export function fillLine(template: string, source: PlaceholderSource): string {
  return lineText(fillTemplate(template, source, asIs));
}

/** For the body of a mail. */
export function fillLines(template: string, source: PlaceholderSource): string {
  return linesText(fillTemplate(template, source, asIs));
}

/** For the notes of a bill, set in a direction. */
export function fillNotes(
  template: string,
  source: PlaceholderSource,
  direction: 'ltr' | 'rtl',
): string {
  return fillTemplate(linesText(template), source, (value) => isolated(value, direction)).trim();
}

/** For an address of the web: a value cannot add a part to it. */
export function fillUrl(template: string, source: PlaceholderSource): string {
  return fillTemplate(template, source, (value) => encodeURIComponent(lineText(value)));
}

/** A template with the same text in place of each placeholder. */
export function withoutPlaceholders(template: string, text: string): string {
  return template.replace(placeholder, text);
}

/** Templates without a problem: a bill run fills the same one for each bill. */
const soundTemplates = new Set<string>();
const soundTemplatesMax = 200;

function checkTemplate(template: string): void {
  if (soundTemplates.has(template)) return;
  const problem = templateProblem(template);
  if (problem !== undefined) throw new AppError('TEMPLATE_INVALID', { message: problem });
  if (soundTemplates.size >= soundTemplatesMax) soundTemplates.clear();
  soundTemplates.add(template);
}

/** What is wrong with a template whatever bill it is for, or undefined. */
export function templateProblem(template: string): string | undefined {
  for (const [whole, between = ''] of template.matchAll(placeholder)) {
    const inner = between.trim();
    if (!name.test(inner)) return `${shown(whole)} is not a placeholder; write {{bill.partyName}}`;
    if (!readers.has(inner.replace(/!$/, ''))) return `There is nothing named ${shown(whole)}`;
  }
  const rest = template.replace(placeholder, '');
  const open = /\{\{|\}\}/.exec(rest);
  return open === null ? undefined : `${open[0]} without its counterpart in ${shown(rest)}`;
}

function shown(text: string): string {
  return lineText(text).slice(0, 60);
}

/** In the order in which they are written on an envelope. */
export function addressParts(bill: Pick<BillDocument, 'address'>): string[] {
  return addressFields
    .map((field) => lineText(bill.address?.[field]))
    .filter((part) => part !== '');
}

function linesList({ bill, formats }: PlaceholderSource): string {
  return bill.lines
    .map((line) => `${lineText(line.label)}: ${formats.amount(line.amount)}`)
    .join('\n');
}
