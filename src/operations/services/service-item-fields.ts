// The items of a pricing context's arrays, as they are sent and read back.

import * as Type from 'typebox';
import { paymentCodeTypes } from '../../domain/pricing/context.ts';
import { dunningActions } from '../../domain/pricing/dunning-plan.ts';
import { country, filledText, id, limits, maybe, oneOf, text } from '../fields.ts';
import {
  archiveFlag,
  decimal,
  definitionName,
  formula,
  maybeDecimal,
  maybeQuantity,
  optionalFlag,
  rounding,
  valueDefault,
  wholeNumber,
} from '../pricing-fields.ts';

/** The rest of the array is named to the caller by the checks of the definition. */
const definitionsMax = 500;

function many<T extends Type.TSchema>(item: T) {
  return Type.Array(item, { maxItems: definitionsMax });
}

const label = Type.Optional(text({ max: 200 }));
const unit = maybe(text({ max: 64 }));
const description = maybe(text({ max: limits.description }));
const sequence = Type.Optional(wholeNumber(0, 1_000_000));
const decimals = maybe(wholeNumber(0, 9));
const name = definitionName;

/** A field that means nothing here is a typing mistake, and here that is a wrong price. */
const closed = { additionalProperties: false } as const;

const value = Type.Object(
  {
    name,
    label,
    type: oneOf(['Number', 'Percent', 'Text', 'Boolean', 'Table']),
    unit,
    columns: maybe(Type.Array(filledText({ max: 64 }), { maxItems: 50 })),
    default: Type.Optional(valueDefault),
    overridable: optionalFlag,
    changeInTerm: Type.Optional(oneOf(['End', 'Start', 'Weighted', 'Split'])),
    description,
  },
  closed,
);

const component = Type.Object(
  {
    name,
    label,
    type: oneOf(['Charge', 'Tax', 'Discount', 'Surcharge', 'Subsidy', 'LateSurcharge']),
    categories: Type.Optional(Type.Array(filledText({ max: 64 }), { maxItems: 100 })),
    sequence,
    rounding: maybe(rounding),
    printIfZero: optionalFlag,
    manual: Type.Optional(oneOf(['No', 'Optional', 'Required'])),
    settlementPriority: maybe(wholeNumber(0, 1_000_000)),
    account: maybe(text({ max: 64, description: 'ledger account that the amount is credited to' })),
    taxCode: maybe(text({ max: 64 })),
    description,
  },
  closed,
);

const connectionInput = Type.Object({
  name,
  label,
  type: oneOf(['Text', 'Number', 'Date', 'Select', 'Boolean']),
  required: optionalFlag,
  options: maybe(Type.Array(text({ max: 200 }), { maxItems: 1_000 })),
  defaultValue: maybe(text()),
  unique: optionalFlag,
  pattern: maybe(text({ max: 500 })),
  minValue: maybeDecimal,
  maxValue: maybeDecimal,
  sequence,
});

const meteredInput = Type.Object({
  name,
  label,
  unit,
  register: maybe(text({ max: 64 })),
  meterTypes: maybe(Type.Array(id, { maxItems: 1_000 })),
  aggregation: Type.Optional(oneOf(['Sum', 'Max', 'Last'])),
  decimals,
  required: optionalFlag,
  estimation: maybe(
    Type.Object({
      allowed: optionalFlag,
      maxConsecutive: Type.Optional(wholeNumber(0, 1_000)),
      defaultDaily: maybeQuantity,
    }),
  ),
  highLow: maybe(Type.Object({ highFactor: factor(), lowFactor: factor() })),
});

function factor() {
  return Type.Optional(Type.Number({ minimum: 0, maximum: 1_000, 'x-code': 'INVALID_NUMBER' }));
}

const unmeteredInput = Type.Object({
  name,
  label,
  unit,
  source: Type.Optional(oneOf(['Subscription', 'Uploaded'])),
  required: optionalFlag,
  defaultValue: maybeDecimal,
  minValue: maybeDecimal,
  maxValue: maybeDecimal,
  decimals,
  changeInTerm: Type.Optional(oneOf(['Split', 'End', 'Weighted'])),
});

