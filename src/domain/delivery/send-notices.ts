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
import { receiptFiles } from './receipt-mails.ts';
import { keepReminders } from './reminders.ts';
import type { Renderer } from './renderer.ts';

export type NoticeTools = {
  database: Database;
  mailer: Mailer;
  renderer: Pick<Renderer, 'print'>;
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
      const look = await readNoticeLook(tx, tenantId, notices);
      const { renderer, log } = tools;
      const reminders = await keepReminders(
        tx,
        tenantId,
        { notices, look },
        { renderer, log, now },
      );
      const receipts = await receiptFiles(tx, tenantId, notices);
      return { notices, look, files: new Map([...reminders, ...receipts]) };
    });
    if (!taken) return sent;
    const { notices, look, files } = taken;
    const ends = await Promise.all(
      notices.map((one) => {
        const file = files.get(one.notice_id);
        return handOver(tools, tenantId, { ...one, file }, look, now);
      }),
    );
    await tenantTransact(database, tenantId, (tx) => endNotices(tx, tenantId, ends, clock.now()));
    sent += ends.filter((end) => end.status === 'Sent').length;
  }
  return sent;
}

type NoticeWithFile = NoticeToSend & { file: Buffer | undefined };

async function handOver(
  { mailer, mailDomain, log }: NoticeTools,
  tenantId: number,
  notice: NoticeWithFile,
  look: NoticeLook,
  now: Temporal.Instant,
): Promise<NoticeEnd> {
  const { notice_id: noticeId, recipient: to } = notice;
  const key = { tenantId, deliveryId: noticeId };
  const messageId = `<notice-${noticeId}.${tenantId}@${mailDomain}>`;
  const attachments = attachmentsOf(notice);
  const mail = { key, messageId, to, attachments, date: notice.created_at };
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

function attachmentsOf({ notice_id: id, kind, facts, file: content }: NoticeWithFile) {
  if (content === undefined) return [];
  const number = facts.receipt?.receiptNumber || String(facts.receipt?.paymentId ?? id);
  const filename = `${kind}-${number.replace(/[^A-Za-z0-9_-]/g, '_')}.pdf`;
  return [{ filename, contentType: 'application/pdf', content }];
}
