// What a bill is made from, before it is frozen.

import type { FrozenTerm } from '../../rating/frozen-inputs.ts';
import type { EarlierTermRow } from '../../terms/list-store.ts';
import type { Term } from '../../terms/store.ts';
import type { AccountStatusRow } from './account-status-store.ts';
import type { InputsBefore } from './inputs-before-store.ts';
import type { BilledRow, ManualRow, MeterRow, ReadingRow, UsageRow } from './inputs-store.ts';
import type { OverdueItem } from './overdue.ts';
import type { ReceiptRow } from './receipts-store.ts';

/** Everything that was read for one subscription. */
export type Inputs = {
  readonly row: BilledRow;
  readonly accountStatus: AccountStatusRow;
  readonly meters: readonly MeterRow[];
  /** By assignment and position, where a bill may need more than the readings locked. */
  readonly readings: ReadonlyMap<string, readonly ReadingRow[]> | null;
  readonly manual: readonly ManualRow[];
  readonly usage: readonly UsageRow[];
  readonly overdue: readonly OverdueItem[];
  /** Newest first; read where something was received since the last bill. */
  readonly receipts: readonly ReceiptRow[];
  /** Of the bill of the term before, where that is priced again. */
  readonly inputsBefore: InputsBefore | null;
};

/** What is the same for all bills of a run. */
export type FreezeScope = {
  readonly term: Term;
  readonly frozenTerm: FrozenTerm;
  readonly currencyDecimals: number;
  readonly planCodes: ReadonlyMap<number, string>;
  /** Terms before this one, by id; only where bills are made in advance. */
  readonly earlierTerms: ReadonlyMap<number, EarlierTermRow>;
  /** Inputs without which a plan cannot be billed, by plan. */
  readonly isRequired: (planId: number, input: string, looksBack: boolean) => boolean;
  /** Figures of the account that formulas of the context read. */
  readonly accountNames: ReadonlySet<string>;
};

/** FrozenInputs while they are put together. */
export type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
