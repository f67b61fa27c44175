// Renders bills in a thread of its own, so that the process stays answerable meanwhile.
import { AppError } from '../../base/errors.ts';
import { renderBill } from '../documents/render-bill.ts';
import { billInput, letterheadOf, type StoredBill } from './bill-input.ts';
import type { RenderSetting } from './document-setting.ts';
import { rendererEdition, sha256 } from './edition.ts';
import { type MailTemplate, mailText } from './mail-text.ts';

export type RenderTask = {
  setting: RenderSetting;
  bills: readonly StoredBill[];
  /** Bytes, and words for a mail by bill; otherwise only what the bytes come to. */
  mails: Readonly<Record<number, MailTemplate | null>> | null;
};

export type RenderError = { code: string; message: string };

export type Rendered = {
  billId: number;
  size: number;
  /** Hexadecimal. */
  sha256: string;
  bytes: Uint8Array | null;
  mail: { subject: string; text: string } | null;
};

export type RenderResult = Rendered | { billId: number; error: RenderError };

export type RenderOutcome = { edition: string; results: RenderResult[] };

export default function render({ setting, bills, mails }: RenderTask): RenderOutcome {
  const letterhead = letterheadOf(setting);
  const results = bills.map((bill): RenderResult => {
    const billId = bill.bill_id;
    try {
      const input = billInput(setting, letterhead, bill);
      const bytes = renderBill(input);
      const template = mails?.[billId];
      return {
        billId,
        size: bytes.length,
        sha256: sha256(bytes),
        bytes: mails === null ? null : bytes,
        mail: template === undefined ? null : mailText(input, template),
      };
    } catch (error) {
      return { billId, error: renderErrorOf(error) };
    }
  });
  return { edition: rendererEdition(), results };
}

/** Rendering reads nothing but the bill and its setting: whatever goes wrong is about this bill. */
export function renderErrorOf(error: unknown): RenderError {
  if (error instanceof AppError) return { code: error.code, message: error.message };
  const message = error instanceof Error ? error.message : String(error);
  return { code: 'DOCUMENT_FAILED', message: `The document could not be made: ${message}` };
}
