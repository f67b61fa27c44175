// The readings with which a register begins at a subscription.
import { formatDate } from '../../base/calendar.ts';
import type { ErrorDetail } from '../../base/errors.ts';
import { registerValue, shownRange } from '../readings/reading.ts';
import { type Bound, noSuchRegister, positionOf } from './bind-registers.ts';
import type {
  FoundMeter,
  InstallationReading,
  MeterToInstall,
  WantedInstallation,
} from './installation.ts';
import type { RegisterFacts } from './meter.ts';

type FirstReadings = { readings: InstallationReading[]; problems: ErrorDetail[] };

/**
 * The first readings as given. A counter without one begins with its last reading at the previous
 * installation, or with zero.
 */
export function firstReadings(
  installation: WantedInstallation,
  wanted: MeterToInstall,
  meter: FoundMeter,
  place: { installDate: Temporal.PlainDate; bound: readonly Bound[] },
): FirstReadings {
  const given = [
    ...initialReadings(wanted, meter, place.installDate),
    ...openingReadings(installation, meter, place),
  ];
  const readings = new Map<string, InstallationReading>();
  const problems: ErrorDetail[] = [];
  for (const one of given) {
    if ('code' in one) problems.push(one);
    // What is said where an input is bound holds over what is said of the meter.
    else readings.set(`${one.position} ${one.date}`, one);
  }
  const begun = new Set([...readings.values()].map((one) => one.position));
  meter.registers.forEach((register, at) => {
    if (register.kind !== 'Cumulative' || begun.has(at + 1)) return;
    const value = meter.last_values?.[at + 1] ?? '0';
    readings.set(`${at + 1}`, { position: at + 1, date: place.installDate, value });
  });
  return { readings: [...readings.values()], problems };
}

function initialReadings(
  wanted: MeterToInstall,
  meter: FoundMeter,
  date: Temporal.PlainDate,
): (InstallationReading | ErrorDetail)[] {
  const given = wanted.initialReadings.map(({ register, value }, index) => {
    const field = `${wanted.field}.initialReadings[${index}]`;
    const position = register === null ? onlyPosition(meter) : positionOf(meter, register);
    if (position === undefined) return noSuchRegister(`${field}.register`, meter, register);
    return readingOf(meter, { position, date, value }, `${field}.value`);
  });
  const fields = given.map((_, index) => `${wanted.field}.initialReadings[${index}]`);
  const { initialReading: value } = wanted;
  if (value !== null) {
    const field = `${wanted.field}.initialReading`;
    fields.push(field);
    if (meter.registers.length !== 1) given.push(noSuchRegister(field, meter, null));
    else given.push(readingOf(meter, { position: 1, date, value }, field));
  }
  return given.map((one, index) => {
    if ('code' in one || !given.slice(0, index).some((other) => contradicts(other, one)))
      return one;
    return twoReadings(meter, one, fields[index] ?? wanted.field);
  });
}

function contradicts(other: InstallationReading | ErrorDetail, one: InstallationReading): boolean {
  return !('code' in other) && other.position === one.position && other.value !== one.value;
}

/** It would not be clear which of the two readings the installation begins with. */
function twoReadings(
  meter: FoundMeter,
  { position, value }: InstallationReading,
  field: string,
): ErrorDetail {
  const name = meter.registers[position - 1]?.register;
  const message = `Register ${name} of meter ${meter.number} has two different first readings`;
  return { field, code: 'DUPLICATE_ROW', message, rejectedValue: value };
}

function onlyPosition(meter: FoundMeter): number | undefined {
  return meter.registers.length === 1 ? 1 : undefined;
}

function openingReadings(
  installation: WantedInstallation,
  meter: FoundMeter,
  place: { installDate: Temporal.PlainDate; bound: readonly Bound[] },
): (InstallationReading | ErrorDetail)[] {
  return installation.bindings.flatMap((binding) => {
    const { openingReading: value, openingDate } = binding;
    if (binding.meterNumber !== meter.number || value === null) return [];
    const position = place.bound.find((one) => one.input.name === binding.name)?.position;
    if (position === undefined) return [];
    const date = openingDate ?? place.installDate;
    if (Temporal.PlainDate.compare(date, place.installDate) < 0) {
      const field = `${binding.field}.openingDate`;
      const message = `Meter ${meter.number} was installed later`;
      return [{ field, code: 'INVALID_DATE', message, rejectedValue: formatDate(date) }];
    }
    return [readingOf(meter, { position, date, value }, `${binding.field}.openingReading`)];
  });
}

function readingOf(
  meter: FoundMeter,
  reading: InstallationReading,
  field: string,
): InstallationReading | ErrorDetail {
  const register = meter.registers[reading.position - 1] as RegisterFacts;
  const value = registerValue(register, reading.value);
  if (value !== undefined) return { ...reading, value };
  const message = `Register ${register.register} shows ${shownRange(register)}`;
  return { field, code: 'INVALID_NUMBER', message, rejectedValue: reading.value };
}
