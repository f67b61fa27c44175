// Installs a meter on a subscription, exchanges it, or removes it.

import { formatDate } from '../../base/calendar.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError, type ErrorDetail, errorFromDetails } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { eventsOf, insertEvents } from '../events/events-store.ts';
import type { MeteredInput } from '../pricing/context.ts';
import { listContextVersions } from '../pricing/contexts-store.ts';
import { checkInstallations, installMeters } from './assign.ts';
import {
  listMeasuredInputs,
  lockMeters,
  lockSubscription,
  type MeteredSubscription,
} from './assignments-store.ts';
import type { Binding, InitialReading, MeterInstallation } from './installation.ts';
import type { MeterHealth } from './meter.ts';
import { checkReleases, type FinalReading, type ReleasedMeter, storeReleases } from './release.ts';
import { updateMetered } from './releases-store.ts';

/** Names of fields are those of the request, all of them in `data`. */
export type Move = {
  subscriptionNumber: string;
  date: Temporal.PlainDate;
  dateField: string;
  today: Temporal.PlainDate;
};

export type Assignment = Move & {
  number: number;
  /** The metered input it measures; null: by the codes and units of its registers. */
  input: string | null;
  initialReadings: readonly InitialReading[];
};

export type Moved = {
  subscription: MeteredSubscription;
  installed: readonly MeterInstallation[];
  released: readonly ReleasedMeter[];
};

export async function assignMeter(
  tx: Tx,
  tenantId: number,
  wanted: Assignment,
  stamp: Stamp,
): Promise<Moved> {
  const subscription = await findSubscription(tx, tenantId, wanted);
  const measured = await listMeasuredInputs(tx, tenantId, subscription.subscription_id);
  const bindings = wanted.input === null ? [] : [bindingTo(wanted.number, wanted.input)];
  const { problems, installations } = await checkInstallations(tx, tenantId, [
    {
      ...(await placeOf(tx, tenantId, subscription, wanted.date)),
      meters: [toInstall(wanted.number, 'number', wanted.initialReadings)],
      bindings,
      measuredInputs: measured.map((one) => one.input),
    },
  ]);
  refuse(problems, 'data.number');
  const installed = installations[0] ?? [];
  await install(tx, tenantId, subscription, installed, stamp);
  const connectionNumber = wanted.subscriptionNumber;
  const events = eventsOf('meter.assigned', 'meterNumber', [wanted.number], { connectionNumber });
  await insertEvents(tx, tenantId, events, stamp.at);
  return { subscription, installed, released: [] };
}

export type Replacement = Move & {
  oldNumber: number;
  newNumber: number;
  finalReadings: readonly FinalReading[];
  initialReadings: readonly InitialReading[];
  reason: string | null;
  oldMeterHealth: MeterHealth | null;
};

/** The new meter measures what the old one did. */
export async function replaceMeter(
  tx: Tx,
  tenantId: number,
  wanted: Replacement,
  stamp: Stamp,
): Promise<Moved> {
  const subscription = await findSubscription(tx, tenantId, wanted);
  await lockMeters(tx, tenantId, [wanted.oldNumber, wanted.newNumber]);
  const measured = await listMeasuredInputs(tx, tenantId, subscription.subscription_id);
  const [old, others] = [
    measured.filter((one) => one.number === wanted.oldNumber),
    measured.filter((one) => one.number !== wanted.oldNumber),
  ];
  const release = await checkReleases(
    tx,
    tenantId,
    [{ ...removal(subscription, wanted, 'data.oldNumber', wanted.oldNumber), ...ending(wanted) }],
    wanted.today,
  );
  // The inputs of the old meter are known only if it is installed there.
  if (release.released.length === 0) refuse(release.problems, 'data.oldNumber');
  const place = await placeOf(tx, tenantId, subscription, wanted.date);
  const { problems, installations } = await checkInstallations(tx, tenantId, [
    {
      ...place,
      meters: [toInstall(wanted.newNumber, 'newNumber', wanted.initialReadings)],
      bindings: takingOver(wanted.newNumber, old, place.inputs),
      measuredInputs: others.map((one) => one.input),
    },
  ]);
  refuse([...release.problems, ...problems], 'data.newNumber');
  await storeReleases(tx, tenantId, release, stamp);
  const installed = installations[0] ?? [];
  await install(tx, tenantId, subscription, installed, stamp);
  const { newNumber, oldNumber, subscriptionNumber: connectionNumber } = wanted;
  const places = { connectionNumber, oldMeterNumber: oldNumber };
  const events = eventsOf('meter.replaced', 'meterNumber', [newNumber], places);
  await insertEvents(tx, tenantId, events, stamp.at);
  return { subscription, installed, released: release.released };
}

export type Removal = Move & {
  number: number;
  finalReadings: readonly FinalReading[];
  reason: string | null;
};

