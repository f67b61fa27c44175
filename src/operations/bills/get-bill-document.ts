import * as Type from 'typebox';
import type { DocumentTask, MadeDocument } from '../../domain/delivery/document-thread.ts';
import { documentThreads, documentTurns } from '../../domain/delivery/document-threads.ts';
import { listPublished } from '../../domain/delivery/documents-store.ts';
import { readFile } from '../../domain/delivery/files-store.ts';
import {
  type EInvoiceForm,
  eInvoiceForms,
  eInvoiceNow,
  keptEInvoice,
  noEInvoice,
} from '../../domain/delivery/kept-e-invoice.ts';
import { id, maybe, oneOf } from '../fields.ts';
import { type Call, operation } from '../operation.ts';
import { billToShow, documentKinds, documentTypes } from './shown-document-fields.ts';

export const getBillDocument = operation({
  path: '/billing/bills/get-bill-document',
  method: 'Retrieve',
  action: 'Retrieve Bill Document',
  access: { permission: 'bills:read', own: 'own-bills:read' },
  summary:
    'The document of a bill. A bill that is not published is marked as a draft, a cancelled bill ' +
    'as cancelled: its document names the credit note and the bill that replaces it. A copy is ' +
    'the published file with a mark across each page. UBL is the e-invoice that was published ' +
    'beside the PDF, CII the one inside it, if the setting eInvoice asks for them.',
  request: Type.Object({
    billID: id,
    format: Type.Optional(oneOf(['PDF', 'HTML', ...eInvoiceForms])),
    kind: maybe(oneOf(documentKinds)),
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
    'DOCUMENT_DELETED',
    'E_INVOICE_NOT_POSSIBLE',
  ],
  example: { billID: 991, format: 'HTML' },
  turns: documentTurns,
  async handle(call, { billID: billId, format = 'PDF', kind }) {
    const { kind: shown, task, published } = await billToShow(call, billId, kind ?? null);
    if (format === 'UBL' || format === 'CII') return eInvoiceOf(call, task, format);
    const contentType = documentTypes[format];
    if (format === 'PDF' && published) {
      const file = await readFile(call.tx, call.tenant.tenantId, published);
      if (shown === 'Copy') return answer(contentType, await markedCopy(file, task));
      return answer(contentType, { base64: file.toString('base64') });
    }
    return answer(contentType, await documentThreads().make({ ...task, format }));
  },
});

/** That of the bill, also after it was cancelled. */
async function eInvoiceOf(
  { tx, tenant: { tenantId } }: Call,
  task: Omit<DocumentTask, 'format'>,
  form: EInvoiceForm,
) {
  const { bill_id: billId } = task.bill;
  const [document] = form === 'CII' ? await listPublished(tx, tenantId, [billId]) : [];
  const key = { kind: 'EInvoice', subjectId: billId } as const;
  const kept = await keptEInvoice(tx, tenantId, form, { key, document });
  if (kept) return answer('application/xml', { base64: kept.toString('base64') });
  // Names the reason.
  eInvoiceNow(form, task);
  throw noEInvoice('billID');
}

function answer(contentType: string, { base64 }: MadeDocument) {
  return { message: '1 found', data: { contentType, base64 } };
}

/** It is not kept: the original is, and the mark can be set again at any time. */
function markedCopy(file: Buffer, { setting, bill }: Omit<DocumentTask, 'format'>) {
  const title = bill.bill_number ?? `Bill ${bill.bill_id}`;
  return documentThreads().mark({ file, mark: 'copy', locale: setting.locale, title });
}
