// An open item of an old system, as a file brings it.
export const openingKinds = ['OpenItem', 'Advance', 'SecurityDeposit'] as const;
export type OpeningKind = (typeof openingKinds)[number];

export type WantedOpening = {
  reference: string;
  kind: OpeningKind;
  partyNumber: number | null;
  connectionNumber: string | null;
  component: string | null;
  issueDate: Temporal.PlainDate;
  dueDate: Temporal.PlainDate;
  /** Minor units. Below zero it is a credit of the customer. */
  amount: number;
  description: string;
};