export async function removeMeter(
  tx: Tx,
  tenantId: number,
  wanted: Removal,
  stamp: Stamp,
): Promise<Moved> {
  const subscription = await findSubscription(tx, tenantId, wanted);
  const { finalReadings, reason } = wanted;
  const release = await checkReleases(
    tx,
    tenantId,
    [
      {
        ...removal(subscription, wanted, 'data.number', wanted.number),
        finalReadings,
        reason,
        health: null,
      },
    ],
    wanted.today,
  );
  refuse(release.problems, 'data.number');
  await storeReleases(tx, tenantId, release, stamp);
  const connectionNumber = wanted.subscriptionNumber;
  const events = eventsOf('meter.removed', 'meterNumber', [wanted.number], { connectionNumber });
  await insertEvents(tx, tenantId, events, stamp.at);
  return { subscription, installed: [], released: release.released };
}

async function findSubscription(
  tx: Tx,
  tenantId: number,
  move: Move,
): Promise<MeteredSubscription> {
  const subscription = await lockSubscription(tx, tenantId, move.subscriptionNumber);
  if (!subscription) {
    throw new AppError('SUBSCRIPTION_NOT_FOUND', {
      message: `No subscription has the number ${move.subscriptionNumber}`,
      field: 'data.connectionNumber',
    });
  }
  if (subscription.status === 'Closed') {
    throw new AppError('INVALID_STATE', {
      message: `Subscription ${move.subscriptionNumber} is Closed`,
      field: 'data.connectionNumber',
      current: subscription.status,
      allowed: ['Pending', 'Active', 'Disconnected'],
    });
  }
  assertPossible(subscription, move);
  return subscription;
}

/** Not before the connection, nor in days that were billed, nor ahead of time. */
function assertPossible(subscription: MeteredSubscription, move: Move): void {
  const { dateField: field } = move;
  const day = move.date.toString();
  const connected = subscription.connection_date;
  const latest = [move.today.toString(), connected].sort().at(-1) ?? '';
  if (day > latest) {
    const message = `${formatDate(move.date)} is later than today, ${formatDate(move.today)}`;
    throw new AppError('DATE_IN_FUTURE', { message, field });
  }
  if (
    subscription.billed_through !== null &&
    day <= subscription.billed_through &&
    day >= connected
  ) {
    const message = `The subscription is billed up to ${shownDay(subscription.billed_through)}`;
    throw new AppError('DATE_IN_POSTED_TERM', { message, field });
  }
  if (day < connected) {
    const message = `The subscription begins on ${shownDay(connected)}`;
    throw new AppError('DATE_OUT_OF_ORDER', { message, field });
  }
}

function shownDay(isoDate: string): string {
  return formatDate(Temporal.PlainDate.from(isoDate));
}

async function placeOf(
  tx: Tx,
  tenantId: number,
  subscription: MeteredSubscription,
  installDate: Temporal.PlainDate,
) {
  const versions = await listContextVersions(tx, tenantId, subscription.context_id);
  const day = installDate.toString();
  const version = versions.findLast(
    (one) => one.effective_date === null || one.effective_date <= day,
  );
  const inputs: readonly MeteredInput[] = version?.definition.meteredInputs ?? [];
  // Inputs without a meter are allowed here: that was decided when the subscription was created.
  return { field: 'data', installDate, inputs: inputs.map(asOptional), requiredInputs: [] };
}

function asOptional(input: MeteredInput): MeteredInput {
  return { ...input, required: 0 };
}

function toInstall(
  number: number,
  numberField: string,
  initialReadings: readonly InitialReading[],
) {
  return {
    field: 'data',
    numberField,
    number,
    installDate: null,
    initialReading: null,
    initialReadings,
  };
}

function bindingTo(meterNumber: number, name: string): Binding {
  const blank = { register: null, openingReading: null, openingDate: null };
  return { field: bindingField, name, meterNumber, ...blank };
}

function takingOver(
  number: number,
  old: readonly { register: string; input: string }[],
  inputs: readonly MeteredInput[],
): Binding[] {
  return old
    .filter(({ input }) => inputs.some((one) => one.name === input))
    .map(({ input, register }) => ({ ...bindingTo(number, input), likeRegister: register }));
}

function removal(
  subscription: MeteredSubscription,
  move: Move,
  numberField: string,
  number: number,
) {
  return {
    numberField,
    dateField: move.dateField,
    subscriptionId: subscription.subscription_id,
    meterNumbers: [number],
    removeDate: move.date,
    readingDate: null,
    readingType: 'Removal' as const,
  };
}

function ending({ finalReadings, reason, oldMeterHealth }: Replacement) {
  return { finalReadings, reason, health: oldMeterHealth };
}

/** The field of a binding that the request does not have as such. */
const bindingField = 'binding';

function refuse(problems: readonly ErrorDetail[], numberField: string): void {
  if (problems.length === 0) return;
  const named = problems.map((problem) => {
    if (problem.field === `${bindingField}.name`) return { ...problem, field: 'data.meteredInput' };
    const isOfMeter = problem.field?.startsWith(bindingField) || problem.field === 'data.meters';
    return isOfMeter ? { ...problem, field: numberField } : problem;
  });
  throw errorFromDetails(named);
}

async function install(
  tx: Tx,
  tenantId: number,
  subscription: MeteredSubscription,
  meters: readonly MeterInstallation[],
  stamp: Stamp,
): Promise<void> {
  const subscriptionId = subscription.subscription_id;
  await installMeters(tx, tenantId, [{ subscriptionId, meters }], stamp);
  await updateMetered(tx, tenantId, [subscriptionId], stamp);
}