const holdRule = Type.Object({
  name: filledText({ max: 64 }),
  when: formula,
  reason: Type.Optional(text({ max: 500 })),
});

/** Which keys each type has, and what they must be, is checked with the account. */
export const paymentCode = Type.Object(
  {
    type: oneOf(paymentCodeTypes),
    name: maybe(text({ max: 70, description: 'of the payee; otherwise the title' })),
    upiAddress: maybe(text({ max: 255 })),
    url: maybe(text({ max: 300, description: 'of a payment page, with placeholders' })),
    tag: maybe(text({ max: 2, description: 'of the merchant account information, 26 to 51' })),
    guid: maybe(text({ max: 32, description: 'of the payment scheme' })),
    fields: maybe(
      Type.Array(Type.Object({ tag: text({ max: 2 }), value: filledText({ max: 200 }) }, closed), {
        maxItems: 20,
      }),
    ),
    city: maybe(text({ max: 15 })),
    country: maybe(country),
    categoryCode: maybe(text({ max: 4 })),
  },
  { ...closed, description: 'the QR code on bills' },
);

export const bankAccount = Type.Object({
  bankAccountID: maybe(id),
  title: filledText({ max: 120 }),
  bankName: maybe(text({ max: 200 })),
  branch: maybe(text({ max: 200 })),
  accountNumber: maybe(text({ max: 64 })),
  iban: maybe(text({ max: 42 })),
  swift: maybe(text({ max: 11 })),
  currency: maybe(Type.String({ format: 'currency', maxLength: 3, 'x-code': 'INVALID_ENUM' })),
  isDefault: optionalFlag,
  collectionCode: maybe(text({ max: 64 })),
  paymentCode: maybe(paymentCode),
  archiveStatus: Type.Optional(archiveFlag),
});

export const batch = Type.Object({
  batchID: maybe(id),
  batchCode: filledText({ max: 32 }),
  label: maybe(text({ max: 200 })),
  description,
  billingPeriodID: maybe(id),
  readingDay: maybe(wholeNumber(1, 31)),
  billingDay: maybe(wholeNumber(1, 31)),
  archiveStatus: Type.Optional(archiveFlag),
});

/** The arrays that are versioned with the context. */
export const definitionArrays = {
  values: maybe(many(value)),
  components: maybe(many(component)),
  connectionInputs: maybe(many(connectionInput)),
  meteredInputs: maybe(many(meteredInput)),
  unmeteredInputs: maybe(many(unmeteredInput)),
};

const dunningStep = Type.Object({
  daysAfterDue: wholeNumber(1, 3_650),
  action: oneOf(dunningActions),
  templateID: maybe(id),
  component: maybe(text({ max: 64 })),
  amount: maybeDecimal,
});

const dunning = Type.Object({
  steps: Type.Array(dunningStep, { maxItems: 20 }),
  reconnect: optionalFlag,
});

const prepaid = Type.Object({
  lowBalance: decimal,
  templateID: id,
  disconnect: optionalFlag,
  graceDays: Type.Optional(wholeNumber(0, 366)),
});

export const definitionSettings = {
  billRounding: maybe(rounding),
  holdRules: maybe(Type.Array(holdRule, { maxItems: 100 })),
  readingGraceDays: Type.Optional(wholeNumber(0, 366)),
  graceDays: Type.Optional(wholeNumber(0, 366)),
  lateFeeBasis: Type.Optional(oneOf(['BillAmount', 'UnpaidAmount'])),
  dunning: maybe(dunning),
  prepaid: maybe(prepaid),
  autoApplyWallet: optionalFlag,
  requireDeposit: optionalFlag,
  reconnectionLimit: maybeDecimal,
};

export const ownArrays = {
  bankAccounts: maybe(Type.Array(bankAccount, { maxItems: 100 })),
  batches: maybe(Type.Array(batch, { maxItems: limits.batch })),
};
