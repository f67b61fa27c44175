// Creates documents for calls in threads of their own, so that the server goes on answering.
import type { CancellationRow } from '../bills/cancellations-store.ts';
import type { BillDocumentInput, CreditNoteDocument } from '../documents/bill-document.ts';
import { renderBillHtml } from '../documents/bill-html.ts';
import { letterheadProblems } from '../documents/check-letterhead.ts';
import { logoData } from '../documents/html.ts';
import { type MarkedFile, markFile } from '../documents/mark.ts';
import type { Paper } from '../documents/paper.ts';
import { renderPaperHtml } from '../documents/paper-html.ts';
import { renderBill } from '../documents/render-bill.ts';
import { renderPaper } from '../documents/render-paper.ts';
import { type BillToRender, billInput, letterheadOf } from './bill-input.ts';
import type { RenderSetting } from './document-setting.ts';
import { withFacturX } from './e-invoice-file.ts';
import { type MailTemplate, mailText, smsText } from './mail-text.ts';
import { printPapers } from './print-papers.ts';
import { type RenderError, renderErrorOf } from './render-outcome.ts';

/** One of these. */
export type ThreadTask =
  | { document: DocumentTask }
  | { paper: PaperTask }
  | { kept: Paper }
  | { preview: PreviewTask }
  | { marked: MarkedFile }
  | { letterhead: { letterhead: object; field: string } };

export default function run(task: ThreadTask) {
  if ('document' in task) return document(task.document);
  if ('paper' in task) return made(() => paperBytes(task.paper));
  if ('kept' in task) return printPapers([task.kept]);
  if ('preview' in task) return previewOf(task.preview);
  if ('marked' in task) return made(() => markFile(task.marked));
  // Decoding a logo takes as long as its pixels are many.
  return letterheadProblems(task.letterhead.letterhead, task.letterhead.field);
}

export type DocumentTask = {
  format: 'PDF' | 'HTML';
  setting: RenderSetting;
  bill: BillToRender;
  cancellation: CancellationRow | undefined;
  /** The credit note whose document is requested, instead of that of the bill. */
  creditNote?: CreditNoteDocument;
  /** A page of HTML that says so; the file of a copy is marked. */
  isCopy?: boolean;
};

/** A template in the language of the bill. */
export type PreviewedTemplate =
  | ({ kind: 'Invoice' } & Pick<RenderSetting, 'body' | 'second' | 'amountInWords'>)
  | ({ kind: 'Email'; portalAddress: string | null } & MailTemplate)
  | { kind: 'SMS'; body: string };

/** A bill with a template that is looked at. */
export type PreviewTask = {
  format: 'PDF' | 'HTML' | 'Text';
  input: BillDocumentInput;
  template: PreviewedTemplate;
};

export type MadePreview = MadeDocument & { subject: string | null };

/** A document other than a bill. */
export type PaperTask = { format: 'PDF' | 'HTML'; paper: Paper };

export type MadeDocument = { base64: string };
/** Errors go as data: their class would be lost between threads. */
export type DocumentOutcome = MadeDocument | { error: RenderError };

function document({
  format,
  setting,
  bill,
  cancellation,
  creditNote,
  isCopy = false,
}: DocumentTask): DocumentOutcome {
  return made(() => {
    const ofBill = billInput(setting, letterheadOf(setting), bill, cancellation);
    const input = { ...ofBill, isCopy, ...(creditNote && { creditNote }) };
    // The PDF of a bill is made once, when it is published; that of a credit note may be asked for
    // before it is kept.
    if (format === 'PDF' && creditNote) return renderBill(withFacturX(setting, input));
    return format === 'PDF' ? renderBill(input) : Buffer.from(renderBillHtml(input).html);
  });
}

function previewOf({ format, input, template }: PreviewTask): MadePreview | { error: RenderError } {
  let subject: string | null = null;
  const outcome = made(() => {
    // A buffer arrives as plain bytes.
    const { logo: bytes } = input.letterhead;
    const letterhead = { ...input.letterhead, logo: bytes && Buffer.from(bytes) };
    const bill = { ...input, letterhead };
    if (template.kind === 'Invoice') {
      const { body, second, amountInWords } = template;
      const notes = { body, secondBody: second?.body ?? '' };
      const words = { amountInWords, secondLocale: second?.locale ?? null };
      const shown = { ...bill, template: notes, ...words };
      return format === 'PDF' ? renderBill(shown) : Buffer.from(renderBillHtml(shown).html);
    }
    if (template.kind === 'SMS') return Buffer.from(smsText(bill, template.body));
    // The picture is shown in the page itself: there is no mail that it could be part of.
    const logo = logoData(letterhead.logo);
    const mail = mailText(bill, template, { logo, portalAddress: template.portalAddress });
    subject = mail.subject;
    return Buffer.from(format === 'HTML' ? mail.html : mail.text);
  });
  return 'error' in outcome ? outcome : { ...outcome, subject };
}

function paperBytes({ format, paper }: PaperTask): Buffer {
  return format === 'PDF' ? renderPaper(paper) : Buffer.from(renderPaperHtml(paper));
}

function made(make: () => Buffer): DocumentOutcome {
  try {
    return { base64: make().toString('base64') };
  } catch (error) {
    return { error: renderErrorOf(error) };
  }
}
