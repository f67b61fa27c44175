// An operator resolves deliveries that are uncertain or failed.

import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import { isPlainAddress } from '../../base/mail/address.ts';
import type { Stamp } from '../../base/stamp.ts';
import type { Channel } from '../tenants/channels.ts';
import { getTerm } from '../terms/store.ts';
import { type LockedDelivery, lockDeliveries, updateDeliveries } from './list-store.ts';
import type { DeliveryStatus } from './store.ts';

/** Resend goes out again under the same message id; the others say that it has arrived, or not. */
export type Resolution = 'Resend' | 'Sent' | 'Failed';

const resendable: readonly DeliveryStatus[] = ['Uncertain', 'Failed'];
/** The portal shows every published bill, and SMS, WhatsApp and Webhook have no gateway. */
const sendable: readonly Channel[] = ['Email', 'Print'];
const decidable: readonly DeliveryStatus[] = ['Uncertain'];

type State = { status: DeliveryStatus; reason: string | null };
export type ResolvedDelivery = { deliveryId: number; before: State; after: State };

export async function resolveDeliveries(
  tx: Tx,
  tenantId: number,
  asked: {
    termId: number;
    deliveryIds: readonly number[];
    resolution: Resolution;
    reason: string | null | undefined;
  },
  stamp: Stamp,
): Promise<ResolvedDelivery[]> {
  const { termId, deliveryIds, resolution } = asked;
  await getTerm(tx, tenantId, termId, { lock: 'update' });
  const found = await lockDeliveries(tx, tenantId, termId, deliveryIds);
  assertFound(found, deliveryIds);
  for (const delivery of found) assertAllowed(delivery, resolution);
  const isAgain = resolution === 'Resend';
  if (isAgain) {
    assertPublished(found);
    assertNewest(found);
    assertAddressed(found);
  }
  const status: DeliveryStatus = isAgain ? 'Queued' : resolution;
  const said = isAgain ? 'Asked for again' : `Set to ${resolution} by an operator`;
  const reason = `${said} by ${stamp.by}${asked.reason ? `: ${asked.reason}` : ''}`;
  const change = { status, reason, nextAttemptAt: isAgain ? stamp.at : null };
  await updateDeliveries(tx, tenantId, deliveryIds, change, stamp.at);
  return found.map((delivery) => ({
    deliveryId: delivery.delivery_id,
    before: { status: delivery.status, reason: delivery.reason },
    after: { status, reason },
  }));
}

function assertFound(found: readonly LockedDelivery[], wanted: readonly number[]): void {
  const known = new Set(found.map((delivery) => delivery.delivery_id));
  const missing = wanted.filter((id) => !known.has(id));
  if (missing.length === 0) return;
  throw new AppError('DELIVERY_NOT_FOUND', {
    message: `The term has no delivery ${missing.slice(0, 20).join(', ')}`,
    field: 'data.deliveryIDs',
  });
}

function assertAllowed(delivery: LockedDelivery, resolution: Resolution): void {
  const { delivery_id: id, status, channel } = delivery;
  const isAgain = resolution === 'Resend';
  const allowed = isAgain ? resendable : decidable;
  if (isAgain && !sendable.includes(channel)) {
    throw new AppError('INVALID_STATE', {
      message: `Delivery ${id} is by ${channel}; this channel cannot resend`,
      field: 'data.deliveryIDs',
      current: channel,
      allowed: [...sendable],
    });
  }
  if (allowed.includes(status)) return;
  throw new AppError('INVALID_STATE', {
    message: `Delivery ${id} by ${channel} is ${status}`,
    field: 'data.deliveryIDs',
    current: status,
    allowed: [...allowed],
  });
}

/** A cancelled bill asks for no payment, so it is not sent again. */
function assertPublished(found: readonly LockedDelivery[]): void {
  const gone = found.filter((delivery) => delivery.bill_status !== 'Published');
  refuseEach(gone, ({ delivery_id: id, bill_id: billId, bill_status: status }) => ({
    message: `Bill ${billId} of delivery ${id} is ${status}`,
    current: status,
    allowed: ['Published'],
  }));
}

/** Resending all failed deliveries would send bills twice that were sent since. */
function assertNewest(found: readonly LockedDelivery[]): void {
  const old = found.filter((delivery) => delivery.followed_by !== null);
  refuseEach(old, ({ delivery_id: id, channel, followed_by: later }) => ({
    message: `Delivery ${id} by ${channel} was followed by ${later} of the same bill`,
  }));
}

/** It goes where it went before, or nowhere. */
function assertAddressed(found: readonly LockedDelivery[]): void {
  const astray = found.filter(
    ({ channel, recipient }) => channel === 'Email' && !isPlainAddress(recipient ?? ''),
  );
  refuseEach(astray, ({ delivery_id: id, recipient }) => ({
    message: `Delivery ${id} goes to ${recipient}, which is not an e-mail address`,
  }));
}

function refuseEach(
  refused: readonly LockedDelivery[],
  tell: (delivery: LockedDelivery) => { message: string; current?: string; allowed?: string[] },
): void {
  const [first] = refused;
  if (!first) return;
  const field = 'data.deliveryIDs';
  const details = refused.map((delivery) => ({
    field,
    code: 'INVALID_STATE' as const,
    message: tell(delivery).message,
    rejectedValue: delivery.delivery_id,
  }));
  throw new AppError('INVALID_STATE', { ...tell(first), field, details });
}
