import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import { getBilledTerm } from '../../domain/bills/billed-terms-store.ts';
import { billInput, letterheadOf } from '../../domain/delivery/bill-input.ts';
import {
  type DocumentRow,
  findBillToShow,
  listDocumentsOf,
} from '../../domain/delivery/documents-store.ts';
import { previewSetting, settingsByVersion } from '../../domain/delivery/freeze-setting.ts';
import type { BillDocumentInput } from '../../domain/documents/bill-document.ts';
import { id, oneOf } from '../fields.ts';
import { type Call, operation } from '../operation.ts';
import { visibleBill } from './visible-bill-fields.ts';

export const getBillDocument = operation({
  path: '/billing/bills/get-bill-document',
  method: 'Retrieve',
  action: 'Retrieve Bill Document',
  access: { permission: 'bills:read', own: 'own-bills:read' },
  summary: 'The document of a bill. One that is not published is marked as a draft.',
  request: Type.Object({ billID: id, format: Type.Optional(oneOf(['PDF', 'HTML'])) }),
  response: Type.Object({ contentType: Type.String(), base64: Type.String() }),
  errors: ['BILL_NOT_FOUND', 'TEMPLATE_INVALID', 'DOCUMENT_TOO_LONG', 'DOCUMENT_DIFFERS'],
  example: { billID: 991, format: 'HTML' },
  async handle(call, { billID: billId, format = 'PDF' }) {
    const { bill, input, document } = await billToShow(call, billId);
    // Fonts and all that draws with them are loaded when a document is asked for.
    if (format === 'HTML') {
      const { renderBillHtml } = await import('../../domain/documents/bill-html.ts');
      const base64 = Buffer.from(renderBillHtml(input).html).toString('base64');
      return { message: '1 found', data: { contentType: 'text/html; charset=utf-8', base64 } };
    }
    const { renderBill } = await import('../../domain/documents/render-bill.ts');
    const bytes = renderBill(input);
    const message = bill.status === 'Published' ? await compared(bytes, document) : '1 found';
    const data = { contentType: 'application/pdf', base64: bytes.toString('base64') };
    return { message, data };
  },
});

async function billToShow(call: Call, billId: number) {
  const { tx, tenant } = call;
  const { tenantId } = tenant;
  const bill = visibleBill(call, billId, await findBillToShow(tx, tenantId, billId));
  const documents = await listDocumentsOf(tx, tenantId, [billId]);
  const document = documents.find((one) => one.format === 'PDF' && one.error === null);
  const setting = document
    ? await settingsByVersion(tx, tenantId, bill.term_id, [document.setting_version]).then(
        (settings) => settings.get(document.setting_version),
      )
    : await previewSetting(tx, tenantId, await getBilledTerm(tx, tenantId, bill.term_id));
  if (!setting) throw new Error(`the setting of document ${document?.document_id} is gone`);
  const input: BillDocumentInput = billInput(setting, letterheadOf(setting), bill);
  return { bill, input, document };
}

/** The very bytes that were published, unless a later version of the program lays out otherwise. */
async function compared(bytes: Buffer, document: DocumentRow | undefined): Promise<string> {
  const { rendererEdition, sha256 } = await import('../../domain/delivery/edition.ts');
  if (document === undefined) throw new Error('a published bill has no document');
  if (document.sha256 === sha256(bytes)) return '1 found';
  if (document.edition === rendererEdition()) throw new AppError('DOCUMENT_DIFFERS');
  return '1 found, laid out anew by another version of the program';
}
