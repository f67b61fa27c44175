// Whose statement of account is wanted: a party, one of its billing accounts, or a subscription.
import type * as Type from 'typebox';
import { dateIn } from '../../base/calendar.ts';
import { AppError } from '../../base/errors.ts';
import {
  findStatementOwner,
  findSubscriptionsOfAccount,
  type StatementKey,
} from '../../domain/receivables/statement-store.ts';
import { id, limits, maybe, text } from '../fields.ts';
import { assertOrder } from '../ledger/ledger-fields.ts';
import type { Call } from '../operation.ts';
import { dayOf } from '../payments/payment-fields.ts';

export const statementOf = {
  partyNumber: maybe(id),
  connectionNumber: maybe(text({ max: 120 })),
  connectionGroupLabel: maybe(
    text({ max: limits.accountLabel, description: 'a billing account of the party' }),
  ),
};

export const statementNames = ['partyNumber', 'connectionNumber', 'connectionGroupLabel'] as const;

export const statementErrors = [
  'PARTY_NOT_FOUND',
  'ACCOUNT_NOT_FOUND',
  'SUBSCRIPTION_NOT_FOUND',
] as const;

type Sent = { [Name in keyof typeof statementOf]?: Type.Static<(typeof statementOf)[Name]> };

/** A login that sees its own party only finds no other. */
export async function requireStatementKey(
  call: Pick<Call, 'tx' | 'tenant' | 'ownPartyId'>,
  sent: Sent,
): Promise<StatementKey> {
  const { tx, tenant, ownPartyId } = call;
  const { partyNumber = null } = sent;
  const connectionNumber = sent.connectionNumber || null;
  const label = sent.connectionGroupLabel?.trim() || null;
  assertNamed({ partyNumber, connectionNumber, label });
  const owner = await findStatementOwner(tx, tenant.tenantId, { partyNumber, connectionNumber });
  if (!owner || (ownPartyId !== null && owner.partyId !== ownPartyId)) {
    throw connectionNumber === null
      ? new AppError('PARTY_NOT_FOUND', { field: 'partyNumber' })
      : new AppError('SUBSCRIPTION_NOT_FOUND', { field: 'connectionNumber' });
  }
  const { partyId, subscriptionId } = owner;
  const own = subscriptionId === null ? null : [subscriptionId];
  if (label === null) return { partyId, subscriptionIds: own };
  const ids = await findSubscriptionsOfAccount(tx, tenant.tenantId, { partyId, label });
  if (ids === undefined) {
    const message = `Party ${partyNumber} has no billing account with the label ${label}`;
    throw new AppError('ACCOUNT_NOT_FOUND', { message, field: 'connectionGroupLabel' });
  }
  if (subscriptionId !== null && !ids.includes(subscriptionId)) {
    const message = `Subscription ${connectionNumber} is not in the billing account ${label}`;
    throw new AppError('SUBSCRIPTION_NOT_FOUND', { message, field: 'connectionNumber' });
  }
  return { partyId, subscriptionIds: own ?? ids };
}

/** Up to today unless a day is named, and from the first entry on. */
export function statementDays(
  { now, tenant }: Pick<Call, 'now' | 'tenant'>,
  sent: { fromDate?: string | null; toDate?: string | null },
) {
  const to = dayOf(sent.toDate) ?? dateIn(now, tenant.timezone);
  const from = dayOf(sent.fromDate) ?? null;
  assertOrder(from, to);
  return { from, to, days: { from: from?.toString() ?? null, to: to.toString() } };
}

type Named = { partyNumber: number | null; connectionNumber: string | null; label: string | null };

/** Labels are unique per party, so a label needs the party. */
function assertNamed({ partyNumber, connectionNumber, label }: Named): void {
  if (partyNumber !== null || (connectionNumber !== null && label === null)) return;
  const message =
    label === null
      ? 'Name the party by partyNumber or the subscription by connectionNumber'
      : `Billing accounts of several parties may be called ${label}: send partyNumber too`;
  throw new AppError('REQUIRED_FIELD', { message, field: 'partyNumber' });
}
