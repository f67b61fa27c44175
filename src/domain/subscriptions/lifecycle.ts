// Cutting a subscription off, connecting it again, and closing it for good.

import type { Tx } from '../../base/db/pool.ts';
import { AppError, errorFromDetails } from '../../base/errors.ts';
import { exactFrom, minorUnitsText } from '../../base/numbers/decimal-text.ts';
import { compare } from '../../base/numbers/exact.ts';
import type { Stamp } from '../../base/stamp.ts';
import { eventsOf, insertEvents } from '../events/events-store.ts';
import { assignMeter } from '../meters/move.ts';
import { checkReleases, storeReleases } from '../meters/release.ts';
import type { ContextPricing } from '../pricing/context.ts';
import {
  assertNotAhead,
  assertPossible,
  assertState,
  type Changed,
  type DatedChange,
  enterReadings,
  type GivenReading,
  lockForChange,
  lockOwner,
} from './changes.ts';
import { contextOf, type Workspace } from './resolve.ts';
import { type DepositHandling, settleDeposit } from './settlement.ts';
import {
  deleteUniqueInputs,
  findBalances,
  type SubscriptionRow,
  updateSubscription,
} from './store.ts';
import {
  type DisconnectionKind,
  type StatusStep,
  statusColumns,
  withStatus,
} from './subscription.ts';

export type Disconnection = DatedChange & {
  kind: DisconnectionKind;
  reason: string | null;
  readings: readonly GivenReading[];
  removeMeter: boolean;
};

/** The meters stay installed, unless the disconnection is permanent or asks for their removal. */
export async function disconnect(
  tx: Tx,
  tenantId: number,
  change: Disconnection,
  stamp: Stamp,
): Promise<Changed> {
  const before = await lockForChange(tx, tenantId, change);
  assertState(before, change.date, ['Active']);
  assertPossible(before, change);
  const takesDown = change.removeMeter || change.kind === 'Permanent';
  if (takesDown) {
    assertNotAhead(change, 'Meters are removed');
    await releaseMeters(tx, tenantId, before, change, stamp);
  } else {
    await enterReadings(tx, tenantId, before, { ...change, usualType: 'Final' }, stamp);
  }
  const step = stepOf('Disconnected', change, change.reason);
  return changeStatus(tx, tenantId, before, { ...step, kind: change.kind }, change, stamp);
}

export type Reconnection = DatedChange & {
  readings: readonly GivenReading[];
  /** A meter to be installed with the reconnection. */
  meterNumber: number | null;
  /** Past what is owed; the caller may do that. */
  isForced: boolean;
};

export async function reconnect(
  tx: Tx,
  workspace: Workspace,
  change: Reconnection,
  stamp: Stamp,
): Promise<Changed> {
  const { tenantId } = workspace;
  const before = await lockForChange(tx, tenantId, change);
  assertState(before, change.date, ['Disconnected']);
  assertPossible(before, change);
  await lockOwner(tx, tenantId, before, 'data.connectionNumber');
  if (!change.isForced) await assertPaid(tx, workspace, before, change.today);
  const { meterNumber, readings } = change;
  const ofNew = readings.filter((one) => one.meterNumber === meterNumber);
  const ofOthers = readings.filter((one) => one.meterNumber !== meterNumber);
  const entered = { ...change, readings: ofOthers, usualType: 'Check' } as const;
  await enterReadings(tx, tenantId, before, entered, stamp);
  const step = stepOf('Active', change, null);
  const changed = await changeStatus(tx, tenantId, before, step, change, stamp);
  if (meterNumber === null) return changed;
  assertNotAhead(change, 'A meter is installed');
  const assignment = {
    subscriptionNumber: before.subscription_number,
    date: change.date,
    dateField: change.dateField,
    today: change.today,
    number: meterNumber,
    input: null,
    initialReadings: ofNew.map(({ register, value }) => ({ register, value })),
  };
  await assignMeter(tx, tenantId, assignment, stamp);
  return changed;
}

