import * as Type from 'typebox';
import { documentThreads, documentTurns } from '../../domain/delivery/document-threads.ts';
import { readFile } from '../../domain/delivery/files-store.ts';
import { id, maybe, oneOf } from '../fields.ts';
import { operation } from '../operation.ts';
import { billToShow, documentKinds, documentTypes } from './shown-document-fields.ts';

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
  ],
  example: { billID: 991, format: 'HTML' },
  turns: documentTurns,
  async handle(call, { billID: billId, format = 'PDF', kind }) {
    const { task, published } = await billToShow(call, billId, kind ?? null);
    const contentType = documentTypes[format];
    if (format === 'PDF' && published) {
      const file = await readFile(call.tx, call.tenant.tenantId, published);
      return { message: '1 found', data: { contentType, base64: file.toString('base64') } };
    }
    const { base64 } = await documentThreads().make({ ...task, format });
    return { message: '1 found', data: { contentType, base64 } };
  },
});
