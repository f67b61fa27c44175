// Deliveries: one row for each bill, channel and request.

import type { Tx } from '../../base/db/pool.ts';
import { cutIntoRanges, type IdRange } from '../../base/db/ranges.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';
import type { Channel } from '../tenants/channels.ts';
import { noteOutcomes, type Outcome } from './outcome-events.ts';

export const deliveryStatuses = [
  'Queued',
  'Sending',
  'Sent',
  'Delivered',
  'Failed',
  'Uncertain',
] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** The published bills of a term, or one of them, cut into ranges of a given size. */
export function cutPublished(
  tx: Tx,
  tenantId: number,
  wanted: { termId: number; billId: number | null },
  size: number,
): Promise<{ chunks: IdRange[]; total: number }> {
  const published = sql`
    select tenant_id, unit_id as id from bills
    where tenant_id = ${tenantId} and term_id = ${wanted.termId} and status = 'Published'
      and (${wanted.billId}::bigint is null or bill_id = ${wanted.billId})`;
  return cutIntoRanges(tx, tenantId, published, size);
}

/** Bills of a term with mails that are due, cut likewise. */
export function cutWaiting(
  tx: Tx,
  tenantId: number,
  wanted: { termId: number; now: Temporal.Instant },
  size: number,
): Promise<{ chunks: IdRange[]; total: number }> {
  const waiting = sql`
    select distinct b.tenant_id, b.unit_id as id
    from deliveries d
    join bills b on b.tenant_id = ${tenantId} and b.bill_id = d.bill_id
    where d.tenant_id = ${tenantId} and d.term_id = ${wanted.termId} and d.status = 'Queued'
      and d.next_attempt_at <= ${wanted.now}`;
  return cutIntoRanges(tx, tenantId, waiting, size);
}

export type UnderWay = {
  deliveryId: number;
  jobId: number;
  channel: Channel;
  recipient: string | null;
  status: 'Queued' | 'Sending';
};

export type AddressedBill = {
  bill_id: number;
  email: string | null;
  contacts: { contactType: string; contactValue: string }[];
  delivery_channels: Channel[] | null;
  /** Channels by which the bill is being sent, was sent, or may have been sent. */
  known: Channel[];
  /** Deliveries of the bill that are queued or being sent. */
  under_way: UnderWay[];
  /** Mails that were handed over, the oldest first. */
  mails: { recipient: string; messageId: string; status: 'Sent' | 'Uncertain' | 'Failed' }[];
};

const handedOver = sql`channel = 'Email' and attempts > 0
  and status in ('Sent', 'Uncertain', 'Failed')`;

/** The published bills of a range, with the addresses and channels of their parties. */
export async function listAddressedBills(
  tx: Tx,
  tenantId: number,
  wanted: { termId: number; billId: number | null },
  range: IdRange,
): Promise<AddressedBill[]> {
  const { rows } = await sql<AddressedBill>`
    select b.bill_id, p.email, p.contacts, p.delivery_channels,
      coalesce(d.known, '{}') as known, coalesce(d.under_way, '[]') as under_way,
      coalesce(d.mails, '[]') as mails
    from bills b
    join parties p on p.tenant_id = ${tenantId} and p.party_id = b.party_id
    left join lateral (
      select array_agg(distinct channel) filter (where status <> 'Failed') as known,
        jsonb_agg(
          jsonb_build_object('deliveryId', delivery_id, 'jobId', job_id, 'channel', channel,
            'recipient', recipient, 'status', status)
        ) filter (where status in ('Queued', 'Sending')) as under_way,
        jsonb_agg(
          jsonb_build_object('recipient', recipient, 'messageId', message_id, 'status', status)
          order by delivery_id
        ) filter (where ${handedOver}) as mails
      from deliveries
      where tenant_id = ${tenantId} and bill_id = b.bill_id
    ) d on true
    where b.tenant_id = ${tenantId} and b.term_id = ${wanted.termId} and b.status = 'Published'
      and b.unit_id between ${range.firstId} and ${range.lastId}
      and (${wanted.billId}::bigint is null or b.bill_id = ${wanted.billId})
    order by b.unit_id
  `.execute(tx);
  return rows;
}

/** Bills of a range that have deliveries to be sent. */
export async function listWaitingBills(
  tx: Tx,
  tenantId: number,
  termId: number,
  range: IdRange,
): Promise<number[]> {
  const { rows } = await sql<{ bill_id: number }>`
    select b.bill_id
    from bills b
    where b.tenant_id = ${tenantId} and b.term_id = ${termId} and b.status <> 'Cancelled'
      and b.unit_id between ${range.firstId} and ${range.lastId}
      and exists (
        select from deliveries d
        where d.tenant_id = ${tenantId} and d.bill_id = b.bill_id
          and d.status in ('Queued', 'Sending')
      )
  `.execute(tx);
  return rows.map((row) => row.bill_id);
}

