// Mails with a link by which a person logs in or sets a new password.
import type { Tx } from '../../base/db/pool.ts';
import type { LinkPurpose } from '../access/links-store.ts';
import { wakeDailyJobs } from '../tenants/store.ts';
import { accessWordsOf } from './access-words.ts';
import { insertNotices } from './notices-store.ts';

export type AccessMail = {
  purpose: LinkPurpose;
  recipient: string;
  partyId: number | null;
  /** As the person is called. */
  name: string;
  workspaceName: string;
  /** Of the customer, otherwise of the workspace. */
  locale: string;
  link: string;
  minutes: number;
};

export async function queueAccessMail(
  tx: Tx,
  tenantId: number,
  mail: AccessMail,
  at: Temporal.Instant,
): Promise<void> {
  const { subject, ask, once, otherwise } = accessWordsOf(mail.locale);
  const body = [
    mail.name,
    '',
    ask[mail.purpose],
    mail.link,
    '',
    once.replace('{minutes}', String(mail.minutes)),
    otherwise,
  ].join('\n');
  const notice = {
    kind: 'Access' as const,
    partyId: mail.partyId,
    subscriptionId: null,
    contextId: null,
    recipient: mail.recipient,
    subject: `${mail.workspaceName}: ${subject[mail.purpose]}`,
    body,
    facts: {
      partyNumber: 0,
      connectionNumber: null,
      dueDate: '',
      outstandingAmount: 0,
      creditBalance: 0,
    },
  };
  // A person waits for it.
  await Promise.all([insertNotices(tx, tenantId, [notice], at), wakeDailyJobs(tx, tenantId)]);
}
