// A simulated bill as the API shows it: without the fields that only an issued bill has.
import * as Type from 'typebox';
import { money, nullable } from '../fields.ts';

const text = Type.String();
const maybeText = nullable(Type.String());
const integer = Type.Integer();
export const anything = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
});

export const line = Type.Object({
  lineNo: integer,
  component: text,
  label: text,
  type: text,
  lineType: text,
  source: text,
  fromDate: text,
  toDate: text,
  days: integer,
  quantity: maybeText,
  unit: maybeText,
  rate: maybeText,
  amount: money,
  computedAmount: money,
  details: Type.Array(anything),
  tariffCode: text,
  tariffVersion: integer,
  description: maybeText,
});

export const reading = Type.Object({
  meterNumber: integer,
  register: maybeText,
  mf: Type.Number(),
  previousDate: maybeText,
  previousReading: maybeText,
  currentDate: maybeText,
  currentReading: maybeText,
  readingType: maybeText,
  estimated: integer,
  rollover: integer,
  consumption: text,
});

/** There only once a bill was posted. */
const later = nullable(Type.String());

export const simulatedBill = Type.Object({
  billNumber: later,
  billRefNo: later,
  batchCode: later,
  connectionRefNo: later,
  connectionGroupLabel: later,
  partyName: later,
  address: nullable(anything),
  issueDate: later,
  history: Type.Array(anything),
  bankAccounts: Type.Array(anything),
  documents: Type.Array(anything),
  deliveries: Type.Array(anything),
  hold: integer,
  billType: text,
  status: text,
  paymentStatus: text,
  termLabel: maybeText,
  serviceCode: text,
  serviceLabel: text,
  tariffCode: maybeText,
  tariffLabel: maybeText,
  connectionNumber: maybeText,
  currency: maybeText,
  startDate: text,
  endDate: text,
  dueDate: maybeText,
  billedFrom: maybeText,
  billedTo: maybeText,
  days: integer,
  meterReadings: Type.Array(reading),
  usage: Type.Array(
    Type.Object({
      input: text,
      unit: maybeText,
      quantity: text,
      carried: Type.Optional(text),
    }),
  ),
  lines: Type.Array(line),
  surcharges: Type.Array(line),
  sections: Type.Array(anything),
  previousBalance: money,
  paymentsReceived: money,
  adjustments: money,
  arrears: money,
  currentCharges: money,
  taxAmount: money,
  roundingAdjustment: money,
  billAmount: money,
  totalAmount: money,
  walletApplied: money,
  payableWithinDueDate: money,
  latePaymentSurcharge: money,
  payableAfterDueDate: money,
  paidAmount: money,
  outstandingAmount: money,
  creditBalance: money,
  errors: Type.Array(
    Type.Object({
      code: text,
      message: text,
      component: Type.Optional(text),
      meterNumber: Type.Optional(integer),
    }),
  ),
});

export const lineExplanation = Type.Object({
  lineNo: integer,
  component: text,
  formula: maybeText,
  when: maybeText,
  scope: text,
  fromDate: text,
  toDate: text,
  days: integer,
  factor: text,
  names: Type.Array(Type.Object({ name: text, value: text, unit: maybeText, source: anything })),
  steps: Type.Array(Type.Object({ expression: text, value: text })),
  exact: text,
  rounding: Type.Object({ scale: integer, mode: text }),
  amount: money,
  text,
});
