// Mails in flight: taken, handed over, and their outcomes.

import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import { noteOutcomes, type Outcome } from './outcome-events.ts';
import { asFailed, type DeliveryStatus } from './store.ts';

export type QueuedMail = {
  delivery_id: number;
  bill_id: number;
  recipient: string;
  message_id: string;
  template_id: number | null;
  template_version: number | null;
  failures: number;
  created_at: Temporal.Instant;
};

export async function listQueuedMails(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
  now: Temporal.Instant,
): Promise<QueuedMail[]> {
  if (billIds.length === 0) return [];
  const { rows } = await sql<QueuedMail>`
    select delivery_id, bill_id, recipient, message_id, template_id, template_version, failures,
      created_at
    from deliveries
    where tenant_id = ${tenantId} and bill_id = any(${[...billIds]}::bigint[])
      and channel = 'Email' and status = 'Queued' and next_attempt_at <= ${now}
    order by delivery_id
  `.execute(tx);
  return rows;
}

/**
 * Only who changes Queued into Sending may send. Returns the attempts, by delivery; a bill that was
 * cancelled meanwhile is not among them.
 */
export async function claimDeliveries(
  tx: Tx,
  tenantId: number,
  deliveryIds: readonly number[],
  at: Temporal.Instant,
): Promise<Map<number, number>> {
  if (deliveryIds.length === 0) return new Map();
  const { rows } = await sql<{ delivery_id: number; attempts: number }>`
    update deliveries d
    set status = 'Sending', attempts = d.attempts + 1, next_attempt_at = null, modified_at = ${at}
    from bills b
    where d.tenant_id = ${tenantId} and d.delivery_id = any(${[...deliveryIds]}::bigint[])
      and d.status = 'Queued'
      and b.tenant_id = ${tenantId} and b.bill_id = d.bill_id and b.status = 'Published'
    returning d.delivery_id, d.attempts
  `.execute(tx);
  return new Map(rows.map((row) => [row.delivery_id, row.attempts]));
}

export type SendingEnd = {
  deliveryId: number;
  attempts: number;
  status: DeliveryStatus;
  reason: string;
  failures: number;
  nextAttemptAt: Temporal.Instant | null;
};

/**
 * Names the rows by id in addition: otherwise all waiting deliveries of the workspace would be
 * scanned for a few.
 */
function isOneOf(ends: readonly { deliveryId: number }[]): Sql {
  return sql`d.delivery_id = any(${ends.map((end) => end.deliveryId)}::bigint[])`;
}

/** Of one that was given up as uncertain in the meantime, the truth is still welcome. */
export async function endSending(
  tx: Tx,
  tenantId: number,
  ends: readonly SendingEnd[],
  at: Temporal.Instant,
): Promise<void> {
  if (ends.length === 0) return;
  const sent = ends.map((end) => ({
    delivery_id: end.deliveryId,
    attempts: end.attempts,
    status: end.status,
    reason: end.reason,
    failures: end.failures,
    next_attempt_at: end.nextAttemptAt?.toString() ?? null,
  }));
  const { rows } = await sql<Outcome>`
    update deliveries d
    set status = r.status, reason = r.reason, failures = r.failures,
      next_attempt_at = r.next_attempt_at, modified_at = ${at},
      sent_at = case when r.status = 'Sent' then ${at}::timestamptz else d.sent_at end
    from jsonb_to_recordset(${JSON.stringify(sent)}::jsonb) as r (
      delivery_id bigint, attempts integer, status text, reason text, failures smallint,
      next_attempt_at timestamptz
    )
    where d.tenant_id = ${tenantId} and ${isOneOf(ends)} and d.delivery_id = r.delivery_id
      and d.attempts = r.attempts and d.status in ('Sending', 'Uncertain')
    returning d.bill_id, d.status
  `.execute(tx);
  await noteOutcomes(tx, tenantId, rows, at);
}

/** Mails that were not handed over at all. */
export async function putOff(
  tx: Tx,
  tenantId: number,
  ends: readonly Omit<SendingEnd, 'attempts'>[],
  at: Temporal.Instant,
): Promise<void> {
  if (ends.length === 0) return;
  const sent = ends.map((end) => ({
    delivery_id: end.deliveryId,
    status: end.status,
    reason: end.reason,
    failures: end.failures,
    next_attempt_at: end.nextAttemptAt?.toString() ?? null,
  }));
  const { rows } = await sql<Outcome>`
    update deliveries d
    set status = r.status, reason = r.reason, failures = r.failures,
      next_attempt_at = r.next_attempt_at, modified_at = ${at}
    from jsonb_to_recordset(${JSON.stringify(sent)}::jsonb) as r (
      delivery_id bigint, status text, reason text, failures smallint, next_attempt_at timestamptz
    )
    where d.tenant_id = ${tenantId} and ${isOneOf(ends)} and d.delivery_id = r.delivery_id
      and d.status = 'Queued'
    returning d.bill_id, d.status
  `.execute(tx);
  await noteOutcomes(tx, tenantId, rows, at);
}

