// The document of a bill that a caller may see: what it is made from, or where it is kept.
import { AppError } from '../../base/errors.ts';
import { findCancellations } from '../../domain/bills/cancellations-store.ts';
import type { BillToRender } from '../../domain/delivery/bill-input.ts';
import type { DocumentTask } from '../../domain/delivery/document-thread.ts';
import {
  type DocumentRow,
  findBillToShow,
  listDocumentsOf,
} from '../../domain/delivery/documents-store.ts';
import { previewSetting, settingsByVersion } from '../../domain/delivery/freeze-setting.ts';
import { findFurther } from '../../domain/delivery/further-documents-store.ts';
import { getTerm } from '../../domain/terms/store.ts';
import type { Call } from '../operation.ts';
import { visibleBill } from './visible-bill-fields.ts';

/** Original: as published. Left out, it is Cancelled for a cancelled bill. */
export const documentKinds = ['Original', 'Cancelled'] as const;
type Kind = (typeof documentKinds)[number];

type Shown = {
  task: Omit<DocumentTask, 'format'>;
  /** The document that was published, if this is the one. */
  published: { document_id: number; sha256: string | null } | undefined;
};

export async function billToShow(call: Call, billId: number, asked: Kind | null): Promise<Shown> {
  const { tx, tenant } = call;
  const { tenantId } = tenant;
  const bill = visibleBill(call, billId, await findBillToShow(tx, tenantId, billId));
  const documents = await listDocumentsOf(tx, tenantId, [billId]);
  const document = documents.find((one) => one.format === 'PDF' && one.error === null);
  const kind = kindOf(bill, document, asked);
  const setting = document
    ? await settingsByVersion(tx, tenantId, bill.term_id, [document.setting_version]).then(
        (settings) => settings.get(document.setting_version),
      )
    : await previewSetting(tx, tenantId, await getTerm(tx, tenantId, bill.term_id));
  if (!setting) throw new Error(`the setting of document ${document?.document_id} is gone`);
  if (kind === 'Cancelled') {
    const cancellations = await findCancellations(tx, tenantId, [billId]);
    const task = { setting, bill, cancellation: cancellations.get(billId) };
    const key = { kind, subjectId: billId } as const;
    return { task, published: await findFurther(tx, tenantId, key) };
  }
  // A document that was published says so, whatever became of the bill.
  const shown = document ? { ...bill, status: 'Published' } : bill;
  return { task: { setting, bill: shown, cancellation: undefined }, published: document };
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
  return kind;
}

function refusal({ status }: BillToRender, message: string): AppError {
  return new AppError('INVALID_STATE', { message, field: 'kind', current: { status } });
}
