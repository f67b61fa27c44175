// Makes mails out of bills that wait to be sent, some at a time, in the threads of the renderer.
import type { Tx } from '../base/db/pool.ts';
import type { MailMessage } from '../base/mail/message.ts';
import type { BillToRender } from '../domain/delivery/bill-input.ts';
import { templatesForPayers } from '../domain/delivery/document-setting.ts';
import {
  type DocumentRow,
  listBillsByIds,
  listDocumentsOf,
} from '../domain/delivery/documents-store.ts';
import { type FrozenSetting, settingsByVersion } from '../domain/delivery/freeze-setting.ts';
import type { MailTemplate } from '../domain/delivery/mail-text.ts';
import type { Rendered, RenderResult } from '../domain/delivery/render-outcome.ts';
import type { QueuedMail } from '../domain/delivery/sending-store.ts';
import { listEmailTemplates } from '../domain/delivery/settings-store.ts';
import { findSettings } from '../domain/tenants/store.ts';
import type { Tools } from '../jobs/tools.ts';

/** All that the mails of a chunk are made from. */
export type MailSource = {
  bills: ReadonlyMap<number, BillToRender>;
  documents: ReadonlyMap<number, DocumentRow>;
  settings: ReadonlyMap<number, FrozenSetting>;
  templates: ReadonlyMap<string, MailTemplate>;
  /** Mails of a sandbox are never sent to a real recipient. */
  isSandbox: boolean;
};

export async function readMailSource(
  tx: Tx,
  tenantId: number,
  termId: number,
  mails: readonly QueuedMail[],
): Promise<MailSource> {
  const billIds = [...new Set(mails.map((mail) => mail.bill_id))];
  const bills = await listBillsByIds(tx, tenantId, billIds);
  const documents = (await listDocumentsOf(tx, tenantId, billIds)).filter(
    (document) => document.format === 'PDF' && document.error === null,
  );
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
  const { sandbox: isSandbox } = await findSettings(tx, tenantId);
  return {
    bills: new Map(bills.map((bill) => [bill.bill_id, bill])),
    documents: new Map(documents.map((document) => [document.bill_id, document])),
    settings,
    templates: new Map(
      templates.map((one) => [templateKey(one.template_id, one.version), one] as const),
    ),
    isSandbox,
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
  const results = new Map<number, RenderResult>();
  let edition = '';
  const bySetting = Map.groupBy(
    mails,
    (mail) => source.documents.get(mail.bill_id)?.setting_version ?? 0,
  );
  for (const [version, some] of bySetting) {
    const setting = source.settings.get(version);
    if (setting === undefined) continue;
    const bills = some.flatMap((mail) => source.bills.get(mail.bill_id) ?? []);
    const words = new Map(some.map((mail) => [mail.bill_id, templateOf(source, setting, mail)]));
    const rendered = await tools.renderer.render(setting, bills, words);
    edition = rendered.edition;
    for (const [billId, result] of rendered.results) results.set(billId, result);
  }
  return mails.map((mail) => prepared(tenantId, source, mail, results.get(mail.bill_id), edition));
}

function templateOf(
  { templates }: MailSource,
  { isOwedByWorkspace }: FrozenSetting,
  mail: QueuedMail,
): MailTemplate | null {
  if (isOwedByWorkspace && mail.template_id === templatesForPayers.mail) return null;
  return templates.get(templateKey(mail.template_id, mail.template_version)) ?? null;
}

function prepared(
  tenantId: number,
  source: MailSource,
  mail: QueuedMail,
  result: RenderResult | undefined,
  edition: string,
): PreparedMail {
  const document = source.documents.get(mail.bill_id);
  if (result === undefined || document === undefined) {
    return { mail, problem: 'The bill has no document' };
  }
  if ('error' in result) return { mail, problem: result.error.message };
  if (document.edition === edition && document.sha256 !== result.sha256) {
    return { mail, problem: 'The document differs from the one that was published' };
  }
  const setting = source.settings.get(document.setting_version);
  return { mail, message: messageOf(tenantId, mail, result, { source, setting }) };
}

function messageOf(
  tenantId: number,
  mail: QueuedMail,
  rendered: Rendered,
  { source, setting }: { source: MailSource; setting: FrozenSetting | undefined },
): MailMessage {
  const letterhead = (setting?.organisation.letterhead ?? {}) as { email?: unknown };
  const number = source.bills.get(mail.bill_id)?.bill_number ?? String(mail.bill_id);
  return {
    key: { tenantId, deliveryId: mail.delivery_id },
    messageId: mail.message_id,
    to: mail.recipient,
    replyTo: typeof letterhead.email === 'string' ? letterhead.email : null,
    subject: rendered.mail?.subject ?? '',
    text: rendered.mail?.text ?? '',
    attachments: [
      {
        filename: `${number}.pdf`,
        contentType: 'application/pdf',
        content: Buffer.from(rendered.bytes ?? []),
      },
    ],
    // Of the request, so that the same mail is the same bytes whenever it is sent.
    date: mail.created_at,
    staysHere: source.isSandbox,
  };
}
