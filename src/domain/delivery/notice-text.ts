// The words of notices, by the same placeholders as those of bills.

import type { Tx } from '../../base/db/pool.ts';
import type { BillDocument } from '../documents/bill-document.ts';
import { formatsOf } from '../documents/formats.ts';
import { readLetterhead } from '../documents/letterhead.ts';
import { fillLine, fillLines, type PaymentFacts } from '../documents/template.ts';
import { findSettings } from '../tenants/store.ts';
import { listTemplates } from '../tenants/templates-store.ts';

/** What a template may name of a customer, as `{{bill.partyName}}`; nothing else has a value. */
export type NoticeFacts = Pick<
  BillDocument,
  | 'partyName'
  | 'partyNumber'
  | 'connectionNumber'
  | 'serviceCode'
  | 'serviceLabel'
  | 'dueDate'
  | 'outstandingAmount'
  | 'creditBalance'
>;

/** What the mail shows beside its words. */
export type ShownFacts = Pick<
  NoticeFacts,
  'partyNumber' | 'connectionNumber' | 'dueDate' | 'outstandingAmount' | 'creditBalance'
> & { reminder?: ReminderFacts; receipt?: ReceiptFacts };

/** What the mail with a receipt shows. */
export type ReceiptFacts = PaymentFacts & { paymentId: number };

/** What the document of a reminder shows besides. */
export type ReminderFacts = {
  /** YYYY-MM-DD: the day of the dunning step. */
  date: string;
  items: readonly OverdueItem[];
};

export type OverdueItem = {
  billId: number | null;
  kind: string;
  /** YYYY-MM-DD */
  dueDate: string;
  /** In minor units. */
  amount: number;
};

export type NoticeWords = { subject: string; body: string; facts: ShownFacts };

export type NoticeWriter = (facts: NoticeFacts) => NoticeWords;

const plainSubject = '{{letterhead.name}}: {{bill.serviceLabel}} {{bill.connectionNumber}}';

/** Writes notices by the newest version of a template. */
export async function openNoticeWriter(
  tx: Tx,
  tenantId: number,
  templateId: number,
): Promise<NoticeWriter | undefined> {
  const one = { kind: 'Email', templateId, afterId: 0, limit: 1 };
  const [template] = await listTemplates(tx, tenantId, one);
  if (!template) return undefined;
  const settings = await findSettings(tx, tenantId);
  const { currency, currency_decimals: decimals, locale } = settings;
  const letterhead = readLetterhead(settings);
  const formats = formatsOf(locale, currency, decimals);
  return (facts) => {
    const bill = { ...facts, currency, lines: [], address: null } as unknown as BillDocument;
    const source = { bill, letterhead, formats };
    return {
      subject: fillLine(template.subject || plainSubject, source),
      body: fillLines(template.body, source),
      facts: shownFacts(facts),
    };
  };
}

function shownFacts(facts: NoticeFacts): ShownFacts {
  const { partyNumber, connectionNumber, dueDate, outstandingAmount, creditBalance } = facts;
  return { partyNumber, connectionNumber, dueDate, outstandingAmount, creditBalance };
}
