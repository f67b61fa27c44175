// The words around a bill that is sent by e-mail.
import { currencyDecimals } from '../../base/currencies.ts';
import type { BillDocument, BillDocumentInput } from '../documents/bill-document.ts';
import { billText } from '../documents/bill-text.ts';
import { type BillView, billView } from '../documents/bill-view.ts';
import type { Fact } from '../documents/fact.ts';
import { formatsOf, usableLocale } from '../documents/formats.ts';
import { type MailPage, mailHtml, mailPlain, portalOf } from '../documents/mail-page.ts';
import { lineText } from '../documents/plain-text.ts';
import { fillLine, fillLines } from '../documents/template.ts';
import { logoSource } from './mail-logo.ts';
import type { MailWords } from './render-outcome.ts';

export type MailTemplate = { subject: string | null; body: string };

/** What the template that every workspace begins with asks for, and says where nothing is. */
const request = 'Please pay {{bill.payableWithinDueDate}} {{bill.currency}} by {{bill.dueDate}}.';
const nothing = 'There is nothing to pay.';
const credit = '{{bill.creditBalance}} {{bill.currency}} to your credit is carried forward.';

const plainSubject = '{{letterhead.name}}: {{bill.serviceLabel}} {{bill.billNumber}}';

/** Without a template, the bill itself. */
export function mailText(
  input: BillDocumentInput,
  template: MailTemplate | null,
  {
    logo = logoSource(input.letterhead),
    portalAddress = null,
  }: { logo?: string | null; portalAddress?: string | null } = {},
): MailWords {
  const { bill, letterhead, locale } = input;
  const decimals = input.currencyDecimals ?? currencyDecimals(bill.currency);
  const formats = formatsOf(usableLocale(locale), bill.currency, decimals);
  const source = { bill, letterhead, formats };
  const subject = fillLine(template?.subject || plainSubject, source);
  const view = billView({ ...input, template: null, secondLocale: null });
  const shared = { ...pageOf(view, bill), subject, portal: portalOf(portalAddress) };
  if (template === null) {
    const page = { ...shared, totals: view.totals };
    const text = mailPlain({ ...page, words: billText(input), amount: null, facts: [] });
    return { subject, text, html: mailHtml(page, logo) };
  }
  const words = fillLines(bodyFor(template, bill), source);
  const page = { ...shared, words };
  return { subject, text: mailPlain(page), html: mailHtml(page, logo) };
}

/** The text of a short message. */
export function smsText(input: BillDocumentInput, body: string): string {
  const { bill, letterhead, locale } = input;
  const decimals = input.currencyDecimals ?? currencyDecimals(bill.currency);
  const formats = formatsOf(usableLocale(locale), bill.currency, decimals);
  return fillLine(body, { bill, letterhead, formats });
}

function pageOf(view: BillView, bill: BillDocument): Omit<MailPage, 'subject' | 'portal'> {
  const { wording, labels, letterhead, warning } = view;
  const connection = { label: labels.connection, value: lineText(bill.connectionNumber) };
  const reference = { label: labels.reference, value: view.reference };
  const late = view.payableLate === null ? [] : [view.payableLate];
  return {
    wording,
    letterhead,
    words: '',
    warning,
    amount: view.payable,
    facts: [...late, ...view.facts, ...filledFacts([connection])],
    totals: [],
    payment: view.isPayable ? { facts: filledFacts([reference]), banks: view.banks } : null,
  };
}

function filledFacts(facts: readonly Fact[]): Fact[] {
  return facts.filter((fact) => fact.value !== '');
}

function bodyFor({ body }: MailTemplate, bill: BillDocument): string {
  if (bill.payableWithinDueDate > 0) return body;
  return body.replaceAll(request, bill.creditBalance > 0 ? `${nothing} ${credit}` : nothing);
}
