// A reading as it is sent.
import * as Type from 'typebox';
import { parseDay } from '../../base/days.ts';
import type { ReadingRow } from '../../domain/readings/place.ts';
import { date, filledText, maybe, oneOf, text, timeOfDay } from '../fields.ts';
import { decimal } from '../pricing-fields.ts';
import { meterNumber } from './meter-fields.ts';

/** The others come with assigning, replacing and removing meters. */
const enteredTypes = ['Actual', 'Customer', 'Estimated', 'Final', 'Check', 'Automatic'] as const;

export const readingSent = Type.Object({
  number: meterNumber,
  register: maybe(
    filledText({ max: 64, description: 'may be left out if the meter has one register' }),
  ),
  value: decimal,
  readingDate: date,
  readingTime: maybe(timeOfDay),
  readingType: maybe(oneOf(enteredTypes)),
  source: maybe(text({ max: 120 })),
  remark: maybe(text({ max: 500 })),
  imageUrl: maybe(text({ max: 2_000 })),
  externalRef: maybe(filledText({ max: 120 })),
  rollover: maybe(
    Type.Boolean({ description: 'the register passed its highest value since the last reading' }),
  ),
});

/** Fields of a reading that operators fill in: what a customer sends in them is ignored. */
const operatorFields = ['readingType', 'source', 'externalRef', 'rollover'] as const;

/** The operators' fields that a customer filled in, as places in the request. */
export function ignoredOf(items: readonly Type.Static<typeof readingSent>[]): string[] {
  return items.flatMap((item, index) =>
    operatorFields
      .filter((name) => (item[name] ?? null) !== null)
      .map((name) => `readings[${index}].${name}`),
  );
}

/** What a customer enters is a Customer reading, whatever it says. */
export function readingRow(item: Type.Static<typeof readingSent>, isCustomer: boolean): ReadingRow {
  const day = parseDay(item.readingDate);
  if (day === undefined) throw new Error('the schema let an invalid date through');
  const time = item.readingTime ?? null;
  const [source, external] = isCustomer ? [null, null] : [item.source, item.externalRef];
  return {
    meterNumber: item.number,
    subscriptionNumber: null,
    register: item.register?.trim() ?? null,
    value: String(item.value),
    day,
    time: time?.length === 5 ? `${time}:00` : time,
    type: isCustomer ? 'Customer' : (item.readingType ?? 'Actual'),
    rollover: isCustomer ? false : (item.rollover ?? false),
    source: source ?? null,
    remark: item.remark ?? null,
    imageUrl: item.imageUrl ?? null,
    externalReference: external?.trim() ?? null,
  };
}
