// Hanging meters up: for one subscription or for thousands, in a constant number of statements.
// First everything is checked, with the meters locked; then, once the subscriptions exist, the
// assignments and their first readings are stored.

import { formatDate } from '../../base/calendar.ts';
import { dayOf } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { ErrorDetail } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { type NewReading, plainReading } from '../readings/reading.ts';
import { insertReadings } from '../readings/store.ts';
import { takeNumbers } from '../tenants/numbers-store.ts';
import { findMetersToInstall, insertAssignments, lockMeters } from './assignments-store.ts';
import { bindRegisters, type MeterInPlace } from './bind-registers.ts';
import { firstReadings } from './first-readings.ts';
import type {
  FoundMeter,
  MeterInstallation,
  MeterToInstall,
  WantedInstallation,
} from './installation.ts';

export type CheckedInstallations = {
  problems: ErrorDetail[];
  /** The meters of each installation, in the order in which they were asked for. */
  installations: readonly (readonly MeterInstallation[])[];
};

/**
 * Locks the meters until the transaction ends, so that what is found here still holds when they are
 * installed: of two calls that want the same meter one waits, and then finds it assigned.
 */
export async function checkInstallations(
  tx: Tx,
  tenantId: number,
  wanted: readonly WantedInstallation[],
): Promise<CheckedInstallations> {
  const metersWanted = wanted.map(metersOf);
  const numbers = [...new Set(metersWanted.flat().map((meter) => meter.number))];
  const found = new Map<number, FoundMeter>();
  if (numbers.length > 0) {
    const [, meters] = await Promise.all([
      lockMeters(tx, tenantId, numbers),
      findMetersToInstall(tx, tenantId, numbers),
    ]);
    for (const meter of meters) found.set(meter.number, meter);
  }
  const problems: ErrorDetail[] = [];
  const taken = new Set<number>();
  const installations = wanted.map((installation, index) => {
    const inPlace: MeterInPlace[] = [];
    for (const meter of metersWanted[index] ?? []) {
      const row = found.get(meter.number);
      const problem = problemOf(meter, row, installDateOf(installation, meter), taken);
      if (problem) problems.push(problem);
      taken.add(meter.number);
      if (row) inPlace.push({ wanted: meter, meter: row });
    }
    return checkInstallation(installation, inPlace, problems);
  });
  return { problems, installations };
}

function checkInstallation(
  installation: WantedInstallation,
  inPlace: readonly MeterInPlace[],
  problems: ErrorDetail[],
): MeterInstallation[] {
  const bindings = bindRegisters(installation, inPlace);
  problems.push(...bindings.problems);
  return inPlace.map(({ wanted, meter }) => {
    const bound = bindings.bound.filter((one) => one.meter === meter);
    const installDate = installDateOf(installation, wanted);
    const first = firstReadings(installation, wanted, meter, { installDate, bound });
    problems.push(...first.problems);
    const registers = meter.registers.map((_, at) => ({
      position: at + 1,
      input: bound.find((one) => one.position === at + 1)?.input.name ?? null,
    }));
    return { meter, installDate, registers, readings: first.readings };
  });
}

/** Whether any of the meters measures something that is billed. */
export function isMetered(meters: readonly MeterInstallation[]): boolean {
  return meters.some((meter) => meter.registers.some((register) => register.input !== null));
}

/** Those that are listed, and those that are only named where an input is bound to them. */
function metersOf(installation: WantedInstallation): MeterToInstall[] {
  const listed = new Set(installation.meters.map((meter) => meter.number));
  const others = installation.bindings.flatMap((binding): MeterToInstall[] => {
    if (listed.has(binding.meterNumber)) return [];
    listed.add(binding.meterNumber);
    return [
      {
        field: binding.field,
        numberField: 'meterNumber',
        number: binding.meterNumber,
        installDate: null,
        initialReading: null,
        initialReadings: [],
      },
    ];
  });
  return [...installation.meters, ...others];
}

/** A meter with a reading before its assignment date was already installed then. */
function installDateOf(
  installation: WantedInstallation,
  meter: MeterToInstall,
): Temporal.PlainDate {
  if (meter.installDate) return meter.installDate;
  return installation.bindings.reduce((earliest, { meterNumber, openingDate }) => {
    const isEarlier =
      meterNumber === meter.number &&
      openingDate !== null &&
      Temporal.PlainDate.compare(openingDate, earliest) < 0;
    return isEarlier ? openingDate : earliest;
  }, installation.installDate);
}

function problemOf(
  wanted: MeterToInstall,
  meter: FoundMeter | undefined,
  installDate: Temporal.PlainDate,
  taken: ReadonlySet<number>,
): ErrorDetail | undefined {
  const { number: rejectedValue } = wanted;
  const field = `${wanted.field}.${wanted.numberField ?? 'number'}`;
  if (!meter) {
    const message = `No meter with the number ${rejectedValue} is registered`;
    return { field, code: 'METER_NOT_REGISTERED', message, rejectedValue };
  }
  if (taken.has(wanted.number)) {
    const message = `Meter ${rejectedValue} appears twice in this request`;
    return { field, code: 'METER_ALREADY_ASSIGNED', message, rejectedValue };
  }
  if (meter.is_installed) {
    const message = `Meter ${rejectedValue} is already installed; remove it there first`;
    return { field, code: 'METER_ALREADY_ASSIGNED', message, rejectedValue };
  }
  if (meter.free_from !== null && meter.free_from > installDate.toString()) {
    const freeFrom = formatDate(Temporal.PlainDate.from(meter.free_from));
    const place = `Meter ${rejectedValue} was installed elsewhere until ${freeFrom}`;
    const message = `${place}. Install it on that day or later`;
    return { field, code: 'METER_ALREADY_ASSIGNED', message, rejectedValue };
  }
  if (meter.health !== 'ok') {
    const message = `Meter ${rejectedValue} is ${meter.health}; it can be installed once it is ok`;
    return { field, code: 'METER_NOT_ASSIGNABLE', message, rejectedValue };
  }
  return undefined;
}

/** The meters to install at one subscription. */
export type SubscriptionMeters = { subscriptionId: number; meters: readonly MeterInstallation[] };

/** Stores what was checked. The meters are still locked, and the subscriptions exist. */
export async function installMeters(
  tx: Tx,
  tenantId: number,
  wanted: readonly SubscriptionMeters[],
  stamp: Stamp,
): Promise<void> {
  const installed = wanted.flatMap(({ subscriptionId, meters }) =>
    meters.map((installation) => ({ subscriptionId, ...installation })),
  );
  if (installed.length === 0) return;
  const readingCount = installed.reduce((sum, one) => sum + one.readings.length, 0);
  // In this order: a replacement has already taken reading numbers for the old meter.
  const [firstReading, firstAssignment] = await Promise.all([
    takeNumbers(tx, tenantId, 'reading', readingCount),
    takeNumbers(tx, tenantId, 'assignment', installed.length),
  ]);
  const assignments = installed.map((one, index) => ({
    ...one,
    assignmentId: firstAssignment + index,
  }));
  const readings = assignments.flatMap((one) =>
    one.readings.map(
      ({ position, date, value }): NewReading =>
        plainReading(
          { assignmentId: one.assignmentId, position, day: dayOf(date), value },
          'Installation',
        ),
    ),
  );
  await insertAssignments(tx, tenantId, assignments, stamp);
  await insertReadings(tx, tenantId, readings, firstReading, stamp);
}
