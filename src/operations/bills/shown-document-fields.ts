// The document of a bill that a caller may see: what it is made from, or where it is kept.
import { AppError } from '../../base/errors.ts';
import { findCancellations } from '../../domain/bills/cancellations-store.ts';
import type { BillToRender } from '../../domain/delivery/bill-input.ts';
import type { DocumentTask } from '../../domain/delivery/document-thread.ts';
import {
  type DocumentRow,
  findBillToShow,
  listPublished,
} from '../../domain/delivery/documents-store.ts';
import { settingOf } from '../../domain/delivery/freeze-setting.ts';
import { findFurther } from '../../domain/delivery/further-documents-store.ts';
import type { Call } from '../operation.ts';
import { visibleBill } from './visible-bill-fields.ts';

/**
 * Original: as published. Copy: the original, marked as a copy. Left out, it is Cancelled for a
 * cancelled bill, otherwise the original.
 */
export const documentKinds = ['Original', 'Cancelled', 'Copy'] as const;
type Kind = (typeof documentKinds)[number];

export const documentTypes = { PDF: 'application/pdf', HTML: 'text/html; charset=utf-8' };

type Shown = {
  kind: Kind;
  task: Omit<DocumentTask, 'format'>;
  /** The document that was published, if this is the one. */
  published: Pick<DocumentRow, 'document_id' | 'sha256' | 'deleted_on'> | undefined;
};

export async function billToShow(call: Call, billId: number, asked: Kind | null): Promise<Shown> {
  const { tx, tenant } = call;
  const { tenantId } = tenant;
  const bill = visibleBill(call, billId, await findBillToShow(tx, tenantId, billId));
  const [document] = await listPublished(tx, tenantId, [billId]);
  const kind = kindOf(bill, document, asked);
  const setting = await settingOf(tx, tenantId, bill.term_id, document);
  if (kind === 'Cancelled') {
    const cancellations = await findCancellations(tx, tenantId, [billId]);
    const task = { setting, bill, cancellation: cancellations.get(billId) };
    const key = { kind, subjectId: billId } as const;
    return { kind, task, published: await findFurther(tx, tenantId, key) };
  }
  // A document that was published says so, whatever became of the bill.
  const shown = document ? { ...bill, status: 'Published' } : bill;
  const task = { setting, bill: shown, cancellation: undefined, isCopy: kind === 'Copy' };
  return { kind, task, published: document };
}

/** Refuses a kind that the bill does not have. */
function kindOf(bill: BillToRender, document: DocumentRow | undefined, asked: Kind | null): Kind {
  const isCancelled = bill.status === 'Cancelled';
  const kind = asked ?? (isCancelled ? 'Cancelled' : 'Original');
  const name = bill.bill_number ?? bill.bill_id;
  if (kind === 'Cancelled' && !isCancelled) {
    throw refusal(bill, `Bill ${name} is not cancelled: it has no document of the kind Cancelled`);
  }
  if (kind === 'Original' && isCancelled && !document) {
    throw refusal(bill, `Bill ${name} was cancelled before it was published: ask for Cancelled`);
  }
  if (kind === 'Copy' && !document) {
    throw refusal(bill, `Bill ${name} is not published: there is no original to copy`);
  }
  return kind;
}

function refusal({ status }: BillToRender, message: string): AppError {
  return new AppError('INVALID_STATE', { message, field: 'kind', current: { status } });
}
