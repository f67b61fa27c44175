// What is asked for when a subscription is made, and what it refers to.
import type { Binding, MeterToInstall } from '../meters/installation.ts';
import type { PriceBook } from '../rating/compile/price-book.ts';
import type { ContextDefinition } from '../rating/definitions/definitions.ts';
import type { GivenInput, GivenQuantity } from './check-inputs.ts';
import type { BatchChoice, ContextInUse, PartyInUse, PlanChoice } from './lookups-store.ts';
import type {
  AddOn,
  BalanceTitle,
  InputValue,
  Quantity,
  StatusStep,
  SubscriptionStatus,
  SubscriptionUser,
  UserRole,
  Variant,
} from './subscription.ts';

export type GivenUser = {
  partyId: number | null;
  partyNumber: number | null;
  role: UserRole | null;
  accountLabel: string | null;
  fromDate: Temporal.PlainDate | null;
  /** Where it was given, if not in the list of users. */
  place?: string;
};

export type GivenAddOn = {
  label: string;
  quantity: string;
  fromDate: Temporal.PlainDate | null;
};

export type OpeningBalance = { title: BalanceTitle; amount: number };

export type WantedSubscription = {
  /** Its path in the request: `connection`, or `connection[3]`. */
  field: string;
  contextCode: string;
  planCode: string;
  batchCode: string | null;
  postType: string;
  referenceNumber: string | null;
  description: string | null;
  paymentMethod: string | null;
  projectName: string | null;
  address: object | null;
  partyId: number | null;
  users: readonly GivenUser[];
  addOns: readonly GivenAddOn[];
  inputs: readonly GivenInput[];
  quantities: readonly GivenQuantity[];
  variants: readonly Variant[];
  meters: readonly MeterToInstall[];
  bindings: readonly Binding[];
  documents: readonly string[];
  connectionDate: Temporal.PlainDate | null;
  /** Only in a bulk load. */
  number: string | null;
  status: SubscriptionStatus | null;
  billedThrough: Temporal.PlainDate | null;
  balances: readonly OpeningBalance[];
};

/** A context with its prices, and its definition on the day that counts. */
export type KnownContext = {
  row: ContextInUse;
  book: PriceBook;
  definitionOn(day: Temporal.PlainDate): ContextDefinition;
};

/** All that the rows of a call refer to, as far as it exists. */
export type RowReferences = {
  contexts: ReadonlyMap<string, KnownContext>;
  plans: readonly PlanChoice[];
  batches: readonly BatchChoice[];
  parties: readonly PartyInUse[];
};

/** Deposit that a new subscriber owes at once. */
export type DepositDemand = { name: string; amount: number };

/** A row that was checked, with everything that is stored except ids and the number. */
export type Draft = {
  wanted: WantedSubscription;
  context: KnownContext;
  plan: PlanChoice;
  batch: BatchChoice;
  owner: PartyInUse;
  /** null: an account named after the subscription's number. */
  accountLabel: string | null;
  users: SubscriptionUser[];
  connectionDate: Temporal.PlainDate;
  billedThrough: Temporal.PlainDate | null;
  statusHistory: StatusStep[];
  inputs: InputValue[];
  uniqueInputs: (InputValue & { field: string })[];
  quantities: Quantity[];
  addOns: AddOn[];
  variants: Variant[];
  deposits: DepositDemand[];
};
