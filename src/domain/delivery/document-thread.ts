// Creates documents for calls in threads of their own, so that the server goes on answering.
import type { CancellationRow } from '../bills/cancellations-store.ts';
import type { CreditNoteDocument } from '../documents/bill-document.ts';
import { renderBillHtml } from '../documents/bill-html.ts';
import { letterheadProblems } from '../documents/check-letterhead.ts';
import { type MarkedFile, markFile } from '../documents/mark.ts';
import type { Paper } from '../documents/paper.ts';
import { renderPaperHtml } from '../documents/paper-html.ts';
import { renderBill } from '../documents/render-bill.ts';
import { renderPaper } from '../documents/render-paper.ts';
import { type BillToRender, billInput, letterheadOf } from './bill-input.ts';
import type { RenderSetting } from './document-setting.ts';
import { type RenderError, renderErrorOf } from './render-outcome.ts';

/** One of these. */
export type ThreadTask =
  | { document: DocumentTask }
  | { paper: PaperTask }
  | { marked: MarkedFile }
  | { letterhead: { letterhead: object; field: string } };

export default function run(task: ThreadTask) {
  if ('document' in task) return document(task.document);
  if ('paper' in task) return made(() => paperBytes(task.paper));
  if ('marked' in task) return made(() => markFile(task.marked));
  // Decoding a logo takes as long as its pixels are many.
  return letterheadProblems(task.letterhead.letterhead, task.letterhead.field);
}

export type DocumentTask = {
  format: 'PDF' | 'HTML';
  setting: RenderSetting;
  bill: BillToRender;
  cancellation: CancellationRow | undefined;
  /** Its document is asked for, and not that of the bill. */
  creditNote?: CreditNoteDocument;
  /** A page of HTML that says so; the file of a copy is marked. */
  isCopy?: boolean;
};

/** A document that is no bill. */
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
    return format === 'PDF' ? renderBill(input) : Buffer.from(renderBillHtml(input).html);
  });
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
