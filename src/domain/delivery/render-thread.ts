// Renders documents in a thread of its own, so that the process goes on with other work meanwhile.
import type { Paper } from '../documents/paper.ts';
import { renderBills } from '../documents/render-bill.ts';
import { type BillToRender, billInput, type DocumentToRender, letterheadOf } from './bill-input.ts';
import { splitFile } from './document-file.ts';
import type { RenderSetting } from './document-setting.ts';
import { eInvoiceFile, withFacturX } from './e-invoice-file.ts';
import { type MailTemplate, mailText } from './mail-text.ts';
import { printPapers } from './print-papers.ts';
import {
  type MailResult,
  type PaperOutcome,
  type RenderOutcome,
  renderErrorOf,
} from './render-outcome.ts';

/** Documents, or the words of mails by bill. */
export type RenderTask = {
  setting: RenderSetting;
  bills: readonly DocumentToRender[];
  mails: Readonly<Record<number, MailTemplate | null>> | null;
};

/** Documents other than bills: receipts, statements, reminders. */
export type PapersTask = { papers: readonly Paper[] };

export default function run(
  task: RenderTask | PapersTask,
): RenderOutcome | PaperOutcome | MailResult[] {
  if ('papers' in task) return printPapers(task.papers);
  const { setting, bills, mails } = task;
  return mails === null ? render(setting, bills) : write(setting, bills, mails);
}

function render(setting: RenderSetting, bills: readonly DocumentToRender[]): RenderOutcome {
  const letterhead = letterheadOf(setting);
  const parts = new Map<string, Uint8Array>();
  const inputOf = ({ cancellation, creditNote, ...bill }: DocumentToRender) => {
    const input = billInput(setting, letterhead, bill, cancellation);
    return creditNote ? { ...input, creditNote } : input;
  };
  const files = renderBills(
    bills.map((bill) => () => {
      const input = inputOf(bill);
      return bill.cancellation ? input : withFacturX(setting, input);
    }),
  );
  const results = bills.map((bill, index) => {
    const { bill_id: billId, cancellation } = bill;
    const file = files[index];
    if (file === undefined || file instanceof Error) return { billId, error: renderErrorOf(file) };
    const eInvoice = cancellation ? undefined : eInvoiceFile(setting, () => inputOf(bill));
    return { billId, ...splitFile(file, parts), ...(eInvoice && { eInvoice }) };
  });
  return { results, parts };
}

function write(
  setting: RenderSetting,
  bills: readonly BillToRender[],
  mails: Readonly<Record<number, MailTemplate | null>>,
): MailResult[] {
  const letterhead = letterheadOf(setting);
  return bills.map((bill) => {
    const billId = bill.bill_id;
    try {
      const input = billInput(setting, letterhead, bill);
      const { portalAddress = null } = setting;
      return { billId, ...mailText(input, mails[billId] ?? null, { portalAddress }) };
    } catch (error) {
      return { billId, error: renderErrorOf(error) };
    }
  });
}
