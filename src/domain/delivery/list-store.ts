// Deliveries as they are shown.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { Channel } from '../tenants/channels.ts';
import { noteOutcomes, type Outcome } from './outcome-events.ts';
import type { DeliveryStatus } from './store.ts';

export type DeliveryRow = {
  delivery_id: number;
  term_id: number;
  bill_id: number;
  bill_number: string | null;
  party_id: number;
  job_id: number;
  channel: Channel;
  recipient: string | null;
  status: DeliveryStatus;
  reason: string | null;
  attempts: number;
  next_attempt_at: Temporal.Instant | null;
  message_id: string;
  sent_at: Temporal.Instant | null;
  created_at: Temporal.Instant;
  created_by: string;
  modified_at: Temporal.Instant;
};

const columns = sql.raw(`d.delivery_id, d.term_id, d.bill_id, b.bill_number, b.party_id, d.job_id,
  d.channel, d.recipient, d.status, d.reason, d.attempts, d.next_attempt_at, d.message_id,
  d.sent_at, d.created_at, d.created_by, d.modified_at`);

export type DeliveryFilter = {
  termId: number | null;
  billId: number | null;
  status: string | null;
  channel: string | null;
};

/** In the order in which they were asked for. */
export async function listDeliveries(
  tx: Tx,
  tenantId: number,
  filter: DeliveryFilter,
  window: { afterId: number; offset: number; limit: number },
): Promise<DeliveryRow[]> {
  // The page is found before the bills are looked at.
  const { rows } = await sql<DeliveryRow>`
    select ${columns}
    from (
      select * from deliveries
      where ${matches(tenantId, filter)} and delivery_id > ${window.afterId}
      order by delivery_id
      limit ${window.limit} offset ${window.offset}
    ) d
    join bills b on b.tenant_id = ${tenantId} and b.bill_id = d.bill_id
    order by d.delivery_id
  `.execute(tx);
  return rows;
}

export async function countDeliveries(
  tx: Tx,
  tenantId: number,
  filter: DeliveryFilter,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from deliveries where ${matches(tenantId, filter)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

function matches(tenantId: number, filter: DeliveryFilter) {
  return sql.join(
    [
      sql`tenant_id = ${tenantId}`,
      ...(filter.termId === null ? [] : [sql`term_id = ${filter.termId}`]),
      ...(filter.billId === null ? [] : [sql`bill_id = ${filter.billId}`]),
      ...(filter.status === null ? [] : [sql`status = ${filter.status}`]),
      ...(filter.channel === null ? [] : [sql`channel = ${filter.channel}`]),
    ],
    sql` and `,
  );
}

export type LockedDelivery = {
  delivery_id: number;
  bill_id: number;
  bill_status: string;
  channel: Channel;
  recipient: string | null;
  status: DeliveryStatus;
  reason: string | null;
  /** A later one of the same bill by the same channel. */
  followed_by: number | null;
};

export async function lockDeliveries(
  tx: Tx,
  tenantId: number,
  termId: number,
  deliveryIds: readonly number[],
): Promise<LockedDelivery[]> {
  const { rows } = await sql<LockedDelivery>`
    select d.delivery_id, d.bill_id, b.status as bill_status, d.channel, d.recipient, d.status,
      d.reason, (
        select max(l.delivery_id) from deliveries l
        where l.tenant_id = ${tenantId} and l.bill_id = d.bill_id and l.channel = d.channel
          and l.delivery_id > d.delivery_id
      ) as followed_by
    from deliveries d
    join bills b on b.tenant_id = ${tenantId} and b.bill_id = d.bill_id
    where d.tenant_id = ${tenantId} and d.term_id = ${termId}
      and d.delivery_id = any(${[...deliveryIds]}::bigint[])
    order by d.delivery_id
    for no key update of d
  `.execute(tx);
  return rows;
}

export async function updateDeliveries(
  tx: Tx,
  tenantId: number,
  deliveryIds: readonly number[],
  change: { status: DeliveryStatus; reason: string; nextAttemptAt: Temporal.Instant | null },
  at: Temporal.Instant,
): Promise<void> {
  const { rows } = await sql<Outcome>`
    update deliveries
    set status = ${change.status}, reason = ${change.reason}, failures = 0,
      next_attempt_at = ${change.nextAttemptAt}, modified_at = ${at},
      sent_at = case when ${change.status} = 'Sent' then ${at}::timestamptz else sent_at end
    where tenant_id = ${tenantId} and delivery_id = any(${[...deliveryIds]}::bigint[])
    returning bill_id, status
  `.execute(tx);
  await noteOutcomes(tx, tenantId, rows, at);
}

/** Deliveries of these terms that failed or are uncertain and were not repeated, by term. */
export async function countUndelivered(
  tx: Tx,
  tenantId: number,
  termIds: readonly number[],
): Promise<Map<number, number>> {
  if (termIds.length === 0) return new Map();
  const { rows } = await sql<{ term_id: number; count: number }>`
    select d.term_id, count(*) as count from deliveries d
    where d.tenant_id = ${tenantId} and d.term_id = any(${[...termIds]}::bigint[])
      and d.status in ('Failed', 'Uncertain') and not exists (
        select from deliveries l
        where l.tenant_id = ${tenantId} and l.bill_id = d.bill_id and l.channel = d.channel
          and l.delivery_id > d.delivery_id
      )
    group by d.term_id
  `.execute(tx);
  return new Map(rows.map((row) => [row.term_id, row.count]));
}
