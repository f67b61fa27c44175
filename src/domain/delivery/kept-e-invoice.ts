// The XML of an e-invoice as it was published: a file beside the PDF (UBL) or inside it (CII).

import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import { fileInside } from '../../base/pdf/archive.ts';
import { refusal } from '../documents/e-invoice/refusal.ts';
import { billInput, letterheadOf } from './bill-input.ts';
import type { DocumentTask } from './document-thread.ts';
import { eInvoiceXml } from './e-invoice-file.ts';
import { readFile } from './files-store.ts';
import { type FurtherKey, type FurtherRow, findFurther } from './further-documents-store.ts';

/** The forms of the XML that callers ask for. */
export type EInvoiceForm = 'UBL' | 'CII';
export const eInvoiceForms = ['UBL', 'CII'] as const;

type PublishedFile = Pick<FurtherRow, 'document_id' | 'deleted_on'> & { sha256: string | null };

type Kept = {
  /** Of the file in UBL. */
  key: FurtherKey;
  /** The PDF; undefined while it is not kept. */
  document: PublishedFile | undefined;
};

/** Undefined if none was published with the document. */
export async function keptEInvoice(
  tx: Tx,
  tenantId: number,
  form: EInvoiceForm,
  { key, document }: Kept,
): Promise<Buffer | undefined> {
  if (form === 'CII') return document && fileInside(await readFile(tx, tenantId, document));
  const kept = await findFurther(tx, tenantId, key);
  return kept && readFile(tx, tenantId, kept);
}

/** Makes the e-invoice as of now. Throws E_INVOICE_NOT_POSSIBLE with the reason if it cannot. */
export function eInvoiceNow(
  form: EInvoiceForm,
  { setting, bill, creditNote }: Omit<DocumentTask, 'format'>,
): Buffer {
  const ofBill = billInput(setting, letterheadOf(setting), bill);
  const xml = eInvoiceXml(setting, creditNote ? { ...ofBill, creditNote } : ofBill);
  const format = setting.eInvoice?.format;
  if (form === 'UBL' && format === 'FacturX') throw refusal('it is CII, inside the PDF');
  if (form === 'CII' && format === 'UBL') throw refusal('it is UBL, beside the PDF');
  return Buffer.from(xml);
}

export function noEInvoice(field: string): AppError {
  return new AppError('E_INVOICE_NOT_POSSIBLE', { field });
}
