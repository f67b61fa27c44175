// Notices as mails: their words as they were written, and beside them what is owed and how to pay.
import type { Tx } from '../../base/db/pool.ts';
import type { MailMessage, MailPicture } from '../../base/mail/message.ts';
import { type BankView, banksMax, bankView } from '../documents/bill-view.ts';
import type { Fact } from '../documents/fact.ts';
import { formatsOf, usableLocale } from '../documents/formats.ts';
import { kindLabelsOf } from '../documents/kind-labels.ts';
import { labelsOf } from '../documents/labels.ts';
import { type Letterhead, readLetterhead } from '../documents/letterhead.ts';
import { type MailPage, mailHtml, mailPlain, portalOf } from '../documents/mail-page.ts';
import type { PaperSetting } from '../documents/paper.ts';
import { wordOf } from '../documents/receipt-view.ts';
import { type Wording, worded } from '../documents/wording.ts';
import { listBankAccounts, presentBankAccounts } from '../pricing/bank-accounts-store.ts';
import { findSettings } from '../tenants/store.ts';
import { logoSource, mailPictures } from './mail-logo.ts';
import { type SenderOfMails, senderOf } from './mail-sender.ts';
import type { ReceiptFacts } from './notice-text.ts';
import type { NoticeToSend } from './notices-store.ts';
import { paperSetting } from './paper-setting.ts';

/** What the notices of a workspace share. */
export type NoticeLook = {
  setting: PaperSetting;
  sender: SenderOfMails;
  letterhead: Letterhead;
  wording: Wording;
  pictures: readonly MailPicture[];
  portal: string | null;
  /** By pricing context. */
  banks: ReadonlyMap<number, readonly BankView[]>;
};

export async function readNoticeLook(
  tx: Tx,
  tenantId: number,
  notices: readonly Pick<NoticeToSend, 'context_id'>[],
): Promise<NoticeLook> {
  const settings = await findSettings(tx, tenantId);
  const { currency, currency_decimals: decimals } = settings;
  const letterhead = readLetterhead(settings);
  const locale = usableLocale(settings.locale);
  const formats = formatsOf(locale, currency, decimals);
  const wording: Wording = { locale, decimals, formats, ...labelsOf(locale, false) };
  const banks = new Map<number, readonly BankView[]>();
  for (const contextId of new Set(notices.map((notice) => notice.context_id))) {
    if (contextId === null) continue;
    const rows = presentBankAccounts(await listBankAccounts(tx, tenantId, contextId));
    const shown = rows.sort((a, b) => b.isDefault - a.isDefault).slice(0, banksMax);
    const views = shown.map((row) => bankView(row, wording));
    banks.set(contextId, views);
  }
  const pictures = mailPictures(letterhead);
  const setting = paperSetting(settings);
  const portal = portalOf(settings.portal_address);
  const sender = senderOf(settings, letterhead);
  return { setting, sender, letterhead, wording, pictures, portal, banks };
}

export type NoticeMail = Pick<MailMessage, 'subject' | 'text' | 'html' | 'pictures'>;

export function noticeMail(look: NoticeLook, notice: NoticeToSend): NoticeMail {
  const { letterhead, wording, pictures } = look;
  const { subject, body: words, facts } = notice;
  const receipt = facts.receipt && receiptParts(wording, facts.receipt);
  const isPlain = notice.kind === 'Access';
  const { labels } = wording;
  const connection = { label: labels.connection, value: facts.connectionNumber ?? '' };
  const page: MailPage = {
    wording,
    letterhead,
    subject,
    words,
    warning: null,
    amount: isPlain ? null : (receipt?.amount ?? amountOf(wording, notice)),
    facts: isPlain
      ? []
      : [
          ...(receipt?.facts ?? []),
          { label: labels.customerNumber, value: String(facts.partyNumber) },
          ...(connection.value === '' ? [] : [connection]),
        ],
    totals: [],
    payment:
      receipt || isPlain
        ? null
        : {
            // The number of a subscription identifies a transfer, as that of a bill does.
            facts: [{ label: labels.reference, value: connection.value }],
            banks: look.banks.get(notice.context_id ?? 0) ?? [],
          },
    // The mail of a login has a link of its own.
    portal: isPlain ? null : look.portal,
  };
  const html = mailHtml(page, logoSource(letterhead));
  return { subject, text: mailPlain(page), html, pictures };
}

function receiptParts({ locale, formats }: Wording, receipt: ReceiptFacts) {
  const kinds = kindLabelsOf(locale);
  const number = { label: kinds.receiptNumber, value: receipt.receiptNumber };
  return {
    amount: { label: kinds.amountReceived, value: formats.money(receipt.amount) },
    facts: [
      ...(number.value === '' ? [] : [number]),
      { label: kinds.paidOn, value: formats.date(receipt.date) },
      { label: kinds.paidBy, value: wordOf(kinds, receipt.method) },
    ],
  };
}

function amountOf(wording: Wording, { kind, facts }: NoticeToSend): Fact {
  const { labels, formats } = wording;
  if (kind === 'LowBalance') {
    return { label: labels.balanceLeft, value: formats.money(facts.creditBalance) };
  }
  const label = facts.dueDate
    ? worded(wording, 'overdueSince', { date: formats.date(facts.dueDate) })
    : labels.overdue;
  return { label, value: formats.money(facts.outstandingAmount) };
}
