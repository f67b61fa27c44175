import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import type { DeliveryRow } from '../../domain/delivery/list-store.ts';
import { deliveryStatuses } from '../../domain/delivery/store.ts';
import type { Tenant } from '../../domain/tenants/tenant.ts';
import { nullable, timestamp } from '../fields.ts';

export const deliveryView = {
  deliveryID: Type.Integer(),
  termID: Type.Integer(),
  billID: Type.Integer(),
  billNumber: nullable(Type.String()),
  partyID: Type.Integer(),
  jobID: Type.Integer({ description: 'of the request by which it was made' }),
  channel: Type.String(),
  to: nullable(Type.String()),
  status: Type.String({ description: deliveryStatuses.join(', ') }),
  reason: nullable(Type.String({ description: 'why, or what the mail server said' })),
  attempts: Type.Integer(),
  nextAttemptAt: nullable(timestamp),
  messageID: Type.String(),
  at: nullable(timestamp),
  createdAt: timestamp,
  createdBy: Type.String(),
  modifiedAt: timestamp,
};

export function presentDelivery(row: DeliveryRow, tenant: Pick<Tenant, 'timezone'>) {
  const time = (at: Temporal.Instant) => formatTimestamp(at, tenant.timezone);
  return {
    deliveryID: row.delivery_id,
    termID: row.term_id,
    billID: row.bill_id,
    billNumber: row.bill_number,
    partyID: row.party_id,
    jobID: row.job_id,
    channel: row.channel,
    to: row.recipient,
    status: row.status,
    reason: row.reason,
    attempts: row.attempts,
    nextAttemptAt: row.next_attempt_at && time(row.next_attempt_at),
    messageID: row.message_id,
    at: row.sent_at && time(row.sent_at),
    createdAt: time(row.created_at),
    createdBy: row.created_by,
    modifiedAt: time(row.modified_at),
  };
}