/** When the next mail of the term, or what was not printed, is to be tried again. */
export async function findNextAttempt(
  tx: Tx,
  tenantId: number,
  termId: number,
): Promise<Temporal.Instant | null> {
  const { rows } = await sql<{ at: Temporal.Instant | null }>`
    select min(next_attempt_at) as at from deliveries
    where tenant_id = ${tenantId} and term_id = ${termId} and status = 'Queued'
  `.execute(tx);
  return rows[0]?.at ?? null;
}

/**
 * Keeps the transaction that holds a chunk of a job from being ended as idle, and fails if the
 * chunk was taken away: a worker that has lost it sends nothing more.
 */
export async function keepHold(tx: Tx, tenantId: number): Promise<void> {
  await sql`select 1 from tenants where tenant_id = ${tenantId}`.execute(tx);
}

export type QueuedPrint = { delivery_id: number; bill_id: number };

/** In the order of printing. */
export async function listQueuedPrints(
  tx: Tx,
  tenantId: number,
  termId: number,
  options: { afterId: number; limit: number },
): Promise<QueuedPrint[]> {
  const { rows } = await sql<QueuedPrint>`
    select delivery_id, bill_id from deliveries
    where tenant_id = ${tenantId} and term_id = ${termId} and status = 'Queued'
      and channel = 'Print' and delivery_id > ${options.afterId}
    order by delivery_id
    limit ${options.limit}
  `.execute(tx);
  return rows;
}

export async function endPrinting(
  tx: Tx,
  tenantId: number,
  ends: readonly { deliveryId: number; status: 'Sent' | 'Failed'; reason: string }[],
  at: Temporal.Instant,
): Promise<void> {
  if (ends.length === 0) return;
  const printed = ends.map((end) => ({ ...end, delivery_id: end.deliveryId }));
  const { rows } = await sql<Outcome>`
    update deliveries d
    set status = r.status, reason = r.reason, next_attempt_at = null, modified_at = ${at},
      attempts = d.attempts + 1,
      sent_at = case when r.status = 'Sent' then ${at}::timestamptz end
    from jsonb_to_recordset(${JSON.stringify(printed)}::jsonb) as r (
      delivery_id bigint, status text, reason text
    )
    where d.tenant_id = ${tenantId} and ${isOneOf(ends)} and d.delivery_id = r.delivery_id
      and d.status = 'Queued'
    returning d.bill_id, d.status
  `.execute(tx);
  await noteOutcomes(tx, tenantId, rows, at);
}

/** What waits to be printed is tried again after the next of these pauses, or given up. */
export async function putOffPrints(
  tx: Tx,
  tenantId: number,
  termId: number,
  pauseSeconds: readonly number[],
  at: Temporal.Instant,
): Promise<void> {
  const reason = 'The job that should print it failed; see the log for the reason';
  const givenUp = `Given up after ${pauseSeconds.length + 1} failures: ${reason}`;
  const isLast = sql`d.failures >= ${pauseSeconds.length}`;
  const { rows } = await sql<Outcome>`
    update deliveries d
    set failures = d.failures + 1, modified_at = ${at},
      status = case when ${isLast} then 'Failed' else 'Queued' end,
      reason = case when ${isLast} then ${givenUp} else ${reason} end,
      next_attempt_at = ${at}::timestamptz + make_interval(secs =>
        (${[...pauseSeconds]}::integer[])[d.failures + 1])
    where d.tenant_id = ${tenantId} and d.term_id = ${termId} and d.status = 'Queued'
      and d.channel = 'Print'
    returning d.bill_id, d.status
  `.execute(tx);
  await noteOutcomes(tx, tenantId, rows, at);
}

/** A cancelled bill asks for no payment, so its waiting deliveries fail. */
export async function failCancelled(
  tx: Tx,
  tenantId: number,
  termId: number,
  at: Temporal.Instant,
): Promise<void> {
  const { rows } = await sql<Outcome>`
    update deliveries d
    set ${asFailed('The bill was cancelled', at)}
    from bills b
    where d.tenant_id = ${tenantId} and d.term_id = ${termId} and d.status = 'Queued'
      and b.tenant_id = ${tenantId} and b.bill_id = d.bill_id and b.status = 'Cancelled'
    returning d.bill_id, d.status
  `.execute(tx);
  await noteOutcomes(tx, tenantId, rows, at);
}

/** What waits for a job that will not come, in a term for which no other is about to send it. */
export async function failUnplanned(
  tx: Tx,
  tenantId: number,
  termId: number,
  reason: string,
  at: Temporal.Instant,
): Promise<number> {
  const { rows } = await sql<Outcome>`
    update deliveries d
    set ${asFailed(reason, at)}
    where d.tenant_id = ${tenantId} and d.term_id = ${termId} and d.status = 'Queued'
      and not exists (
        select from jobs j
        where j.tenant_id = ${tenantId} and j.term_id = d.term_id
          and (j.status = 'Running' or (j.status = 'Scheduled' and j.is_immediate))
      )
    returning d.bill_id, d.status
  `.execute(tx);
  await noteOutcomes(tx, tenantId, rows, at);
  return rows.length;
}
