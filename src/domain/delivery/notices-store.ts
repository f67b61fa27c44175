// Notices: mails to customers other than bills, such as reminders and receipts.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { takeNumbers } from '../tenants/numbers-store.ts';
import type { ShownFacts } from './notice-text.ts';

export type NoticeKind = 'Reminder' | 'LowBalance' | 'Receipt' | 'Access';

export type NewNotice = {
  kind: NoticeKind;
  partyId: number | null;
  subscriptionId: number | null;
  recipient: string;
  subject: string;
  body: string;
  /** Whose bank accounts the mail names. */
  contextId: number | null;
  facts: ShownFacts;
};

/** Returns the ids. They share a series with deliveries: both become files of one folder. */
export async function insertNotices(
  tx: Tx,
  tenantId: number,
  notices: readonly NewNotice[],
  at: Temporal.Instant,
): Promise<number[]> {
  if (notices.length === 0) return [];
  const firstId = await takeNumbers(tx, tenantId, 'delivery', notices.length);
  const rows = notices.map((notice, index) => ({ ...notice, noticeId: firstId + index }));
  await sql`
    insert into notices (tenant_id, notice_id, kind, party_id, subscription_id, recipient, subject,
      body, context_id, facts, next_attempt_at, created_at, modified_at)
    select own.tenant_id, r."noticeId", r.kind, r."partyId", r."subscriptionId", r.recipient,
      r.subject, r.body, r."contextId", r.facts, ${at}::timestamptz, ${at}::timestamptz,
      ${at}::timestamptz
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      "noticeId" bigint, kind text, "partyId" bigint, "subscriptionId" bigint, recipient text,
      subject text, body text, "contextId" bigint, facts jsonb
    )
  `.execute(tx);
  return rows.map((row) => row.noticeId);
}

export type NoticeToSend = {
  notice_id: number;
  kind: NoticeKind;
  party_id: number | null;
  recipient: string;
  subject: string;
  body: string;
  context_id: number | null;
  facts: ShownFacts;
  attempts: number;
  created_at: Temporal.Instant;
};

/** Takes some that are due: only the worker that does may send them. */
export async function claimNotices(
  tx: Tx,
  tenantId: number,
  { now, limit }: { now: Temporal.Instant; limit: number },
): Promise<NoticeToSend[]> {
  const { rows } = await sql<NoticeToSend>`
    update notices n
    set status = 'Sending', attempts = n.attempts + 1, next_attempt_at = null, modified_at = ${now}
    where n.tenant_id = ${tenantId} and n.notice_id = any(array(
      select d.notice_id from notices d
      where d.tenant_id = ${tenantId} and d.status = 'Queued' and d.next_attempt_at <= ${now}
      order by d.next_attempt_at, d.notice_id
      limit ${limit}
      for no key update skip locked
    ))
    returning n.notice_id, n.kind, n.party_id, n.recipient, n.subject, n.body, n.context_id,
      n.facts, n.attempts, n.created_at
  `.execute(tx);
  return rows;
}

export type NoticeEnd = {
  noticeId: number;
  status: 'Sent' | 'Failed' | 'Uncertain' | 'Queued';
  reason: string;
  nextAttemptAt: Temporal.Instant | null;
};

export async function endNotices(
  tx: Tx,
  tenantId: number,
  ends: readonly NoticeEnd[],
  now: Temporal.Instant,
): Promise<void> {
  const ids = ends.map((end) => end.noticeId);
  const rows = ends.map((end) => ({
    ...end,
    nextAttemptAt: end.nextAttemptAt?.toString() ?? null,
  }));
  await sql`
    update notices n
    set status = r.status, reason = r.reason, next_attempt_at = r."nextAttemptAt",
      modified_at = ${now},
      body = case when n.kind = 'Access' and r.status <> 'Queued' then '' else n.body end
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      "noticeId" bigint, status text, reason text, "nextAttemptAt" timestamptz
    )
    where n.tenant_id = ${tenantId} and n.notice_id = any(${ids}::bigint[])
      and n.notice_id = r."noticeId" and n.status = 'Sending'
  `.execute(tx);
}

export async function findNotice(
  tx: Tx,
  tenantId: number,
  noticeId: number,
): Promise<NoticeToSend | undefined> {
  const { rows } = await sql<NoticeToSend>`
    select notice_id, kind, party_id, recipient, subject, body, context_id, facts, attempts,
      created_at
    from notices
    where tenant_id = ${tenantId} and notice_id = ${noticeId}
  `.execute(tx);
  return rows[0];
}

/** Those that a worker took long ago and never finished: the mail may have arrived. */
export async function doubtNotices(
  tx: Tx,
  tenantId: number,
  { takenBefore, now }: { takenBefore: Temporal.Instant; now: Temporal.Instant },
): Promise<void> {
  await sql`
    update notices
    set status = 'Uncertain', reason = 'The worker ended while it sent this mail',
      modified_at = ${now}
    where tenant_id = ${tenantId} and status = 'Sending' and modified_at < ${takenBefore}
  `.execute(tx);
}
