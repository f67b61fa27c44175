// A hold on dunning, as it is sent with a party or a subscription.
import * as Type from 'typebox';
import { type Holder, listHolds, saveHold } from '../../domain/collections/holds-store.ts';
import { date, filledText, maybe } from '../fields.ts';
import type { Call } from '../operation.ts';
import { dayOf, postingOf } from '../payments/payment-fields.ts';

export const dunningHold = maybe(Type.Object({ until: date, reason: filledText({ max: 500 }) }));

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
