import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import { billInput, letterheadOf } from '../../domain/delivery/bill-input.ts';
import type { DocumentTask, MadeDocument } from '../../domain/delivery/document-thread.ts';
import { documentThreads, documentTurns } from '../../domain/delivery/document-threads.ts';
import { eInvoiceXml } from '../../domain/delivery/e-invoice-file.ts';
import { readFile } from '../../domain/delivery/files-store.ts';
import { findFurther } from '../../domain/delivery/further-documents-store.ts';
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
    'beside the PDF, if the setting eInvoice asks for it.',
  request: Type.Object({
    billID: id,
    format: Type.Optional(oneOf(['PDF', 'HTML', 'UBL'])),
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
    if (format === 'UBL') return answer('application/xml', await eInvoiceOf(call, task));
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
  { tx, tenant }: Call,
  { setting, bill }: Omit<DocumentTask, 'format'>,
): Promise<MadeDocument> {
  const { tenantId } = tenant;
  const key = { kind: 'EInvoice', subjectId: bill.bill_id } as const;
  const kept = await findFurther(tx, tenantId, key);
  if (kept) return { base64: (await readFile(tx, tenantId, kept)).toString('base64') };
  if (setting.issueDate === null) {
    const message = 'There is no e-invoice: the bill is not published';
    throw new AppError('E_INVOICE_NOT_POSSIBLE', { message, field: 'billID' });
  }
  // Names the reason.
  eInvoiceXml(setting, billInput(setting, letterheadOf(setting), bill));
  throw new AppError('E_INVOICE_NOT_POSSIBLE', { field: 'billID' });
}

function answer(contentType: string, { base64 }: MadeDocument) {
  return { message: '1 found', data: { contentType, base64 } };
}

/** It is not kept: the original is, and the mark can be set again at any time. */
function markedCopy(file: Buffer, { setting, bill }: Omit<DocumentTask, 'format'>) {
  const title = bill.bill_number ?? `Bill ${bill.bill_id}`;
  return documentThreads().mark({ file, mark: 'copy', locale: setting.locale, title });
}
