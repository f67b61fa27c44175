// The sender of a workspace's mails. The address is always that of the server, for which it signs;
// a workspace chooses the name, and where answers go.
import type { Letterhead } from '../documents/letterhead.ts';
import type { SettingsRow } from '../tenants/store.ts';

export type SenderOfMails = {
  senderName: string | null;
  replyTo: string | null;
  /** Mails of a sandbox are never sent to a real recipient. */
  staysHere: boolean;
};

export function senderOf(
  { mail_sender: own, sandbox }: SettingsRow,
  letterhead: Pick<Letterhead, 'email'>,
): SenderOfMails {
  return {
    senderName: own.name ?? null,
    replyTo: own.replyTo ?? letterhead.email,
    staysHere: sandbox,
  };
}