/** Up to the limit of the context, which is nothing unless it says so. */
async function assertPaid(
  tx: Tx,
  workspace: Workspace,
  row: SubscriptionRow,
  today: Temporal.PlainDate,
): Promise<void> {
  const key = { subscriptionId: row.subscription_id, partyId: row.party_id };
  const { receivable } = await findBalances(tx, workspace.tenantId, key);
  if (receivable <= 0) return;
  const context = await contextOf(tx, workspace, row.context_id);
  const { reconnectionLimit } = context.definitionOn(today) as ContextPricing;
  const owed = exactFrom(minorUnitsText(receivable, workspace.currencyDecimals));
  const limit = exactFrom(reconnectionLimit ?? 0);
  if (owed && limit && compare(owed, limit) <= 0) return;
  throw new AppError('BALANCE_OUTSTANDING', {
    message: `The balance of ${row.subscription_number} is too high for a reconnection`,
    field: 'data.force',
  });
}

export type Closing = DatedChange & { depositHandling: DepositHandling };

/** For good: nothing may be owed any more, and the meters are free for others. */
export async function close(
  tx: Tx,
  workspace: Workspace,
  change: Closing,
  stamp: Stamp,
): Promise<Changed> {
  const { tenantId } = workspace;
  const before = await lockForChange(tx, tenantId, change);
  assertState(before, change.date, ['Pending', 'Disconnected']);
  assertNotAhead(change, 'A subscription is closed');
  if (before.status !== 'Pending') assertPossible(before, change);
  const { row } = await contextOf(tx, workspace, before.context_id);
  const accounts = {
    businessUnitId: row.business_unit_id,
    cashAccountId: row.cash_account_id,
  };
  const settled = await settleDeposit(tx, tenantId, before, { ...change, ...accounts }, stamp);
  if (settled.receivable !== 0) {
    throw new AppError('BALANCE_OUTSTANDING', {
      message: `The balance of ${before.subscription_number} is not zero`,
      field: 'data.depositHandling',
    });
  }
  const release = { ...change, readings: [], reason: 'Subscription closed' };
  await releaseMeters(tx, tenantId, before, release, stamp);
  await deleteUniqueInputs(tx, tenantId, before.subscription_id);
  const step = stepOf('Closed', change, null);
  return changeStatus(tx, tenantId, before, step, change, stamp);
}

function stepOf(
  status: StatusStep['status'],
  { date }: DatedChange,
  reason: string | null,
): StatusStep {
  return { status, fromDate: date.toString(), ...(reason === null ? {} : { reason }) };
}

async function changeStatus(
  tx: Tx,
  tenantId: number,
  before: SubscriptionRow,
  step: StatusStep,
  { today }: DatedChange,
  stamp: Stamp,
): Promise<Changed> {
  const history = withStatus(before.status_history, step, today);
  // A state that was dated ahead was never there; the one before it must allow the step.
  const previous = history.at(-2)?.status;
  if (step.status === 'Disconnected' && previous === 'Pending') {
    throw new AppError('INVALID_STATE', { current: previous, allowed: ['Active'] });
  }
  const { status, nextChangeDate, disconnectionKind } = statusColumns(history, today);
  const after = await updateSubscription(
    tx,
    tenantId,
    {
      ...before,
      status_history: history,
      status,
      next_change_date: nextChangeDate,
      disconnection_kind: disconnectionKind,
    },
    stamp,
  );
  return { before, after };
}

/** Removes all installed meters, each with its last reading, given or estimated. */
async function releaseMeters(
  tx: Tx,
  tenantId: number,
  row: SubscriptionRow,
  change: DatedChange & { readings: readonly GivenReading[]; reason: string | null },
  stamp: Stamp,
): Promise<void> {
  const release = {
    numberField: 'data.removeMeter',
    dateField: change.dateField,
    subscriptionId: row.subscription_id,
    meterNumbers: null,
    removeDate: change.date,
    readingDate: null,
    readingType: 'Final' as const,
    reason: change.reason,
    health: null,
    finalReadings: change.readings.map(({ type, ...reading }) => ({
      ...reading,
      ...(type === null ? {} : { type }),
    })),
  };
  const checked = await checkReleases(tx, tenantId, [release], change.today);
  if (checked.problems.length > 0) throw errorFromDetails(checked.problems);
  await storeReleases(tx, tenantId, checked, stamp);
  const numbers = checked.released.map((meter) => meter.number);
  const place = { connectionNumber: row.subscription_number };
  const events = eventsOf('meter.removed', 'meterNumber', numbers, place);
  await insertEvents(tx, tenantId, events, stamp.at);
}
