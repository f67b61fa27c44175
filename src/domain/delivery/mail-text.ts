// The words around a bill that is sent by e-mail.
import { currencyDecimals } from '../../base/currencies.ts';
import type { BillDocument, BillDocumentInput } from '../documents/bill-document.ts';
import { billText } from '../documents/bill-text.ts';
import { formatsOf, usableLocale } from '../documents/formats.ts';
import { fillLine, fillLines } from '../documents/template.ts';

export type MailTemplate = { subject: string | null; body: string };

/** What the template that every workspace begins with asks for, and says where nothing is. */
const request = 'Please pay {{bill.payableWithinDueDate}} {{bill.currency}} by {{bill.dueDate}}.';
const nothing = 'There is nothing to pay.';
const credit = '{{bill.creditBalance}} {{bill.currency}} to your credit is carried forward.';

const plainSubject = '{{letterhead.name}}: {{bill.serviceLabel}} {{bill.billNumber}}';

/** Without a template, the bill itself in plain text. */
export function mailText(
  input: BillDocumentInput,
  template: MailTemplate | null,
): { subject: string; text: string } {
  const { bill, letterhead, locale } = input;
  const decimals = input.currencyDecimals ?? currencyDecimals(bill.currency);
  const formats = formatsOf(usableLocale(locale), bill.currency, decimals);
  const source = { bill, letterhead, formats };
  return {
    subject: fillLine(template?.subject || plainSubject, source),
    text: template === null ? billText(input) : fillLines(bodyFor(template, bill), source),
  };
}

function bodyFor({ body }: MailTemplate, bill: BillDocument): string {
  if (bill.payableWithinDueDate > 0) return body;
  return body.replaceAll(request, bill.creditBalance > 0 ? `${nothing} ${credit}` : nothing);
}