export type NewDelivery = {
  deliveryId: number;
  billId: number;
  channel: Channel;
  recipient: string | null;
  status: DeliveryStatus;
  reason: string | null;
  messageId: string;
  isSent: boolean;
};

export type Request = {
  termId: number;
  jobId: number;
  template: { templateId: number; version: number } | null;
};

/** If a chunk is done a second time, its rows exist already and stay as they are. */
export async function insertDeliveries(
  tx: Tx,
  tenantId: number,
  request: Request,
  deliveries: readonly NewDelivery[],
  stamp: Stamp,
): Promise<void> {
  if (deliveries.length === 0) return;
  const { template } = request;
  const wanted = deliveries.map((one) => ({
    delivery_id: one.deliveryId,
    bill_id: one.billId,
    channel: one.channel,
    recipient: one.recipient,
    status: one.status,
    reason: one.reason,
    message_id: one.messageId,
    is_sent: one.isSent,
  }));
  const { rows } = await sql<Outcome>`
    insert into deliveries (tenant_id, delivery_id, bill_id, term_id, job_id, channel, recipient,
      status, reason, next_attempt_at, message_id, template_id, template_version, sent_at,
      created_at, created_by, modified_at)
    select own.tenant_id, r.delivery_id, r.bill_id, ${request.termId}, ${request.jobId}, r.channel,
      r.recipient, r.status, r.reason,
      case when r.status = 'Queued' then ${stamp.at}::timestamptz end, r.message_id,
      case when r.channel = 'Email' then ${template?.templateId ?? null}::bigint end,
      case when r.channel = 'Email' then ${template?.version ?? null}::integer end,
      case when r.is_sent then ${stamp.at}::timestamptz end,
      ${stamp.at}, ${stamp.by}, ${stamp.at}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) as r (
      delivery_id bigint, bill_id bigint, channel text, recipient text, status text, reason text,
      message_id text, is_sent boolean
    )
    on conflict on constraint deliveries_once do nothing
    returning bill_id, status
  `.execute(tx);
  await noteOutcomes(tx, tenantId, rows, stamp.at);
}

/** Deliveries that wait for a retry are sent with the new request. */
export async function hastenDeliveries(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
  at: Temporal.Instant,
): Promise<void> {
  await sql`
    update deliveries set next_attempt_at = ${at}, modified_at = ${at}
    where tenant_id = ${tenantId} and bill_id = any(${[...billIds]}::bigint[])
      and status = 'Queued' and next_attempt_at > ${at}
  `.execute(tx);
}

/** The columns of a queued delivery that is not tried again. */
export function asFailed(reason: string, at: Temporal.Instant): Sql {
  return sql`status = 'Failed', reason = ${reason}, next_attempt_at = null, modified_at = ${at}`;
}

/** Fails deliveries that were not sent yet, because new ones to another address replace them. */
export async function replaceDeliveries(
  tx: Tx,
  tenantId: number,
  deliveryIds: readonly number[],
  at: Temporal.Instant,
): Promise<void> {
  if (deliveryIds.length === 0) return;
  await sql`
    update deliveries
    set ${asFailed('Replaced by a later request', at)}
    where tenant_id = ${tenantId} and delivery_id = any(${[...deliveryIds]}::bigint[])
      and status = 'Queued'
  `.execute(tx);
}

/**
 * Marks deliveries as Uncertain whose worker was lost before it stored the outcome. The mails may
 * have arrived: they are not sent again unless an operator asks for it.
 */
export async function doubtDeliveries(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
  at: Temporal.Instant,
): Promise<number> {
  const { count } = await sql`
    update deliveries
    set status = 'Uncertain', next_attempt_at = null, modified_at = ${at},
      reason = 'The worker ended while it was sent: it may have arrived'
    where tenant_id = ${tenantId} and bill_id = any(${[...billIds]}::bigint[])
      and status = 'Sending'
  `.execute(tx);
  return count;
}

/** Deliveries of bills that are no longer to be sent. */
export async function failWaiting(
  tx: Tx,
  tenantId: number,
  wanted: { termId: number; range: IdRange },
  reason: string,
  at: Temporal.Instant,
): Promise<number> {
  const { rows } = await sql<Outcome>`
    update deliveries d
    set ${asFailed(reason, at)}
    from bills b
    where d.tenant_id = ${tenantId} and d.term_id = ${wanted.termId} and d.status = 'Queued'
      and b.tenant_id = ${tenantId} and b.bill_id = d.bill_id
      and b.unit_id between ${wanted.range.firstId} and ${wanted.range.lastId}
    returning d.bill_id, d.status
  `.execute(tx);
  await noteOutcomes(tx, tenantId, rows, at);
  return rows.length;
}
