// Taking meters down: with the readings they end with, given or estimated.

import { dayOf, formatDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { ErrorCode, ErrorDetail } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { checkPlaced, type PlacedReading, storeReadings } from '../readings/enter.ts';
import { findFirstUnits } from '../readings/first-days-store.ts';
import type { Remeasured } from '../readings/judge.ts';
import { findPasts } from '../readings/past-store.ts';
import { findFactors } from '../readings/places-store.ts';
import {
  type NewReading,
  type ReadingType,
  registerValue,
  shownRange,
} from '../readings/reading.ts';
import { estimateFinal } from './estimate-final.ts';
import type { MeterHealth } from './meter.ts';
import { closeAssignments, type InstalledMeter, lockInstalledMeters } from './releases-store.ts';

export type FinalReading = {
  /** Its path in the request, such as `data.finalReadings[0]`. */
  field: string;
  meterNumber: number;
  register: string | null;
  value: string;
  type?: ReadingType;
};

export type Release = {
  /** The paths of the numbers and the removal date in the request. */
  numberField: string;
  dateField: string;
  subscriptionId: number;
  /** null: all installed meters. */
  meterNumbers: readonly number[] | null;
  /** The first day on which they are no longer installed. */
  removeDate: Temporal.PlainDate;
  /** The day on which they were read for the last time; the same, where it is null. */
  readingDate: Temporal.PlainDate | null;
  readingType: 'Removal' | 'Final';
  reason: string | null;
  /** What becomes of the meters; null leaves their health as it is. */
  health: MeterHealth | null;
  finalReadings: readonly FinalReading[];
};

export type ReleasedMeter = InstalledMeter & Pick<Release, 'removeDate' | 'reason' | 'health'>;

export type CheckedReleases = {
  problems: ErrorDetail[];
  released: ReleasedMeter[];
  readings: NewReading[];
  remeasured: Remeasured[];
};

/** Locks the meters and their installations until the transaction ends. */
export async function checkReleases(
  tx: Tx,
  tenantId: number,
  releases: readonly Release[],
  today: Temporal.PlainDate,
): Promise<CheckedReleases> {
  const bySubscription = await installedMeters(tx, tenantId, releases, today);
  const problems: ErrorDetail[] = [];
  const released: ReleasedMeter[] = [];
  const placed: PlacedReading[] = [];
  const fields: string[] = [];
  for (const release of releases) {
    const there = bySubscription.get(release.subscriptionId) ?? [];
    const taken = there.filter((meter) => release.meterNumbers?.includes(meter.number) ?? true);
    problems.push(
      ...missing(release, taken),
      ...taken.flatMap((meter) => tooEarly(release, meter)),
    );
    released.push(...taken.map((meter) => ({ ...meter, ...releaseFacts(release) })));
    for (const reading of release.finalReadings) {
      const found = placeFinal(release, taken, reading);
      if ('code' in found) problems.push(found);
      else {
        placed.push({ ...found, row: fields.length });
        fields.push(reading.field);
      }
    }
  }
  const checked = await checkPlaced(tx, tenantId, placed);
  for (const { row, name: _, ...problem } of checked.problems) {
    problems.push({ field: `${fields[row]}.value`, ...problem });
  }
  const estimates =
    problems.length > 0 ? [] : await estimate(tx, tenantId, releases, released, placed);
  return {
    problems,
    released,
    readings: [...checked.readings, ...estimates],
    remeasured: checked.remeasured,
  };
}

async function installedMeters(
  tx: Tx,
  tenantId: number,
  releases: readonly Release[],
  today: Temporal.PlainDate,
): Promise<Map<number, InstalledMeter[]>> {
  const subscriptionIds = releases.map((release) => release.subscriptionId);
  const isOfAll = releases.some((release) => release.meterNumbers === null);
  const numbers = isOfAll ? null : releases.flatMap((release) => release.meterNumbers ?? []);
  const [installed, factors] = await Promise.all([
    lockInstalledMeters(tx, tenantId, subscriptionIds, numbers),
    findFactors(tx, tenantId, dayOf(today)),
  ]);
  for (const { context_id: contextId, registers } of installed) {
    for (const register of registers) {
      const factor = factors.get(`${contextId} ${register.input}`);
      register.highFactor = factor?.high ?? null;
      register.lowFactor = factor?.low ?? null;
    }
  }
  return Map.groupBy(installed, (meter) => meter.subscription_id);
}

/** Stores what was checked; the meters are InActive then. */
export async function storeReleases(
  tx: Tx,
  tenantId: number,
  checked: CheckedReleases,
  stamp: Stamp,
): Promise<void> {
  if (checked.released.length === 0) return;
  if (checked.readings.length > 0) await storeReadings(tx, tenantId, checked, stamp);
  await closeAssignments(tx, tenantId, checked.released, stamp);
}

function releaseFacts({ removeDate, reason, health }: Release) {
  return { removeDate, reason, health };
}

function dayOfReading(release: Release): number {
  return dayOf(release.readingDate ?? release.removeDate);
}

function missing(release: Release, taken: readonly InstalledMeter[]): ErrorDetail[] {
  const there = new Set(taken.map((meter) => meter.number));
  return (release.meterNumbers ?? [])
    .filter((number) => !there.has(number))
    .map((number) => ({
      field: release.numberField,
      code: 'METER_NOT_ASSIGNED',
      message: `Meter ${number} is not installed on this subscription`,
      rejectedValue: number,
    }));
}

/** A meter cannot be removed before its installation or its last reading there. */
function tooEarly(release: Release, meter: InstalledMeter): ErrorDetail[] {
  const day = dayOf(release.removeDate);
  const latest = Math.max(meter.install_day, meter.last_read_day ?? meter.install_day);
  if (day >= latest) return [];
  const what = latest === meter.install_day ? 'was installed' : 'was read there';
  const message = `Meter ${meter.number} ${what} on ${formatDay(latest)}`;
  const rejectedValue = formatDay(day);
  return [{ field: release.dateField, code: 'DATE_OUT_OF_ORDER', message, rejectedValue }];
}

function placeFinal(
  release: Release,
  taken: readonly InstalledMeter[],
  reading: FinalReading,
): Omit<PlacedReading, 'row'> | ErrorDetail {
  const refuse = (name: string, code: ErrorCode, message: string, rejectedValue: unknown) => ({
    field: `${reading.field}.${name}`,
    code,
    message,
    rejectedValue,
  });
  const meter = taken.find((one) => one.number === reading.meterNumber);
  if (!meter) {
    const message = `Meter ${reading.meterNumber} is not removed by this call`;
    return refuse('number', 'METER_NOT_ASSIGNED', message, reading.meterNumber);
  }
  const wanted = reading.register?.toLowerCase();
  const named = meter.registers.filter((one) => one.register.toLowerCase() === wanted);
  const [register] = wanted === undefined && meter.registers.length === 1 ? meter.registers : named;
  if (!register) {
    const names = meter.registers.map((one) => one.register).join(', ');
    const message = `Meter ${meter.number} has the registers ${names}`;
    return refuse('register', 'REGISTER_REQUIRED', message, reading.register);
  }
  const value = registerValue(register, reading.value);
  if (value === undefined) {
    const message = `Register ${register.register} shows ${shownRange(register)}`;
    return refuse('value', 'INVALID_NUMBER', message, reading.value);
  }
  return finalOf(release, register, value, reading.type);
}

function finalOf(
  release: Release,
  register: PlacedReading['register'],
  value: string,
  type: ReadingType = release.readingType,
): Omit<PlacedReading, 'row'> {
  const blank = { source: null, remark: null, imageUrl: null, externalReference: null };
  const day = dayOfReading(release);
  return { register, value, day, time: null, type, rollover: false, ...blank };
}

/** Counters for which no last reading is given, and that were not read on that day. */
async function estimate(
  tx: Tx,
  tenantId: number,
  releases: readonly Release[],
  released: readonly ReleasedMeter[],
  placed: readonly PlacedReading[],
): Promise<NewReading[]> {
  const dayAt = new Map(releases.map((one) => [one.subscriptionId, dayOfReading(one)]));
  const read = new Set(placed.map(({ register: r }) => `${r.assignmentId} ${r.position}`));
  const open = released.flatMap((meter) =>
    meter.registers
      .filter((one) => one.kind === 'Cumulative')
      .filter((one) => !read.has(`${one.assignmentId} ${one.position}`))
      .map((register) => {
        const day = dayAt.get(meter.subscription_id) ?? 0;
        const { is_disconnected: isOff, install_day: installDay } = meter;
        return { register, first: day, last: day, isOff, installDay };
      }),
  );
  if (open.length === 0) return [];
  const registers = open.map(({ register }) => register);
  const [pasts, firsts] = await Promise.all([
    findPasts(tx, tenantId, open),
    findFirstUnits(tx, tenantId, registers),
  ]);
  return open.flatMap(({ register, last: day, isOff, installDay }, index) => {
    const past = pasts[index];
    if (!past) return [];
    return estimateFinal(register, past, { day, isOff, installDay }, firsts[index]);
  });
}
