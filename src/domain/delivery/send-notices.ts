// Hands notices over to the mail server. That one is being sent is stored before, and its outcome
// right after: a worker that dies in between leaves some uncertain, and none is sent twice.

import { type Database, tenantTransact } from '../../base/db/pool.ts';
import type { Log } from '../../base/log.ts';
import type { Mailer } from '../../base/mail/mailer.ts';
import { type MailResult, mailRetrySeconds } from '../../base/mail/result.ts';
import { type NoticeLook, noticeMail, readNoticeLook } from './notice-mail.ts';
import {
  claimNotices,
  doubtNotices,
  endNotices,
  type NoticeEnd,
  type NoticeToSend,
} from './notices-store.ts';

export type NoticeTools = {
  database: Database;
  mailer: Mailer;
  /** Of the sender, for the ids of mails. */
  mailDomain: string;
  mailsAtOnce: number;
  log: Log;
  isStopping?: () => boolean;
};

/** Longer than any mail server may take for a mail. */
const sendingMinutesMax = 30;
/** More rounds than one look sends; the rest waits for the next. */
const roundsMax = 10_000;

/** Returns how many were sent. The time is the machine's: mails wait in real time. */
export async function sendNotices(
  tools: NoticeTools,
  tenantId: number,
  clock: { now(): Temporal.Instant },
): Promise<number> {
  const { database, mailsAtOnce: limit, isStopping = () => false } = tools;
  let sent = 0;
  for (let round = 0; round < roundsMax && !isStopping(); round += 1) {
    const now = clock.now();
    const taken = await tenantTransact(database, tenantId, async (tx) => {
      const takenBefore = now.subtract({ minutes: sendingMinutesMax });
      await doubtNotices(tx, tenantId, { takenBefore, now });
      const notices = await claimNotices(tx, tenantId, { now, limit });
      if (notices.length === 0) return undefined;
      return { notices, look: await readNoticeLook(tx, tenantId, notices) };
    });
    if (!taken) return sent;
    const { notices, look } = taken;
    const ends = await Promise.all(notices.map((one) => handOver(tools, tenantId, one, look, now)));
    await tenantTransact(database, tenantId, (tx) => endNotices(tx, tenantId, ends, clock.now()));
    sent += ends.filter((end) => end.status === 'Sent').length;
  }
  return sent;
}

async function handOver(
  { mailer, mailDomain, log }: NoticeTools,
  tenantId: number,
  notice: NoticeToSend,
  look: NoticeLook,
  now: Temporal.Instant,
): Promise<NoticeEnd> {
  const { notice_id: noticeId, recipient: to } = notice;
  const key = { tenantId, deliveryId: noticeId };
  const messageId = `<notice-${noticeId}.${tenantId}@${mailDomain}>`;
  const mail = { key, messageId, to, attachments: [], date: notice.created_at };
  const { outcome, detail } = await mailer
    .send({ ...mail, ...look.sender, ...noticeMail(look, notice) })
    .catch((error: Error): MailResult => {
      log.error({ err: error, noticeId }, 'a notice could not be handed over');
      return { outcome: 'Temporary', detail: 'The mail could not be handed over' };
    });
  const seconds = outcome === 'Temporary' ? mailRetrySeconds(notice.attempts) : null;
  const nextAttemptAt = seconds === null ? null : now.add({ seconds });
  const isGivenUp = outcome === 'Permanent' || (outcome === 'Temporary' && seconds === null);
  const status = isGivenUp ? 'Failed' : outcome === 'Temporary' ? 'Queued' : outcome;
  return { noticeId, status: status as NoticeEnd['status'], reason: detail, nextAttemptAt };
}
