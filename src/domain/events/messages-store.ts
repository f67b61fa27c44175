// Messages to webhooks, made of events: each is claimed, sent, and its outcome stored.

import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import type { EventRow } from './events-store.ts';

export type MessageStatus = 'Queued' | 'Sending' | 'Delivered' | 'Dead';
export const messageStatuses = ['Queued', 'Sending', 'Delivered', 'Dead'] as const;

/** A webhook as the worker that sends to it sees it. */
export type Sender = {
  webhook_id: number;
  url: string;
  types: string[];
  secret: Buffer;
  old_secret: Buffer | null;
  old_secret_until: Temporal.Instant | null;
  read_in: string;
  read_event_id: string;
  last_sequence: number;
  failures: number;
};

/** Undefined if it is not active, or another worker makes messages for it at this moment. */
export async function takeSender(
  tx: Tx,
  tenantId: number,
  webhookId: number,
): Promise<Sender | undefined> {
  const { rows } = await sql<Sender>`
    select webhook_id, url, types, secret, old_secret, old_secret_until, read_in::text as read_in,
      read_event_id::text as read_event_id, last_sequence, failures
    from webhooks
    where tenant_id = ${tenantId} and webhook_id = ${webhookId} and status = 'Active'
    for no key update skip locked
  `.execute(tx);
  return rows[0];
}

