// The imagined bill of a simulation: all that enters a bill besides the definitions.
import * as Type from 'typebox';
import { date, filledText, limits, maybe, oneOf, text } from '../fields.ts';
import { decimal, freeForm, maybeDecimal, valueDefault, wholeNumber } from '../pricing-fields.ts';

const rowsMax = 1_000;

function many<T extends Type.TSchema>(item: T) {
  return maybe(Type.Array(item, { maxItems: rowsMax }));
}

const name = text({ max: 200 });

const term = Type.Object({
  label: maybe(text({ max: 120 })),
  startDate: date,
  endDate: date,
  dueDate: maybe(date),
  months: maybeDecimal,
});

const reading = Type.Object({
  date,
  value: decimal,
  type: maybe(text({ max: 32 })),
  status: maybe(text({ max: 32 })),
  rollover: maybe(Type.Boolean()),
});

const meter = Type.Object({
  number: wholeNumber(1, 999_999_999_999_999),
  mf: maybeDecimal,
  digits: maybe(wholeNumber(1, 15)),
  input: name,
  register: maybe(text({ max: 64 })),
  kind: maybe(oneOf(['Cumulative', 'Interval', 'Consumptive', 'Demand'])),
  previous: maybe(reading),
  current: maybe(reading),
  readings: many(reading),
});

const connection = Type.Object({
  connectionNumber: maybe(text({ max: 64 })),
  connectionDate: maybe(date),
  disconnectDate: maybe(date),
  billedThrough: maybe(date),
  isFirstBill: maybe(Type.Boolean()),
  statusHistory: many(Type.Object({ status: text({ max: 32 }), fromDate: date })),
  tariffHistory: many(Type.Object({ tariffCode: text({ max: 64 }), fromDate: date })),
  addOns: many(
    Type.Object({
      tariffLabel: maybe(name),
      tariffCode: maybe(text({ max: 64 })),
      quantity: maybeDecimal,
      fromDate: maybe(date),
      toDate: maybe(date),
    }),
  ),
  connectionInputs: many(Type.Object({ name, value: text() })),
  unmeteredInputs: many(Type.Object({ name, value: decimal, fromDate: maybe(date) })),
  variants: many(
    Type.Object({ name, value: valueDefault, fromDate: maybe(date), toDate: maybe(date) }),
  ),
  transfers: many(Type.Object({ transferDate: date })),
});

export const scenario = Type.Object({
  term,
  connection: maybe(connection),
  meters: many(meter),
  uploadedUsage: maybe(freeForm),
  usageHistory: maybe(freeForm),
  previousTerm: maybe(Type.Object({ term, usage: maybe(freeForm), billed: maybe(freeForm) })),
  manual: many(Type.Array(text({ max: 200 }), { maxItems: 3 })),
  account: maybe(
    Type.Object({
      arrears: maybeDecimal,
      overdue: maybeDecimal,
      overdueAmountDays: maybeDecimal,
      wallet: maybeDecimal,
      deposit: maybeDecimal,
      walletApplied: maybeDecimal,
    }),
  ),
});

export const planCode = filledText({ max: 64 });
export const description = maybe(text({ max: limits.description }));
