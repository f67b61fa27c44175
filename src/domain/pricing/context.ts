// What a pricing context consists of: settings, which are as they are now, and its pricing, which
// is versioned with effective dates.

import type {
  ContextDefinition,
  Flag,
  MeteredInputDefinition,
  PlanDefinition,
  Version,
} from '../rating/definitions/definitions.ts';
import type { DunningPlan, PrepaidRules } from './dunning-plan.ts';

export type ContextSettings = {
  name: string;
  contextType: string;
  chargingType: string;
  postType: string;
  billingPeriodId: number;
  dueDateOffset: number;
  minimumDaysToPay: number;
  billsAfterPeriod: boolean;
  settlementMethod: string;
  cashAccountId: number;
  businessUnitId: number;
  /** Minor units. */
  securityDeposit: number | null;
  description: string;
  requiredDocuments: readonly string[] | null;
  templateId: number;
  emailTemplateId: number | null;
  archived: boolean;
};

/** A metered input with what is decided before anything is rated. */
export type MeteredInput = MeteredInputDefinition & {
  /** Code of the register that measures it. */
  readonly register?: string | null;
  /** Ids of the meter types that may measure it; all, where none is named. */
  readonly meterTypes?: readonly number[] | null;
  readonly required?: Flag;
  readonly estimation?: {
    readonly allowed?: Flag;
    readonly maxConsecutive?: number;
    readonly defaultDaily?: string | number | null;
  } | null;
};

/** The versioned part, as rating reads it, with settings that other rooms read. */
export type ContextPricing = Omit<
  ContextDefinition,
  'code' | 'currency' | 'currencyScale' | 'meteredInputs'
> & {
  readonly meteredInputs?: readonly MeteredInput[];
  readonly readingGraceDays?: number;
  readonly graceDays?: number;
  readonly lateFeeBasis?: string;
  readonly dunning?: DunningPlan | null;
  readonly prepaid?: PrepaidRules | null;
  readonly autoApplyWallet?: number;
  readonly requireDeposit?: number;
  /** What may be owed by a customer who is connected again, in major units. */
  readonly reconnectionLimit?: string | number | null;
};

/** Batch of every subscription that is given none. */
export const builtInBatch = 'DEFAULT';

export type Batch = {
  code: string;
  label: string;
  description: string | null;
  billingPeriodId: number | null;
  readingDay: number | null;
  billingDay: number | null;
  archived: boolean;
};

/** What the QR code on the bills of a bank account says. */
export type PaymentCode = {
  type: (typeof paymentCodeTypes)[number];
  /** Of the payee; otherwise the title of the account. */
  name?: string | null;
  /** UPI: such as citypower@bank. */
  upiAddress?: string | null;
  /** URL: a page for payments, with placeholders. */
  url?: string | null;
  /** EMVCo: where the account of the payee is in the code, 26 to 51. */
  tag?: string | null;
  /** EMVCo: the id of the payment scheme. */
  guid?: string | null;
  /** EMVCo: the account of the payee as the scheme defines it, with placeholders. */
  fields?: { tag: string; value: string }[] | null;
  city?: string | null;
  country?: string | null;
  categoryCode?: string | null;
};

export const paymentCodeTypes = ['EPC', 'EMVCo', 'UPI', 'Reference', 'URL'] as const;

export type BankAccount = {
  /** null for a new one. */
  id: number | null;
  title: string;
  bankName: string | null;
  branch: string | null;
  accountNumber: string | null;
  iban: string | null;
  swift: string | null;
  currency: string | null;
  isDefault: boolean;
  collectionCode: string | null;
  paymentCode: PaymentCode | null;
  archived: boolean;
};

export type PlanSettings = {
  code: string;
  name: string;
  uniqueLabel: string;
  description: string | null;
  parentCode: string | null;
  planType: string;
  abstract: boolean;
  custom: boolean;
  visibility: string;
  billingPeriodId: number | null;
  archived: boolean;
};

export type PlanPricing = Pick<
  PlanDefinition,
  'valueFormulas' | 'componentRules' | 'usageData' | 'securityAttributes'
>;

/** Currency of the workspace, which no definition repeats. */
export type Currency = { currency: string; currencyDecimals: number };

export function contextDefinition(
  code: string,
  pricing: ContextPricing,
  { currency, currencyDecimals }: Currency,
): ContextDefinition {
  return { ...pricing, code, currency, currencyScale: currencyDecimals };
}

export function planDefinition(settings: PlanSettings, pricing: PlanPricing): PlanDefinition {
  return {
    code: settings.code,
    name: settings.name,
    uniqueLabel: settings.uniqueLabel,
    parentTariffCode: settings.parentCode,
    planType: settings.planType,
    abstract: settings.abstract ? 1 : 0,
    ...pricing,
  };
}

export type PlanVersion = Version<PlanDefinition>;
