// A document with the present letterhead, template and bank accounts, stored nowhere: of a bill, or
// of a sample if there is none.
import { formatDate } from '../../base/calendar.ts';
import { wireDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import { findCancellations } from '../bills/cancellations-store.ts';
import type { BillDocumentInput } from '../documents/bill-document.ts';
import { sampleBill } from '../documents/sample-bill.ts';
import type { ContextType } from '../ledger/accounts.ts';
import { type ContextRow, findContext, listContexts } from '../pricing/contexts-store.ts';
import { getTerm } from '../terms/store.ts';
import { billInput, letterheadOf } from './bill-input.ts';
import type { RenderSetting } from './document-setting.ts';
import { findBillToShow, findNewestBill } from './documents-store.ts';
import { previewSetting } from './freeze-setting.ts';

export type Preview = {
  input: BillDocumentInput;
  /** Null is a sample. */
  billNumber: string | null;
};

/** A bill that is not issued is shown as if it was, with its payment slip. */
export async function previewInput(
  tx: Tx,
  tenantId: number,
  wanted: { contextCode: string | null; billId: number | null },
  today: Temporal.PlainDate,
): Promise<Preview> {
  const context = await chosenContext(tx, tenantId, wanted.contextCode);
  const contextId = wanted.contextCode === null ? null : context.context_id;
  const billId = wanted.billId ?? (await findNewestBill(tx, tenantId, contextId));
  if (billId === undefined) return sampleOf(tx, tenantId, context, today);
  const bill = await findBillToShow(tx, tenantId, billId);
  const term = bill && (await getTerm(tx, tenantId, bill.term_id));
  if (!bill || !term || (contextId !== null && term.context_id !== contextId)) {
    const where = contextId === null ? 'The workspace' : `Service ${context.code}`;
    throw new AppError('BILL_NOT_FOUND', {
      message: `${where} has no bill with the id ${billId}`,
      field: 'billID',
    });
  }
  const present = await previewSetting(tx, tenantId, term);
  const issueDate = term.issue_date === null ? formatDate(today) : wireDay(term.issue_date);
  const setting = { ...present, issueDate };
  const cancellation = (await findCancellations(tx, tenantId, [billId])).get(billId);
  const status = bill.status === 'Cancelled' ? bill.status : 'Published';
  const input = billInput(setting, letterheadOf(setting), { ...bill, status }, cancellation);
  return { input, billNumber: bill.bill_number ?? String(billId) };
}

async function chosenContext(tx: Tx, tenantId: number, code: string | null): Promise<ContextRow> {
  const [first] =
    code === null
      ? await listContexts(tx, tenantId, { afterId: 0, limit: 1 })
      : [await findContext(tx, tenantId, code)];
  if (first) return first;
  const message =
    code === null
      ? 'The workspace has no service yet: create one first'
      : `No service has the code ${code}`;
  throw new AppError('SERVICE_NOT_FOUND', { message, field: 'serviceCode' });
}

async function sampleOf(
  tx: Tx,
  tenantId: number,
  context: ContextRow,
  today: Temporal.PlainDate,
): Promise<Preview> {
  const monthEnd = today.with({ day: 1 }).subtract({ days: 1 });
  const term = {
    term_id: 0,
    context_id: context.context_id,
    context_code: context.code,
    context_name: context.name,
    context_type: context.context_type as ContextType,
    batch_code: 'DEFAULT',
    label: `${String(monthEnd.month).padStart(2, '0')}-${monthEnd.year}`,
    start_date: monthEnd.with({ day: 1 }).toString(),
    end_date: monthEnd.toString(),
  };
  const setting: RenderSetting = await previewSetting(tx, tenantId, term);
  const { document, frozen, ...bill } = sampleBill({
    billedFrom: term.start_date,
    billedTo: term.end_date,
    days: monthEnd.day,
    dueDate: today.add({ days: 14 }).toString(),
    currencyDecimals: setting.currencyDecimals,
  });
  const issued: RenderSetting = { ...setting, issueDate: formatDate(today) };
  const stored = {
    ...bill,
    document: JSON.stringify(document),
    frozen: JSON.stringify(frozen),
  };
  return { input: billInput(issued, letterheadOf(issued), stored), billNumber: null };
}
