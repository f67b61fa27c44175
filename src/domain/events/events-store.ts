import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import { takeIds } from '../tenants/numbers-store.ts';

export const eventTypes = [
  'party.created',
  'party.updated',
  'party.archived',
  'party.restored',
  'account.created',
  'service.created',
  'service.updated',
  'plan.created',
  'plan.updated',
  'subscription.created',
  'subscription.activated',
  'subscription.updated',
  'subscription.disconnected',
  'subscription.reconnected',
  'subscription.transferred',
  'subscription.plan_changed',
  'subscription.closed',
  'meter.registered',
  'meter.assigned',
  'meter.replaced',
  'meter.removed',
  'reading.recorded',
  'reading.review_needed',
  'reading.accepted',
  'reading.rejected',
  'term.created',
  'term.readings_posted',
  'term.components_posted',
  'term.generated',
  'term.posted',
  'term.published',
  'term.distributed',
  'term.unposted',
  'term.cancelled',
  'bill.posted',
  'bill.published',
  'bill.delivered',
  'bill.delivery_failed',
  'bill.overdue',
  'bill.paid',
  'bill.cancelled',
  'bill.surcharged',
  'payment.created',
  'payment.reversed',
  'payment.refunded',
  'credit_note.created',
  'adjustment.created',
  'wallet.low',
  'job.failed',
] as const;
export type EventType = (typeof eventTypes)[number];

export type NewEvent = { type: EventType; data: object; isBulk?: boolean };

/** More things of one call or chunk than this are one event. */
const singlesMax = 100;

/**
 * One event for each thing, or one with all ids if there are many. Where there may be many,
 * the name of the id ends with ID or Number. `more` is the same for all.
 */
export function eventsOf(
  type: EventType,
  idName: string,
  ids: readonly (number | string)[],
  more: object = {},
): NewEvent[] {
  if (ids.length > singlesMax) return chunkEvents(type, idName, ids, more);
  return ids.map((id) => ({ type, data: { ...more, [idName]: id } }));
}

/** One event for the things of a chunk, however few they are. */
export function chunkEvents(
  type: EventType,
  idName: string,
  ids: readonly (number | string)[],
  more: object = {},
): NewEvent[] {
  if (ids.length === 0) return [];
  return [{ type, isBulk: true, data: { ...more, [`${idName}s`]: ids, count: ids.length } }];
}

export async function insertEvents(
  tx: Tx,
  tenantId: number,
  events: readonly NewEvent[],
  at: Temporal.Instant,
): Promise<void> {
  if (events.length === 0) return;
  const first = await takeIds(tx, tenantId, 'event', events.length);
  const rows = events.map(({ type, data, isBulk = false }, index) => {
    return { id: first + index, type, data, bulk: isBulk };
  });
  await sql`
    insert into events (tenant_id, event_id, type, is_bulk, data, at)
    select own.tenant_id, r.id, r.type, r.bulk, r.data, ${at}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      id bigint, type text, bulk boolean, data jsonb
    )
  `.send(tx);
}

export type EventRow = {
  event_id: number;
  type: EventType;
  is_bulk: boolean;
  data: object;
  at: Temporal.Instant;
};

export type EventFilter = { type: EventType | null; sinceId: number | null };

/** In the order in which their transactions were written. */
export async function listEvents(
  tx: Tx,
  tenantId: number,
  filter: EventFilter,
  { offset, limit }: { offset: number; limit: number },
): Promise<EventRow[]> {
  const { rows } = await sql<EventRow>`
    select event_id, type, is_bulk, data, at from events
    where tenant_id = ${tenantId} and ${isWanted(tenantId, filter)}
    order by written_in, event_id
    limit ${limit} offset ${offset}
  `.execute(tx);
  return rows;
}

/** False too for an event that is no longer kept. */
export async function hasEvent(tx: Tx, tenantId: number, eventId: number): Promise<boolean> {
  const { rows } = await sql`
    select from events where tenant_id = ${tenantId} and event_id = ${eventId}
  `.execute(tx);
  return rows.length > 0;
}

export async function countEvents(tx: Tx, tenantId: number, filter: EventFilter): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from events
    where tenant_id = ${tenantId} and ${isWanted(tenantId, filter)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

function isWanted(tenantId: number, { type, sinceId }: EventFilter): Sql {
  const conditions = [
    sql`written_in < pg_snapshot_xmin(pg_current_snapshot())`,
    type === null ? sql`true` : sql`type = ${type}`,
    sinceId === null
      ? sql`true`
      : sql`(written_in, event_id) > (
          select s.written_in, s.event_id from events s
          where s.tenant_id = ${tenantId} and s.event_id = ${sinceId}
        )`,
  ];
  return sql.join(conditions, sql` and `);
}

/**
 * Returns how many were deleted. The newest stays however old it is: a reader that has read it goes
 * on after it.
 */
export async function deleteOldEvents(
  tx: Tx,
  tenantId: number,
  before: Temporal.Instant,
): Promise<number> {
  const { count } = await sql`
    delete from events e
    where e.tenant_id = ${tenantId} and e.at < ${before} and exists (
      select from events later
      where later.tenant_id = ${tenantId}
        and (later.written_in, later.event_id) > (e.written_in, e.event_id)
    )
  `.execute(tx);
  return count;
}
