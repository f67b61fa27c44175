import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import { findCancellations } from '../../domain/bills/cancellations-store.ts';
import type { BillToRender } from '../../domain/delivery/bill-input.ts';
import type { DocumentTask, MadeDocument } from '../../domain/delivery/document-thread.ts';
import { documentThreads, documentTurns } from '../../domain/delivery/document-threads.ts';
import {
  type DocumentRow,
  findBillToShow,
  listDocumentsOf,
} from '../../domain/delivery/documents-store.ts';
import { previewSetting, settingsByVersion } from '../../domain/delivery/freeze-setting.ts';
import { getTerm } from '../../domain/terms/store.ts';
import { id, maybe, oneOf } from '../fields.ts';
import { type Call, operation } from '../operation.ts';
import { visibleBill } from './visible-bill-fields.ts';

/** Original: as published. Left out, it is Cancelled for a cancelled bill. */
const kinds = ['Original', 'Cancelled'] as const;
type Kind = (typeof kinds)[number];

export const getBillDocument = operation({
  path: '/billing/bills/get-bill-document',
  method: 'Retrieve',
  action: 'Retrieve Bill Document',
  access: { permission: 'bills:read', own: 'own-bills:read' },
  summary:
    'The document of a bill. A bill that is not published is marked as a draft, a cancelled bill ' +
    'as cancelled: its document names the credit note and the bill that replaces it.',
  request: Type.Object({
    billID: id,
    format: Type.Optional(oneOf(['PDF', 'HTML'])),
    kind: maybe(oneOf(kinds)),
  }),
  response: Type.Object({ contentType: Type.String(), base64: Type.String() }),
  errors: [
    'BILL_NOT_FOUND',
    'INVALID_STATE',
    'TEMPLATE_INVALID',
    'DOCUMENT_TOO_LONG',
    'DOCUMENT_TOO_SLOW',
    'DOCUMENT_FAILED',
    'DOCUMENT_DIFFERS',
  ],
  example: { billID: 991, format: 'HTML' },
  turns: documentTurns,
  async handle(call, { billID: billId, format = 'PDF', kind }) {
    const { task, published } = await billToShow(call, billId, kind ?? null);
    const made = await documentThreads().make({ ...task, format });
    const isPublished = task.bill.status === 'Published';
    return {
      message: format === 'PDF' && isPublished ? compared(made, published) : '1 found',
      data: { contentType: contentTypes[format], base64: made.base64 },
    };
  },
});

const contentTypes = { PDF: 'application/pdf', HTML: 'text/html; charset=utf-8' };

type Shown = {
  task: Omit<DocumentTask, 'format'>;
  /** What was stored of the document when it was published, if this is the one. */
  published: DocumentRow | undefined;
};

async function billToShow(call: Call, billId: number, asked: Kind | null): Promise<Shown> {
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
    return { task, published: undefined };
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

/** The very bytes that were published, unless a later version of the program lays out otherwise. */
function compared({ sha256, edition }: MadeDocument, document: DocumentRow | undefined): string {
  if (document === undefined) throw new Error('a published bill has no document');
  if (document.sha256 === sha256) return '1 found';
  if (document.edition === edition) throw new AppError('DOCUMENT_DIFFERS');
  return '1 found, laid out again by another version of the program';
}
