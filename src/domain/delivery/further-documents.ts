// What the documents of credit notes and cancelled bills are made from.
import { wireDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import { majorUnits } from '../../base/money.ts';
import { findCancellations } from '../bills/cancellations-store.ts';
import { type CreditNoteRow, listCreditNotes } from '../bills/credit-notes-store.ts';
import type { CreditNoteDocument } from '../documents/bill-document.ts';
import type { DocumentTask } from './document-thread.ts';
import { findBillToShow, listPublished } from './documents-store.ts';
import { settingOf } from './freeze-setting.ts';

type Source = Omit<DocumentTask, 'format'>;

const anyCreditNote = {
  creditNoteNumber: null,
  reference: null,
  billId: null,
  subscriptionNumber: null,
  fromDate: null,
  toDate: null,
};

/** Undefined if there is no such credit note among those that the caller may see. */
export async function creditNoteSource(
  tx: Tx,
  { tenantId, currencyDecimals }: { tenantId: number; currencyDecimals: number },
  creditNoteId: number,
  seen: { partyId: number | null; isPublished: boolean } = { partyId: null, isPublished: false },
): Promise<Source | undefined> {
  const window = { afterId: 0, offset: 0, limit: 1 };
  const filter = { ...anyCreditNote, ...seen, creditNoteId };
  const [row] = await listCreditNotes(tx, tenantId, filter, window);
  if (!row) return undefined;
  const bill = await findBillToShow(tx, tenantId, row.bill_id);
  if (!bill) throw new Error(`bill ${row.bill_id} of credit note ${creditNoteId} is gone`);
  const [published] = await listPublished(tx, tenantId, [bill.bill_id]);
  const setting = await settingOf(tx, tenantId, bill.term_id, published);
  return { setting, bill, cancellation: undefined, creditNote: documentOf(row, currencyDecimals) };
}

/** Undefined for a bill that was never published: customers have no document of it. */
export async function cancelledSource(
  tx: Tx,
  tenantId: number,
  billId: number,
): Promise<Source | undefined> {
  const bill = await findBillToShow(tx, tenantId, billId);
  const [published] = await listPublished(tx, tenantId, [billId]);
  if (!bill || !published) return undefined;
  const setting = await settingOf(tx, tenantId, bill.term_id, published);
  const cancellations = await findCancellations(tx, tenantId, [billId]);
  return { setting, bill, cancellation: cancellations.get(billId) };
}

function documentOf(row: CreditNoteRow, decimals: number): CreditNoteDocument {
  const major = (minor: string | number) => majorUnits(BigInt(minor), decimals);
  return {
    number: row.credit_note_number,
    issueDate: wireDay(row.issue_date),
    reason: row.reason,
    amount: major(row.amount),
    walletAmount: major(row.to_wallet),
    lines: row.lines.map(({ component, amount }) => ({ component, amount: major(amount) })),
  };
}
