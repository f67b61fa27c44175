// What is known of one input in one term, and of the days it is divided among.
import type { Exact } from '../../../base/numbers/exact.ts';
import type { FrozenMeter, UploadedUsage } from '../frozen-inputs.ts';

export type InputUsage = {
  readonly total: Exact;
  /** Demand and last-value inputs hold for every part of the term as they are. */
  readonly isDivisible: boolean;
  readonly meters: readonly FrozenMeter[];
  /** Units billed too much before, which the first use of the term makes up for. */
  readonly credit: Exact;
  readonly uploaded: UploadedUsage | null;
  /** Where an upload is of a part of the days, what was measured on the others. */
  readonly beside?: MeasuredBeside;
  /**
   * For usage that is both measured and uploaded: the units billed by uploads, each up to a day.
   */
  readonly paid?: readonly PaidUnits[];
};

/** What was measured on days that nothing was uploaded for. */
export type MeasuredBeside = {
  /** The days that use was uploaded for, and how much. */
  readonly days: readonly DayPart[];
  readonly uploaded: Exact;
  readonly measured: InputUsage;
};

export type PaidUnits = { readonly day: number; readonly units: Exact };

/** Parts of a term, rising and disjoint, and the runs they cover. */
export type DayPart = { readonly from: number; readonly to: number };