export async function countWaiting(
  tx: Tx,
  tenantId: number,
  webhookId: number,
  max: number,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (
      select from webhook_messages
      where tenant_id = ${tenantId} and webhook_id = ${webhookId} and next_attempt_at is not null
      limit ${max}
    ) found
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

/** `written_in` is text here: to order by it, statements name the column of the table. */
export type OrderedEvent = EventRow & { written_in: string };

/** Events after the place of a webhook, of any type. */
export async function listEventsAfter(
  tx: Tx,
  tenantId: number,
  { read_in, read_event_id }: Pick<Sender, 'read_in' | 'read_event_id'>,
  limit: number,
): Promise<OrderedEvent[]> {
  const { rows } = await sql<OrderedEvent>`
    select event_id, type, is_bulk, data, at, written_in::text as written_in from events
    where tenant_id = ${tenantId}
      and (written_in, event_id) > (${read_in}::xid8, ${read_event_id}::bigint)
      and written_in < pg_snapshot_xmin(pg_current_snapshot())
    order by events.written_in, event_id
    limit ${limit}
  `.execute(tx);
  return rows;
}

export async function listEventsBetween(
  tx: Tx,
  tenantId: number,
  { fromId, toId }: { fromId: number; toId: number },
  limit: number,
): Promise<OrderedEvent[]> {
  const { rows } = await sql<OrderedEvent>`
    select event_id, type, is_bulk, data, at, written_in::text as written_in from events
    where tenant_id = ${tenantId} and event_id between ${fromId} and ${toId}
    order by events.written_in, event_id
    limit ${limit}
  `.execute(tx);
  return rows;
}

export type NewMessage = { sequence: number; eventId: number; item: number; type: string };

/** A message that exists already begins a new round: as after a redelivery. */
export async function insertMessages(
  tx: Tx,
  tenantId: number,
  webhookId: number,
  messages: readonly NewMessage[],
  now: Temporal.Instant,
): Promise<void> {
  if (messages.length === 0) return;
  await sql`
    insert into webhook_messages (tenant_id, webhook_id, sequence, event_id, item, type,
      next_attempt_at, created_at)
    select own.tenant_id, ${webhookId}, r.sequence, r."eventId", r.item, r.type, ${now}, ${now}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(messages)}::jsonb) as r (
      sequence bigint, "eventId" bigint, item integer, type text
    )
    on conflict on constraint webhook_messages_once do update
      set status = 'Queued', failures = 0, next_attempt_at = excluded.next_attempt_at,
        ended_at = null
  `.execute(tx);
}

/** The webhook has messages of all events up to this one. */
export async function moveOn(
  tx: Tx,
  tenantId: number,
  webhookId: number,
  { last, sequence }: { last: OrderedEvent; sequence: number },
): Promise<void> {
  await sql`
    update webhooks
    set read_in = ${last.written_in}::xid8, read_event_id = ${last.event_id},
      last_sequence = ${sequence}
    where tenant_id = ${tenantId} and webhook_id = ${webhookId}
  `.execute(tx);
}

/** Gives out the next sequences of a webhook. Returns the last one before them. */
export async function takeSequences(
  tx: Tx,
  tenantId: number,
  webhookId: number,
  count: number,
): Promise<number> {
  const { rows } = await sql<{ last: number }>`
    update webhooks set last_sequence = last_sequence + ${count}
    where tenant_id = ${tenantId} and webhook_id = ${webhookId}
    returning last_sequence - ${count} as last
  `.execute(tx);
  return rows[0]?.last ?? 0;
}

/** Messages of a range of events that a webhook has. */
export async function listKnownMessages(
  tx: Tx,
  tenantId: number,
  webhookId: number,
  eventIds: readonly number[],
): Promise<{ event_id: number; item: number }[]> {
  const { rows } = await sql<{ event_id: number; item: number }>`
    select event_id, item from webhook_messages
    where tenant_id = ${tenantId} and webhook_id = ${webhookId}
      and event_id = any(${eventIds}::bigint[])
  `.execute(tx);
  return rows;
}

export type ClaimedMessage = {
  sequence: number;
  event_id: number;
  item: number;
  type: string;
  /** Counts this attempt. */
  attempts: number;
  failures: number;
};

/**
 * Takes messages that are due: new ones, those of which an attempt failed, and those whose worker
 * has not been heard of since. Until `claimedUntil` no other worker takes them.
 */
export async function claimMessages(
  tx: Tx,
  tenantId: number,
  webhookId: number,
  {
    now,
    claimedUntil,
    limit,
  }: { now: Temporal.Instant; claimedUntil: Temporal.Instant; limit: number },
): Promise<ClaimedMessage[]> {
  const { rows } = await sql<ClaimedMessage>`
    update webhook_messages m
    set status = 'Sending', attempts = m.attempts + 1, next_attempt_at = ${claimedUntil}
    where m.tenant_id = ${tenantId} and m.webhook_id = ${webhookId} and m.sequence = any(array(
      select d.sequence from webhook_messages d
      where d.tenant_id = ${tenantId} and d.webhook_id = ${webhookId}
        and d.next_attempt_at <= ${now}
      order by d.next_attempt_at, d.sequence
      limit ${limit}
      for no key update skip locked
    ))
    returning m.sequence, m.event_id, m.item, m.type, m.attempts, m.failures
  `.execute(tx);
  const sorted = rows.toSorted((a, b) => a.sequence - b.sequence);
  await insertAttempts(tx, tenantId, webhookId, sorted, now);
  return sorted;
}

async function insertAttempts(
  tx: Tx,
  tenantId: number,
  webhookId: number,
  claimed: readonly ClaimedMessage[],
  now: Temporal.Instant,
): Promise<void> {
  if (claimed.length === 0) return;
  await sql`
    insert into webhook_attempts (tenant_id, webhook_id, sequence, attempt, started_at)
    select own.tenant_id, ${webhookId}, r.sequence, r.attempts, ${now}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(claimed)}::jsonb) as r (
      sequence bigint, attempts integer
    )
  `.execute(tx);
}

export async function listEventsOf(
  tx: Tx,
  tenantId: number,
  eventIds: readonly number[],
): Promise<EventRow[]> {
  const { rows } = await sql<EventRow>`
    select event_id, type, is_bulk, data, at from events
    where tenant_id = ${tenantId} and event_id = any(${eventIds}::bigint[])
  `.execute(tx);
  return rows;
}

export type AttemptEnd = {
  sequence: number;
  attempt: number;
  outcome: 'Delivered' | 'Failed' | 'Refused';
  httpStatus: number | null;
  detail: string;
  status: 'Delivered' | 'Queued' | 'Dead';
  nextAttemptAt: string | null;
};

/** A worker that was too slow changes only its attempt: another one has the message by now. */
export async function endAttempts(
  tx: Tx,
  tenantId: number,
  webhookId: number,
  ends: readonly AttemptEnd[],
  now: Temporal.Instant,
): Promise<void> {
  const text = JSON.stringify(ends);
  const sequences = ends.map((end) => end.sequence);
  await Promise.all([
    sql`
      update webhook_attempts a
      set ended_at = ${now}, outcome = r.outcome, http_status = r."httpStatus", detail = r.detail
      from jsonb_to_recordset(${text}::jsonb) as r (
        sequence bigint, attempt integer, outcome text, "httpStatus" smallint, detail text
      )
      where a.tenant_id = ${tenantId} and a.webhook_id = ${webhookId}
        and a.sequence = any(${sequences}::bigint[])
        and a.sequence = r.sequence and a.attempt = r.attempt
    `.execute(tx),
    sql`
      update webhook_messages m
      set status = r.status, next_attempt_at = r."nextAttemptAt",
        failures = m.failures + case when r.status = 'Delivered' then 0 else 1 end,
        ended_at = case when r."nextAttemptAt" is null then ${now}::timestamptz end
      from jsonb_to_recordset(${text}::jsonb) as r (
        sequence bigint, attempt integer, status text, "nextAttemptAt" timestamptz
      )
      where m.tenant_id = ${tenantId} and m.webhook_id = ${webhookId}
        and m.sequence = any(${sequences}::bigint[])
        and m.sequence = r.sequence and m.attempts = r.attempt and m.status = 'Sending'
    `.execute(tx),
  ]);
}

export type MessageFilter = {
  webhookId: number | null;
  eventId: number | null;
  status: MessageStatus | null;
};

export type MessageRow = {
  webhook_id: number;
  sequence: number;
  event_id: number;
  item: number;
  type: string;
  status: MessageStatus;
  attempts: number;
  next_attempt_at: Temporal.Instant | null;
  created_at: Temporal.Instant;
  ended_at: Temporal.Instant | null;
  tried: ShownAttempt[];
};

/** Times as text, because they come in JSON. */
export type ShownAttempt = {
  attempt: number;
  startedAt: string;
  endedAt: string | null;
  outcome: string | null;
  httpStatus: number | null;
  detail: string | null;
};

/** Newest attempts of a message that are shown. */
const attemptsShown = 20;

/** The newest first. */
export async function listMessages(
  tx: Tx,
  tenantId: number,
  filter: MessageFilter,
  options: {
    before: Pick<MessageRow, 'webhook_id' | 'sequence'> | null;
    offset: number;
    limit: number;
  },
): Promise<MessageRow[]> {
  const { before } = options;
  const rest =
    before === null
      ? sql`true`
      : sql`(m.webhook_id, m.sequence) < (${before.webhook_id}, ${before.sequence})`;
  const { rows } = await sql<MessageRow>`
    select m.webhook_id, m.sequence, m.event_id, m.item, m.type, m.status, m.attempts,
      m.next_attempt_at, m.created_at, m.ended_at, tried.list as tried
    from (
      select m.* from webhook_messages m
      where m.tenant_id = ${tenantId} and ${wanted(filter)} and ${rest}
      order by m.webhook_id desc, m.sequence desc
      limit ${options.limit} offset ${options.offset}
    ) m
    cross join lateral (
      select coalesce(jsonb_agg(jsonb_build_object(
        'attempt', a.attempt, 'startedAt', a.started_at, 'endedAt', a.ended_at,
        'outcome', a.outcome, 'httpStatus', a.http_status, 'detail', a.detail
      ) order by a.attempt desc), '[]') as list
      from (
        select * from webhook_attempts a
        where a.tenant_id = ${tenantId} and a.webhook_id = m.webhook_id
          and a.sequence = m.sequence
        order by a.attempt desc
        limit ${attemptsShown}
      ) a
    ) tried
    order by m.webhook_id desc, m.sequence desc
  `.execute(tx);
  return rows;
}

export async function countMessages(
  tx: Tx,
  tenantId: number,
  filter: MessageFilter,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from webhook_messages m
    where m.tenant_id = ${tenantId} and ${wanted(filter)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

function wanted({ webhookId, eventId, status }: MessageFilter): Sql {
  const conditions = [
    ...(webhookId === null ? [] : [sql`m.webhook_id = ${webhookId}`]),
    ...(eventId === null ? [] : [sql`m.event_id = ${eventId}`]),
    ...(status === null ? [] : [sql`m.status = ${status}`]),
  ];
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}

/** Messages that ended before, with their attempts. Returns how many. */
export async function deleteOldMessages(
  tx: Tx,
  tenantId: number,
  before: Temporal.Instant,
): Promise<number> {
  const { count } = await sql`
    delete from webhook_messages where tenant_id = ${tenantId} and ended_at < ${before}
  `.execute(tx);
  return count;
}

/** Webhooks with something to send, in all workspaces. */
export async function listWebhooksWithWork(
  tx: Tx,
  now: Temporal.Instant,
): Promise<{ tenant_id: number; webhook_id: number; failures: number }[]> {
  const { rows } = await sql<{ tenant_id: number; webhook_id: number; failures: number }>`
    select tenant_id, webhook_id, failures from webhooks_with_work(${now})
  `.execute(tx);
  return rows;
}
