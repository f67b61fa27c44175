import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import { documentThreads, documentTurns } from '../../domain/delivery/document-threads.ts';
import { readFile } from '../../domain/delivery/files-store.ts';
import { creditNoteSource } from '../../domain/delivery/further-documents.ts';
import { findFurther } from '../../domain/delivery/further-documents-store.ts';
import { eInvoiceForms, eInvoiceNow, keptEInvoice } from '../../domain/delivery/kept-e-invoice.ts';
import { documentTypes } from '../bills/shown-document-fields.ts';
import { id, oneOf } from '../fields.ts';
import { operation } from '../operation.ts';

export const getCreditNoteDocument = operation({
  path: '/billing/credit-notes/get-credit-note-document',
  method: 'Retrieve',
  action: 'Retrieve Credit Note Document',
  access: { permission: 'bills:read', own: 'own-bills:read' },
  summary:
    'The document of a credit note, in the layout and language of its bill. UBL is the e-invoice ' +
    'beside the PDF, CII the one inside it, if the bill was published with one.',
  request: Type.Object({
    creditNoteID: id,
    format: Type.Optional(oneOf(['PDF', 'HTML', ...eInvoiceForms])),
  }),
  response: Type.Object({ contentType: Type.String(), base64: Type.String() }),
  errors: [
    'CREDIT_NOTE_NOT_FOUND',
    'TEMPLATE_INVALID',
    'DOCUMENT_TOO_LONG',
    'DOCUMENT_TOO_SLOW',
    'DOCUMENT_FAILED',
    'DOCUMENT_DIFFERS',
    'DOCUMENT_DELETED',
    'E_INVOICE_NOT_POSSIBLE',
  ],
  example: { creditNoteID: 17, format: 'HTML' },
  turns: documentTurns,
  async handle(call, { creditNoteID: creditNoteId, format = 'PDF' }) {
    const { tx, tenant } = call;
    const { tenantId } = tenant;
    // A customer sees what was credited on published bills of their own.
    const seen = { partyId: call.ownPartyId, isPublished: call.ownPartyId !== null };
    const source = await creditNoteSource(tx, tenant, creditNoteId, seen);
    if (!source) throw new AppError('CREDIT_NOTE_NOT_FOUND', { field: 'creditNoteID' });
    const key = { kind: 'CreditNote', subjectId: creditNoteId } as const;
    const kept = format === 'HTML' ? undefined : await findFurther(tx, tenantId, key);
    if (format === 'UBL' || format === 'CII') {
      const xmlKey = { kind: 'CreditNoteEInvoice', subjectId: creditNoteId } as const;
      const made = await keptEInvoice(tx, tenantId, format, { key: xmlKey, document: kept });
      // Before a worker has made it, as it will be.
      return found('application/xml', made ?? eInvoiceNow(format, source));
    }
    const contentType = documentTypes[format];
    if (kept) return found(contentType, await readFile(tx, tenantId, kept));
    const { base64 } = await documentThreads().make({ ...source, format });
    return { message: '1 found', data: { contentType, base64 } };
  },
});

function found(contentType: string, file: Buffer) {
  return { message: '1 found', data: { contentType, base64: file.toString('base64') } };
}
