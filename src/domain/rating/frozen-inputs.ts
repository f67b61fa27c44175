// Frozen inputs: all that enters a bill besides the definitions, as plain JSON. They are stored
// with the bill, so that the same frozen inputs give the same bill at any later time. Dates are
// DD/MM/YYYY, numbers decimal text; a `fromDate` is the first day on which the new state holds.
// What is absent may also be null.

export type FrozenTerm = {
  readonly label?: string | null;
  readonly startDate: string;
  readonly endDate: string;
  readonly dueDate?: string | null;
  /** Months of the billing period; 1 where not given. A week is "0.25" or what the context says. */
  readonly months?: number | string | null;
};

export type FrozenReading = {
  readonly date: string;
  readonly value: string;
  readonly type?: string | null;
  /** Only `Review` matters here: such a reading cannot be billed. */
  readonly status?: string | null;
  /** The reader says the register passed its highest value. */
  readonly rollover?: boolean | null;
};

export type FrozenMeter = {
  readonly number: number;
  readonly mf?: number | string | null;
  readonly digits?: number | null;
  readonly input: string;
  readonly register?: string | null;
  /** Cumulative where not given. */
  readonly kind?: 'Cumulative' | 'Interval' | 'Consumptive' | 'Demand' | null;
  readonly previous?: FrozenReading | null;
  readonly current?: FrozenReading | null;
  /** The register was not read, and no estimate could be made. */
  readonly unestimated?: true;
  /**
   * Further accepted readings: of the days before cuts, or all of a register that is not
   * cumulative.
   */
  readonly readings?: readonly FrozenReading[] | null;
};

export type FrozenConnection = {
  readonly connectionNumber?: string | null;
  readonly connectionDate?: string | null;
  readonly disconnectDate?: string | null;
  readonly billedThrough?: string | null;
  readonly isFirstBill?: boolean | null;
  /** Where given, says which days are Active instead of connectionDate and disconnectDate. */
  readonly statusHistory?: readonly { readonly status: string; readonly fromDate: string }[] | null;
  readonly tariffHistory?:
    | readonly { readonly tariffCode: string; readonly fromDate: string }[]
    | null;
  readonly addOns?: readonly FrozenAddOn[] | null;
  readonly connectionInputs?: readonly { readonly name: string; readonly value: string }[] | null;
  readonly unmeteredInputs?: readonly FrozenQuantity[] | null;
  readonly variants?: readonly FrozenVariant[] | null;
  readonly transfers?: readonly { readonly transferDate: string }[] | null;
  /** The day after `billedThrough` is the next owner's. */
  readonly isHandedOn?: boolean | null;
};

export type FrozenAddOn = {
  readonly tariffLabel?: string | null;
  readonly tariffCode?: string | null;
  readonly quantity?: string | number | null;
  readonly fromDate?: string | null;
  readonly toDate?: string | null;
};

export type FrozenQuantity = {
  readonly name: string;
  readonly value: string | number;
  readonly fromDate?: string | null;
};

export type FrozenVariant = {
  readonly name: string;
  readonly value: unknown;
  readonly fromDate?: string | null;
  readonly toDate?: string | null;
};

/** A quantity of the whole term, or rows of which a dated one belongs to its day. */
export type UploadedUsage =
  | string
  | readonly { readonly quantity: string; readonly date?: string | null }[];

export type FrozenDays = { readonly fromDate: string; readonly toDate: string };

/** Newest first. */
export type FrozenHistory = Readonly<Record<string, readonly HistoryTerm[]>>;

export type HistoryTerm = {
  readonly label?: string | null;
  readonly quantity: string;
  readonly days?: number | null;
  readonly type?: string | null;
  /** Not shown on the bill: it was billed to another owner. */
  readonly isOfFormerOwner?: true;
};

export type FrozenPreviousTerm = {
  readonly term: FrozenTerm;
  /** The first day that was billed to the term; those before it were billed by another one. */
  readonly billedFrom?: string | null;
  /**
   * The first day whose usage is billed now. Set if this is the first bill: the days before the
   * term are then measured by the term itself. Also set if the previous bill was the last one of
   * another owner and has billed the usage of its own days.
   */
  readonly usedFrom?: string | null;
  /** The last day whose use is billed now, where bills of days after the term were left out. */
  readonly usedThrough?: string | null;
  readonly usage?: Readonly<Record<string, UploadedUsage>> | null;
  /**
   * What its Segment rules billed, by component. Given, the term is rated again, but for components
   * that are null: their amounts were given by hand.
   */
  readonly billed?: Readonly<Record<string, string | number | null>> | null;
  /** The account at the time of billing; if missing, that of this bill applies. */
  readonly account?: FrozenAccount | null;
  readonly isFirstBill?: boolean | null;
  readonly connectionInputs?: FrozenConnection['connectionInputs'];
  /** On the days that were billed; those of this bill hold after them. */
  readonly unmeteredInputs?: FrozenConnection['unmeteredInputs'];
  /** What was measured for its bill, and what that made up for. */
  readonly meters?: readonly FrozenMeter[] | null;
  readonly carriedUnits?: FrozenInputs['carriedUnits'];
  readonly estimatesBefore?: FrozenInputs['estimatesBefore'];
};

export type EstimateBefore = {
  readonly units: string;
  /** Its bill was cancelled: the customer does not pay for it. */
  readonly unbilled?: boolean;
};

export type FrozenAccount = {
  readonly arrears?: string | number | null;
  readonly overdue?: string | number | null;
  readonly overdueAmountDays?: string | number | null;
  readonly wallet?: string | number | null;
  readonly deposit?: string | number | null;
  readonly walletApplied?: string | number | null;
};

export type FrozenInputs = {
  readonly term: FrozenTerm;
  /** Plan from the start, where the connection carries no history. */
  readonly tariffCode?: string | null;
  readonly connection?: FrozenConnection | null;
  readonly meters?: readonly FrozenMeter[] | null;
  readonly uploadedUsage?: Readonly<Record<string, UploadedUsage>> | null;
  /**
   * Of uploaded use of inputs that are measured too, the days of the terms it was uploaded for,
   * rising, where the bill has others: on those the meter counts.
   */
  readonly uploadedDays?: Readonly<Record<string, readonly FrozenDays[]>> | null;
  /**
   * Inputs whose registers were not read for the term, or were estimated, and for which usage was
   * uploaded: the billed upload is deducted from their next reading.
   */
  readonly unread?: readonly string[] | null;
  readonly usageHistory?: FrozenHistory | null;
  /** Units of earlier estimates that were too high, by input; below zero, credited too often. */
  readonly carriedUnits?: Readonly<Record<string, string>> | null;
  /** Estimates since the last reading, the newest first, by input; where one was not billed. */
  readonly estimatesBefore?: Readonly<Record<string, readonly EstimateBefore[]>> | null;
  readonly previousTerm?: FrozenPreviousTerm | null;
  /**
   * [connectionNumber, component name or label, value], and where the value is only for days before
   * the term that are caught up on, the last of them.
   */
  readonly manual?: readonly (readonly [string, string, string, string?])[] | null;
  readonly account?: FrozenAccount | null;
};

/** The frozen inputs of a bill: of one subscription, or of each of several. */
export type FrozenBillInputs = FrozenInputs | { readonly subscriptions: readonly FrozenInputs[] };

export function frozenOf(frozen: FrozenBillInputs): readonly FrozenInputs[] {
  return 'subscriptions' in frozen ? frozen.subscriptions : [frozen];
}
