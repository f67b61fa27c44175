// The readings with which a register begins at a subscription.
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
 * As they are given. A counter for which none is given begins with what it showed where it hung
 * before, or with zero.
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
  const named = wanted.initialReadings.map(({ register, value }, index) => {
    const field = `${wanted.field}.initialReadings[${index}]`;
    const position = register === null ? onlyPosition(meter) : positionOf(meter, register);
    if (position === undefined) return noSuchRegister(`${field}.register`, meter, register);
    return readingOf(meter, { position, date, value }, `${field}.value`);
  });
  if (wanted.initialReading === null) return named;
  const field = `${wanted.field}.initialReading`;
  if (meter.registers.length !== 1) return [...named, noSuchRegister(field, meter, null)];
  return [...named, readingOf(meter, { position: 1, date, value: wanted.initialReading }, field)];
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
      return [{ field, code: 'INVALID_DATE', message, rejectedValue: date.toString() }];
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
