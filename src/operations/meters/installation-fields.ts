// The wire shapes of meters to be installed on a subscription, and of the bindings of its metered
// inputs to registers.
import * as Type from 'typebox';
import { parseDate } from '../../base/calendar.ts';
import type { Binding, MeterToInstall } from '../../domain/meters/installation.ts';
import { meterNumberMax } from '../../domain/meters/meter.ts';
import { date, filledText, limits, maybe } from '../fields.ts';
import { decimal, maybeDecimal } from '../pricing-fields.ts';
import { meterNumber } from './meter-fields.ts';

/** More registers than any meter has. */
const registersMax = 100;

export const initialReadings = maybe(
  Type.Array(
    Type.Object({
      register: maybe(
        filledText({ max: 64, description: 'may be left out if the meter has one register' }),
      ),
      value: decimal,
    }),
    { maxItems: registersMax },
  ),
);

/** A bare number is a meter without further details. */
export const metersToInstall = maybe(
  Type.Array(
    Type.Unsafe<MeterItem | number>({
      ...Type.Object({
        number: meterNumber,
        installDate: maybe(date),
        initialReading: maybeDecimal,
        initialReadings,
      }),
      type: ['object', 'integer'],
      minimum: 1,
      maximum: meterNumberMax,
      'x-code': 'INVALID_NUMBER',
    }),
    { maxItems: limits.batch },
  ),
);

export const metersBound = maybe(
  Type.Array(
    Type.Object({
      name: filledText({ max: 64 }),
      meterNumber,
      register: maybe(filledText({ max: 64 })),
      openingReading: maybeDecimal,
      openingDate: maybe(date),
    }),
    { maxItems: limits.batch },
  ),
);

export type RegisterItem = { register?: string | null; value: string | number };

export type MeterItem = {
  number: number;
  installDate?: string | null;
  initialReading?: string | number | null;
  initialReadings?: RegisterItem[] | null;
};

/** The meters of a request, each with its place in it. */
export function meterToInstall(item: MeterItem | number, field: string): MeterToInstall {
  const meter: MeterItem = typeof item === 'number' ? { number: item } : item;
  return {
    field,
    number: meter.number,
    installDate: dateOf(meter.installDate),
    initialReading: textOf(meter.initialReading),
    initialReadings: (meter.initialReadings ?? []).map(registerReading),
  };
}

export function registerReading({ register, value }: RegisterItem) {
  return { register: register?.trim() ?? null, value: String(value) };
}

export function bindingOf(
  item: {
    name: string;
    meterNumber: number;
    register?: string | null;
    openingReading?: string | number | null;
    openingDate?: string | null;
  },
  field: string,
): Binding {
  return {
    field,
    name: item.name,
    meterNumber: item.meterNumber,
    register: item.register?.trim() ?? null,
    openingReading: textOf(item.openingReading),
    openingDate: dateOf(item.openingDate),
  };
}

function dateOf(text: string | null | undefined): Temporal.PlainDate | null {
  return (text && parseDate(text)) || null;
}

function textOf(value: string | number | null | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}
