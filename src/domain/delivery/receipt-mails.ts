// Receipts by mail, if the workspace wants them: the words of the mail, and the file it brings.
import { wireDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { Log } from '../../base/log.ts';
import type { BillDocument } from '../documents/bill-document.ts';
import { formatsOf, usableLocale } from '../documents/formats.ts';
import { kindLabelsOf } from '../documents/kind-labels.ts';
import { readLetterhead } from '../documents/letterhead.ts';
import { wordOf } from '../documents/receipt-view.ts';
import { fillLine, fillLines } from '../documents/template.ts';
import { findSettings, type SettingsRow } from '../tenants/store.ts';
import { listTemplates } from '../tenants/templates-store.ts';
import { readFiles } from './files-store.ts';
import { listFurther } from './further-documents-store.ts';
import type { ReceiptFacts } from './notice-text.ts';
import { insertNotices, type NewNotice, type NoticeToSend } from './notices-store.ts';
import type { ReceiptSource } from './receipts.ts';
import { inLanguage } from './template-language.ts';

/** For payers with an address whose payments are not reversed. */
export async function queueReceiptMails(
  tx: Tx,
  tenantId: number,
  sources: readonly ReceiptSource[],
  { log, now }: { log: Log; now: Temporal.Instant },
): Promise<void> {
  const settings = await findSettings(tx, tenantId);
  const wanted = sources.filter(({ row }) => row.email !== null && row.reversal_date === null);
  // It may have been switched off since the payment was made.
  if (settings.receipt_mail === null || wanted.length === 0) return;
  const words = await wordsOf(tx, tenantId, settings);
  const notices = wanted.flatMap((source): NewNotice[] => {
    try {
      return [noticeOf(source, settings, words)];
    } catch (error) {
      log.error(
        { err: error, tenantId, paymentId: source.row.payment_id },
        'a receipt has no mail',
      );
      return [];
    }
  });
  await insertNotices(tx, tenantId, notices, now);
}

type Words = { subject: string; body: string };

/** Of the template; those that are left out, in the language of the workspace. */
async function wordsOf(tx: Tx, tenantId: number, settings: SettingsRow): Promise<Words> {
  const { receiptSubject: subject, receiptWords: body } = kindLabelsOf(settings.locale);
  const templateId = settings.receipt_mail?.templateID ?? null;
  if (templateId === null) return { subject, body };
  const one = { kind: 'Email', templateId, afterId: 0, limit: 1 };
  const [template] = await listTemplates(tx, tenantId, one);
  const own = template && inLanguage(template, settings.locale);
  return { subject: own?.subject || subject, body: own?.body ?? body };
}

function noticeOf({ row, paper }: ReceiptSource, settings: SettingsRow, words: Words): NewNotice {
  const { currency, currency_decimals: decimals } = settings;
  const locale = usableLocale(settings.locale);
  const { party } = paper;
  const receipt: ReceiptFacts = {
    paymentId: row.payment_id,
    amount: 'receipt' in paper ? paper.receipt.amount : 0,
    date: wireDay(row.value_date),
    receiptNumber: row.receipt_number ?? '',
    reference: row.reference,
    method: row.payment_method,
  };
  const shown = {
    partyName: party.name,
    partyNumber: party.number,
    connectionNumber: party.connectionNumber,
  };
  const bill = { ...shown, currency, lines: [], address: null } as unknown as BillDocument;
  const source = {
    bill,
    letterhead: readLetterhead(settings),
    formats: formatsOf(locale, currency, decimals),
    payment: { ...receipt, method: wordOf(kindLabelsOf(locale), receipt.method) },
  };
  return {
    kind: 'Receipt',
    partyId: row.party_id,
    subscriptionId: row.subscription_id,
    contextId: null,
    recipient: row.email ?? '',
    subject: fillLine(words.subject, source),
    body: fillLines(words.body, source),
    facts: {
      partyNumber: party.number,
      connectionNumber: party.connectionNumber,
      dueDate: '',
      outstandingAmount: 0,
      creditBalance: 0,
      receipt,
    },
  };
}

/** The files of receipts, by notice. */
export async function receiptFiles(
  tx: Tx,
  tenantId: number,
  notices: readonly NoticeToSend[],
): Promise<Map<number, Buffer>> {
  const payments = notices.flatMap(({ notice_id: id, facts }) =>
    facts.receipt ? [{ id, paymentId: facts.receipt.paymentId }] : [],
  );
  if (payments.length === 0) return new Map();
  const ids = payments.map((one) => one.paymentId);
  const kept = await listFurther(tx, tenantId, 'Receipt', ids);
  const files = await readFiles(tx, tenantId, [...kept.values()]);
  return new Map(
    payments.flatMap(({ id, paymentId }) => {
      const file = files.get(kept.get(paymentId)?.document_id ?? 0);
      return file === undefined ? [] : [[id, file] as const];
    }),
  );
}
