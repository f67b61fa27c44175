// Creates documents for calls in threads of their own, so that the server goes on answering.
import { once } from 'node:events';
import type { MessagePort } from 'node:worker_threads';
import type { CancellationRow } from '../bills/cancellations-store.ts';
import type { BillDocumentInput, CreditNoteDocument } from '../documents/bill-document.ts';
import { renderBillHtml } from '../documents/bill-html.ts';
import { letterheadProblems } from '../documents/check-letterhead.ts';
import { mergeBills, renderBill } from '../documents/render-bill.ts';
import { type BillToRender, billInput, letterheadOf } from './bill-input.ts';
import type { RenderSetting } from './document-setting.ts';
import { rendererEdition, sha256 } from './edition.ts';
import { type PrintBatch, printInputs } from './print-inputs.ts';
import { type RenderError, renderErrorOf } from './render-outcome.ts';

/** One of these. */
export type ThreadTask =
  | { document: DocumentTask }
  | { printFile: MessagePort }
  | { letterhead: { letterhead: object; field: string } };

export default function run(task: ThreadTask) {
  if ('document' in task) return document(task.document);
  if ('printFile' in task) return printFile(task.printFile);
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
};

export type MadeDocument = { base64: string; sha256: string; edition: string };
/** Errors go as data: their class would be lost between threads. */
export type DocumentOutcome = MadeDocument | { error: RenderError };

function document({
  format,
  setting,
  bill,
  cancellation,
  creditNote,
}: DocumentTask): DocumentOutcome {
  try {
    const ofBill = billInput(setting, letterheadOf(setting), bill, cancellation);
    const input = creditNote ? { ...ofBill, creditNote } : ofBill;
    return made(format === 'PDF' ? renderBill(input) : Buffer.from(renderBillHtml(input).html));
  } catch (error) {
    return { error: renderErrorOf(error) };
  }
}

function made(bytes: Buffer): MadeDocument {
  return {
    base64: bytes.toString('base64'),
    sha256: sha256(bytes),
    edition: rendererEdition(),
  };
}

/** Asks for batch after batch through the port, until no bills are left. */
async function printFile(port: MessagePort): Promise<DocumentOutcome> {
  try {
    const pieces: Buffer[] = [];
    for await (const piece of mergeBills(printInputs(batchesFrom(port)), fail)) pieces.push(piece);
    return made(Buffer.concat(pieces));
  } catch (error) {
    return { error: renderErrorOf(error) };
  } finally {
    port.close();
  }
}

function fail(_: BillDocumentInput, error: Error): never {
  throw error;
}

async function* batchesFrom(port: MessagePort): AsyncGenerator<PrintBatch> {
  for (;;) {
    const answer = once(port, 'message');
    port.postMessage('next');
    const [batch] = (await answer) as [PrintBatch | null];
    if (batch === null) return;
    yield batch;
  }
}
