// Prepares the mails of a chunk of bills. The renderer's threads write subject and text; the
// attached documents are the stored files that were published.
import { type Tx, tenantTransact } from '../base/db/pool.ts';
import type { MailMessage } from '../base/mail/message.ts';
import type { BillToRender } from '../domain/delivery/bill-input.ts';
import { templatesForPayers } from '../domain/delivery/document-setting.ts';
import {
  type DocumentRow,
  listBillsByIds,
  listPublished,
} from '../domain/delivery/documents-store.ts';
import { readFiles } from '../domain/delivery/files-store.ts';
import { type FrozenSetting, settingsByVersion } from '../domain/delivery/freeze-setting.ts';
import { listFurther } from '../domain/delivery/further-documents-store.ts';
import { mailPictures } from '../domain/delivery/mail-logo.ts';
import { senderOf } from '../domain/delivery/mail-sender.ts';
import type { MailTemplate } from '../domain/delivery/mail-text.ts';
import type { MailResult, MailWords } from '../domain/delivery/render-outcome.ts';
import type { QueuedMail } from '../domain/delivery/sending-store.ts';
import { type EmailTemplateRow, listEmailTemplates } from '../domain/delivery/settings-store.ts';
import { inLanguage } from '../domain/delivery/template-language.ts';
import { readLetterhead } from '../domain/documents/letterhead.ts';
import { findSettings, type SettingsRow } from '../domain/tenants/store.ts';
import type { Tools } from '../jobs/tools.ts';

/** Everything that the mails of a chunk are made from. */
export type MailSource = {
  bills: ReadonlyMap<number, BillToRender>;
  documents: ReadonlyMap<number, DocumentRow>;
  settings: ReadonlyMap<number, FrozenSetting>;
  templates: ReadonlyMap<string, EmailTemplateRow>;
  tenant: SettingsRow;
};

export async function readMailSource(
  tx: Tx,
  tenantId: number,
  termId: number,
  mails: readonly QueuedMail[],
): Promise<MailSource> {
  const billIds = [...new Set(mails.map((mail) => mail.bill_id))];
  const bills = await listBillsByIds(tx, tenantId, billIds);
  const documents = await listPublished(tx, tenantId, billIds);
  const versions = new Set(documents.map((document) => document.setting_version));
  const settings = await settingsByVersion(tx, tenantId, termId, [...versions]);
  const wanted = new Map(
    mails.flatMap(({ template_id: templateId, template_version: version }) =>
      templateId === null || version === null
        ? []
        : [[templateKey(templateId, version), { templateId, version }] as const],
    ),
  );
  const templates = await listEmailTemplates(tx, tenantId, [...wanted.values()]);
  const tenant = await findSettings(tx, tenantId);
  return {
    bills: new Map(bills.map((bill) => [bill.bill_id, bill])),
    documents: new Map(documents.map((document) => [document.bill_id, document])),
    settings,
    templates: new Map(
      templates.map((one) => [templateKey(one.template_id, one.version), one] as const),
    ),
    tenant,
  };
}

function templateKey(templateId: number | null, version: number | null): string {
  return `${templateId}/${version}`;
}

/** A mail that can be handed over, or why it cannot be made. */
export type PreparedMail = { mail: QueuedMail } & ({ message: MailMessage } | { problem: string });

export async function prepareMails(
  tools: Tools,
  tenantId: number,
  source: MailSource,
  mails: readonly QueuedMail[],
): Promise<PreparedMail[]> {
  const documents = mails.flatMap((mail) => source.documents.get(mail.bill_id) ?? []);
  const reading = tenantTransact(tools.database, tenantId, async (tx) => {
    const ids = mails.map((mail) => mail.bill_id);
    const eInvoices = await listFurther(tx, tenantId, 'EInvoice', ids);
    const files = await readFiles(tx, tenantId, [...documents, ...eInvoices.values()]);
    return { eInvoices, files };
  });
  const [{ eInvoices, files }, words] = await Promise.all([
    reading,
    writeWords(tools, source, mails),
  ]);
  return mails.map((mail) => {
    const document = source.documents.get(mail.bill_id);
    const written = words.get(mail.bill_id);
    if (written === undefined || document === undefined) {
      return { mail, problem: 'The bill has no document' };
    }
    if ('error' in written) return { mail, problem: written.error.message };
    const file = files.get(document.document_id);
    if (file === undefined) {
      return { mail, problem: 'The document differs from the one that was published' };
    }
    const eInvoice = files.get(eInvoices.get(mail.bill_id)?.document_id ?? 0);
    return { mail, message: messageOf(tenantId, source, mail, { ...written, file, eInvoice }) };
  });
}

async function writeWords(
  tools: Tools,
  source: MailSource,
  mails: readonly QueuedMail[],
): Promise<Map<number, MailResult>> {
  const results = new Map<number, MailResult>();
  const bySetting = Map.groupBy(
    mails,
    (mail) => source.documents.get(mail.bill_id)?.setting_version ?? 0,
  );
  for (const [version, some] of bySetting) {
    const setting = source.settings.get(version);
    if (setting === undefined) continue;
    const bills = some.flatMap((mail) => source.bills.get(mail.bill_id) ?? []);
    const words = new Map(some.map((mail) => [mail.bill_id, templateOf(source, setting, mail)]));
    const { portal_address: portalAddress } = source.tenant;
    const written = await tools.renderer.write({ ...setting, portalAddress }, bills, words);
    for (const [billId, result] of written) results.set(billId, result);
  }
  return results;
}

function templateOf(
  { templates }: MailSource,
  { isOwedByWorkspace, locale }: FrozenSetting,
  mail: QueuedMail,
): MailTemplate | null {
  if (isOwedByWorkspace && mail.template_id === templatesForPayers.mail) return null;
  const found = templates.get(templateKey(mail.template_id, mail.template_version));
  return found === undefined ? null : inLanguage(found, locale);
}

function messageOf(
  tenantId: number,
  source: MailSource,
  mail: QueuedMail,
  {
    subject,
    text,
    html,
    file,
    eInvoice,
  }: MailWords & { file: Buffer; eInvoice: Buffer | undefined },
): MailMessage {
  const version = source.documents.get(mail.bill_id)?.setting_version ?? 0;
  const { name, country } = source.tenant;
  const organisation = source.settings.get(version)?.organisation;
  const letterhead = readLetterhead(organisation ?? { name, country, letterhead: {} });
  const number = source.bills.get(mail.bill_id)?.bill_number ?? String(mail.bill_id);
  return {
    key: { tenantId, deliveryId: mail.delivery_id },
    messageId: mail.message_id,
    to: mail.recipient,
    ...senderOf(source.tenant, letterhead),
    subject,
    text,
    html,
    pictures: mailPictures(letterhead),
    attachments: [
      { filename: `${number}.pdf`, contentType: 'application/pdf', content: file },
      ...(eInvoice
        ? [{ filename: `${number}.xml`, contentType: 'application/xml', content: eInvoice }]
        : []),
    ],
    // The time of the request and not of sending: a mail that is sent again has the same bytes.
    date: mail.created_at,
  };
}
