// An adjustment as a caller wants it.

export const adjustmentKinds = ['Debit', 'Credit', 'WriteOff', 'BadDebt'] as const;
export type AdjustmentKind = (typeof adjustmentKinds)[number];

export type WantedAdjustment = {
  reference: string;
  connectionNumber: string;
  component: string;
  kind: AdjustmentKind;
  /** Minor units, above zero whatever the kind. */
  amount: number;
  /** The bill that a credit or a write-off is for; without one, the oldest of what is open. */
  billId: number | null;
  date: Temporal.PlainDate;
  reason: string;
};
