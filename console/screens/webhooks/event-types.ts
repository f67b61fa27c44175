// Types of events, by the thing that they are about. `tsc` reports one that is missing.
import type { EventType } from '../../api/queries/webhooks.ts';

const known: Record<EventType, true> = {
  'payment.created': true,
  'payment.reversed': true,
  'payment.refunded': true,
  'credit_note.created': true,
  'adjustment.created': true,
  'bill.posted': true,
  'bill.cancelled': true,
  'bill.overdue': true,
  'bill.surcharged': true,
  'wallet.low': true,
};

export const eventTypes = Object.keys(known) as EventType[];
