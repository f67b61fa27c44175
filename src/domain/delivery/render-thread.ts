// Renders bills in a thread of its own, so that the process stays answerable meanwhile.
import { renderBill } from '../documents/render-bill.ts';
import { type BillToRender, billInput, letterheadOf } from './bill-input.ts';
import type { RenderSetting } from './document-setting.ts';
import { rendererEdition, sha256 } from './edition.ts';
import { type MailTemplate, mailText } from './mail-text.ts';
import { type RenderOutcome, type RenderResult, renderErrorOf } from './render-outcome.ts';

export type RenderTask = {
  setting: RenderSetting;
  bills: readonly BillToRender[];
  /** Bytes, and words for a mail by bill; otherwise only what the bytes come to. */
  mails: Readonly<Record<number, MailTemplate | null>> | null;
};

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
