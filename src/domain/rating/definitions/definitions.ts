// The wire shapes of a pricing context and a plan, as far as they price. Callers validate them;
// what is odd nevertheless is reported by check-context.ts and check-plan.ts, never a crash.
import type { Rounding } from '../../../base/numbers/rounding.ts';

export type Flag = 0 | 1;
export type ValueKind = 'Number' | 'Percent' | 'Text' | 'Boolean' | 'Table';
export type ChangeInTerm = 'End' | 'Start' | 'Weighted' | 'Split';
export type ComponentKind =
  | 'Charge'
  | 'Tax'
  | 'Discount'
  | 'Surcharge'
  | 'Subsidy'
  | 'LateSurcharge';

export type Rows = readonly Readonly<Record<string, string | null>>[];

export type ValueDefinition = {
  readonly name: string;
  readonly label?: string;
  readonly type: ValueKind;
  readonly unit?: string | null;
  readonly columns?: readonly string[] | null;
  readonly default?: string | number | boolean | Rows | null;
  readonly overridable?: Flag;
  readonly changeInTerm?: ChangeInTerm;
};

export type ComponentDefinition = {
  readonly name: string;
  readonly label?: string;
  readonly type: ComponentKind;
  readonly categories?: readonly string[];
  readonly sequence?: number;
  readonly rounding?: Rounding | null;
  readonly printIfZero?: Flag;
  readonly manual?: 'No' | 'Optional' | 'Required';
  /** Code of the ledger account that is credited with it. */
  readonly account?: string | null;
};

export type ConnectionInputDefinition = {
  readonly name: string;
  readonly label?: string;
  readonly type: 'Text' | 'Number' | 'Date' | 'Select' | 'Boolean';
  readonly required?: Flag;
  readonly options?: readonly string[] | null;
  readonly defaultValue?: string | null;
  /** No two subscriptions of the context have the same value. */
  readonly unique?: Flag;
  /** The form of the whole value. */
  readonly pattern?: string | null;
  readonly minValue?: string | number | null;
  readonly maxValue?: string | number | null;
};

export type MeteredInputDefinition = {
  readonly name: string;
  readonly label?: string;
  readonly unit?: string | null;
  readonly aggregation?: 'Sum' | 'Max' | 'Last';
  readonly decimals?: number | null;
  readonly highLow?: { readonly highFactor?: number; readonly lowFactor?: number } | null;
};

export type UnmeteredInputDefinition = {
  readonly name: string;
  readonly label?: string;
  readonly unit?: string | null;
  readonly source?: 'Subscription' | 'Uploaded';
  readonly required?: Flag;
  readonly defaultValue?: string | null;
  readonly minValue?: string | number | null;
  readonly maxValue?: string | number | null;
  readonly decimals?: number | null;
  readonly changeInTerm?: 'Split' | 'End' | 'Weighted';
};

export type HoldRule = { readonly name: string; readonly when: string; readonly reason?: string };

export type ContextDefinition = {
  readonly code: string;
  readonly currency?: string;
  /** Decimals of the currency; 2 where not given. */
  readonly currencyScale?: number;
  readonly billRounding?: Rounding | null;
  /** 1 = billed after the period, 0 = in advance. */
  readonly postBilling?: Flag;
  readonly connectionInputs?: readonly ConnectionInputDefinition[];
  readonly meteredInputs?: readonly MeteredInputDefinition[];
  readonly unmeteredInputs?: readonly UnmeteredInputDefinition[];
  readonly values?: readonly ValueDefinition[];
  readonly components?: readonly ComponentDefinition[];
  readonly holdRules?: readonly HoldRule[] | null;
};

export type ValueFormula = {
  readonly name: string;
  readonly formula?: string | null;
  readonly rows?: Rows | null;
  readonly fromDate?: string | null;
  readonly toDate?: string | null;
};

export type ComponentRule = {
  readonly component: string;
  readonly formula?: string | null;
  readonly when?: string | null;
  readonly scope?: 'Segment' | 'Term';
  readonly prorate?: 'None' | 'Days';
  readonly window?: 'Current' | 'Previous';
  readonly exclude?: Flag;
  readonly fromDate?: string | null;
  readonly toDate?: string | null;
  readonly quantity?: string | null;
  readonly rate?: string | null;
};

export type UsageItem = {
  readonly input: string;
  readonly source?: 'Metered' | 'Unmetered' | 'Uploaded';
  readonly required?: Flag;
  /** Allowed, where nothing is said. */
  readonly estimate?: 'Allowed' | 'NotAllowed' | null;
  readonly exclude?: Flag;
};

export type SecurityAttribute = {
  readonly name: string;
  readonly amount?: string | number | null;
  readonly formula?: string | null;
  /** With the subscription, where nothing is said. */
  readonly dueAt?: 'Connection' | 'FirstBill' | null;
};

export type PlanDefinition = {
  readonly code: string;
  readonly name?: string;
  readonly uniqueLabel?: string;
  readonly parentTariffCode?: string | null;
  readonly planType?: string;
  readonly abstract?: Flag;
  readonly valueFormulas?: readonly ValueFormula[];
  readonly componentRules?: readonly ComponentRule[];
  readonly usageData?: readonly UsageItem[];
  readonly securityAttributes?: readonly SecurityAttribute[];
};

/** A definition in one of its versions; the first holds from the beginning of time. */
export type Version<Definition> = {
  readonly version: number;
  /** DD/MM/YYYY; null for the first. */
  readonly effectiveDate: string | null;
  readonly definition: Definition;
};

export const definitionNamePattern = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
export const definitionsMax = 500;
export const planDepthMax = 8;
