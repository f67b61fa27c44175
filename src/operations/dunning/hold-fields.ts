// A hold on dunning, as it is sent with a party or a subscription.
import * as Type from 'typebox';
import { wireDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import { type Holder, listHolds, saveHold } from '../../domain/collections/holds-store.ts';
import { date, filledText, maybe, nullable } from '../fields.ts';
import type { Call } from '../operation.ts';
import { dayOf, postingOf } from '../payments/payment-fields.ts';

export const dunningHold = maybe(Type.Object({ until: date, reason: filledText({ max: 500 }) }));

export const dunningHoldView = nullable(
  Type.Object(
    { until: Type.String({ description: 'DD/MM/YYYY' }), reason: Type.String() },
    { description: 'until when dunning leaves the customer alone; customers do not see it' },
  ),
);

export type ShownHold = Type.Static<typeof dunningHoldView>;

/** By subscription. Customers do not see why they are left alone. */
export async function shownHolds(
  tx: Tx,
  { tenant, ownPartyId }: Pick<Call, 'tenant' | 'ownPartyId'>,
  ids: readonly number[],
): Promise<Map<number, ShownHold>> {
  if (ownPartyId !== null) return new Map();
  const holds = await listHolds(tx, tenant.tenantId, 'Subscription', ids);
  return new Map(
    [...holds].map(([id, { until, reason }]) => [id, { until: wireDay(until), reason }]),
  );
}

type Sent = Type.Static<typeof dunningHold>;

/** Absent leaves it as it is; null ends it. */
export async function saveHoldSent(
  call: Call,
  holder: Holder,
  sent: Sent | undefined,
): Promise<void> {
  if (sent === undefined) return;
  const { tenantId } = call.tenant;
  const { today, stamp } = postingOf(call);
  const before = (await listHolds(call.tx, tenantId, holder.kind, [holder.id])).get(holder.id);
  const until = (dayOf(sent?.until) ?? today).toString();
  const after = sent ? { until, reason: sent.reason.trim() } : null;
  await saveHold(call.tx, tenantId, holder, after, stamp);
  const subject = holder.kind === 'Party' ? 'party' : 'subscription';
  const changed = { before: { dunningHold: before ?? null }, after: { dunningHold: after } };
  call.audit({ subject, subjectId: holder.id, ...changed });
}
