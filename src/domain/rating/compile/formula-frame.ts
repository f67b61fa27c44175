// What a compiled formula reads while it is evaluated: one frame for each segment, one for the
// term. Everything is found by slot, a number given to each name when the definitions are compiled.
import type { Of, Scalar } from '../../../base/formula/function-kinds.ts';
import type { SlabUse } from '../../../base/formula/slab.ts';
import type { FormulaNode } from '../../../base/formula/syntax.ts';
import type { Exact } from '../../../base/numbers/exact.ts';
import type { Spent } from '../rate/budget.ts';

export type SourceKind =
  | 'Plan'
  | 'Parent'
  | 'Variant'
  | 'Default'
  | 'Reading'
  | 'Uploaded'
  | 'History'
  | 'Input'
  | 'Account'
  | 'Component';

export type Source = {
  readonly kind: SourceKind;
  readonly tariffCode?: string;
  readonly version?: number;
  readonly date?: string;
  readonly ref?: string;
};

/** What a value is on some days: a constant, or a formula evaluated in the frame that asks. */
export type ValueItem = {
  readonly constant: Scalar | null;
  readonly formula: Of<Frame, Scalar> | null;
  /** Steps of the formula. */
  readonly steps: number;
  readonly text: string;
  readonly source: Source;
};

/** The part of a bill that all its frames share. */
export type Shared = {
  readonly inputs: readonly (Scalar | undefined)[];
  readonly history: readonly (readonly { readonly quantity: string }[] | undefined)[];
  readonly account: AccountNumbers;
  readonly isFirstBill: boolean;
  readonly currencyPower: number;
  /** Mean of the last bills, for hold rules. */
  readonly averageAmount: Exact;
  readonly spent: Spent;
  /** Set before late surcharges are evaluated, in minor units. */
  bill: BillNumbers;
};

export type AccountNumbers = {
  readonly arrears: Exact;
  readonly overdue: Exact;
  readonly overdueAmountDays: Exact;
  readonly wallet: Exact;
  readonly deposit: Exact;
};

export type BillNumbers = {
  readonly current: number;
  readonly net: number;
  readonly tax: number;
  readonly arrears: number;
  readonly payable: number;
};

export type Frame = {
  readonly shared: Shared;
  readonly items: readonly (ValueItem | undefined)[];
  /** Results of value formulas, by slot; made when the first is asked for. */
  results: (Scalar | undefined)[] | null;
  readonly usage: readonly (Exact | undefined)[];
  readonly quantities: readonly (Exact | undefined)[];
  /** Rounded amounts by component, in minor units. */
  readonly amounts: number[];
  readonly days: number;
  readonly factor: Exact;
  readonly months: Exact;
  readonly quantity: Exact;
  readonly termDays: number;
  readonly termMonths: Exact;
  /** Day on which the validity of an inherited rule is judged. */
  readonly day: number;
  /** Terms of history to skip: 1 where the frame is of the term before. */
  readonly historySkip: number;
  /** Slab calculations since the last line was made. */
  slabs: SlabUse[] | null;
  readonly trace: Trace | null;
};

export type TraceStep = {
  readonly node: FormulaNode;
  readonly text: string;
  readonly value: Scalar;
};

/** Filled only when an explanation was asked for. */
export type Trace = {
  steps: TraceStep[];
  /** Of all frames of the bill. */
  readonly shown: Spent;
  /** Where usage came from, by input. */
  readonly usageSources: ReadonlyMap<string, Source>;
};
