// Mails with a link by which a person logs in or sets a new password.
import type { Tx } from '../../base/db/pool.ts';
import type { LinkPurpose } from '../access/links-store.ts';
import { insertNotices } from './notices-store.ts';

export type AccessMail = {
  purpose: LinkPurpose;
  recipient: string;
  partyId: number | null;
  /** As the person is called. */
  name: string;
  workspaceName: string;
  link: string;
  minutes: number;
};

export async function queueAccessMail(
  tx: Tx,
  tenantId: number,
  mail: AccessMail,
  at: Temporal.Instant,
): Promise<void> {
  const { subject, ask } = words[mail.purpose];
  const body = [
    mail.name,
    '',
    ask,
    mail.link,
    '',
    `The link works once, for ${mail.minutes} minutes.`,
    'If you did not ask for it, ignore this mail.',
  ].join('\n');
  const notice = {
    kind: 'Access' as const,
    partyId: mail.partyId,
    subscriptionId: null,
    contextId: null,
    recipient: mail.recipient,
    subject: `${mail.workspaceName}: ${subject}`,
    body,
    facts: {
      partyNumber: 0,
      connectionNumber: null,
      dueDate: '',
      outstandingAmount: 0,
      creditBalance: 0,
    },
  };
  await insertNotices(tx, tenantId, [notice], at);
}

const words: Record<LinkPurpose, { subject: string; ask: string }> = {
  Login: { subject: 'your link to log in', ask: 'Open this link to see your bills:' },
  Reset: { subject: 'your new password', ask: 'Open this link to choose a new password:' },
};
