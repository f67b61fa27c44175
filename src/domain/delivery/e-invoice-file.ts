// The e-invoice of a bill or a credit note: a file of its own, or inside its PDF.
import { AppError } from '../../base/errors.ts';
import type { BillDocumentInput } from '../documents/bill-document.ts';
import { ciiXml } from '../documents/e-invoice/cii.ts';
import { invoiceOf } from '../documents/e-invoice/invoice.ts';
import { refusal } from '../documents/e-invoice/refusal.ts';
import { ublXml } from '../documents/e-invoice/ubl.ts';
import { type FileFacts, type KeptFile, sha256Of } from './document-file.ts';
import type { RenderSetting } from './document-setting.ts';

/** Throws E_INVOICE_NOT_POSSIBLE with the reason. */
export function eInvoiceXml(setting: RenderSetting, input: BillDocumentInput): string {
  const { eInvoice, organisation, isOwedByWorkspace = false, issueDate } = setting;
  if (issueDate === null) throw refusal('the bill is not published');
  if (eInvoice === undefined) throw refusal('its setting was off when the bill was published');
  if (isOwedByWorkspace) throw refusal('the workspace pays this bill');
  const invoice = invoiceOf(input, eInvoice, organisation.country);
  return eInvoice.format === 'UBL' ? ublXml(invoice) : ciiXml(invoice);
}

/** Undefined if the bill has none. A bill that does not fit the standard is published without. */
export function eInvoiceFile(
  setting: RenderSetting,
  input: () => BillDocumentInput,
): (KeptFile & FileFacts) | undefined {
  if (setting.eInvoice?.format !== 'UBL') return undefined;
  const xml = xmlIfPossible(setting, input());
  if (xml === undefined) return undefined;
  const own = Buffer.from(xml);
  return { own, parts: [], size: own.length, sha256: sha256Of(own) };
}

/** With the XML that the PDF has inside, if the setting asks for Factur-X and the bill fits. */
export function withFacturX(setting: RenderSetting, input: BillDocumentInput): BillDocumentInput {
  if (setting.eInvoice?.format !== 'FacturX') return input;
  const facturX = xmlIfPossible(setting, input);
  return facturX === undefined ? input : { ...input, facturX };
}

function xmlIfPossible(setting: RenderSetting, input: BillDocumentInput): string | undefined {
  try {
    return eInvoiceXml(setting, input);
  } catch (error) {
    if (error instanceof AppError && error.code === 'E_INVOICE_NOT_POSSIBLE') return undefined;
    throw error;
  }
}
