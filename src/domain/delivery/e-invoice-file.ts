// The e-invoice of a bill, in the form in which its file is kept.
import { AppError } from '../../base/errors.ts';
import type { BillDocumentInput } from '../documents/bill-document.ts';
import { ublInvoice } from '../documents/e-invoice/ubl.ts';
import { type FileFacts, type KeptFile, sha256Of } from './document-file.ts';
import type { RenderSetting } from './document-setting.ts';

/** Throws E_INVOICE_NOT_POSSIBLE with the reason. */
export function eInvoiceXml(setting: RenderSetting, input: BillDocumentInput): string {
  const { eInvoice, organisation, isOwedByWorkspace = false } = setting;
  if (eInvoice === undefined) throw refusal('its setting was off when the bill was published');
  if (isOwedByWorkspace) throw refusal('the workspace pays this bill');
  return ublInvoice(input, eInvoice, organisation.country);
}

/** Undefined if the bill has none. A bill that does not fit the standard is published without. */
export function eInvoiceFile(
  setting: RenderSetting,
  input: () => BillDocumentInput,
): (KeptFile & FileFacts) | undefined {
  if (setting.eInvoice === undefined) return undefined;
  try {
    const own = Buffer.from(eInvoiceXml(setting, input()));
    return { own, parts: [], size: own.length, sha256: sha256Of(own) };
  } catch (error) {
    if (error instanceof AppError && error.code === 'E_INVOICE_NOT_POSSIBLE') return undefined;
    throw error;
  }
}

function refusal(reason: string): AppError {
  return new AppError('E_INVOICE_NOT_POSSIBLE', { message: `There is no e-invoice: ${reason}` });
}
