// A payment as a caller wants it, and the payer that it names.

import type { CashDesk } from './cash-desks-store.ts';

export const paymentMethods = ['Cash', 'Bank', 'Card', 'DirectDebit', 'Online', 'Cheque'] as const;
export type PaymentMethod = (typeof paymentMethods)[number];

/** One of the four is given. */
export type PayerKey = {
  partyId: number | null;
  partyNumber: number | null;
  connectionNumber: string | null;
  billId: number | null;
};

/** The party that pays, the subscription that it named, and the rules of its context. */
export type Payer = {
  partyId: number;
  isArchived: boolean;
  subscriptionId: number | null;
  settlementMethod: string;
  cashAccountId: number;
  businessUnitId: number;
  /** Whether the workspace pays the party: a vendor or an employee. */
  isPaidByWorkspace: boolean;
};

export type WantedAllocation = { billId: number; amount: number };

export type WantedPayment = {
  reference: string;
  payer: PayerKey;
  /** The payer, if the caller has found it in the same transaction. */
  by?: Payer;
  /** Minor units. */
  amount: number;
  valueDate: Temporal.PlainDate;
  paymentMethod: PaymentMethod;
  bankAccountId: number | null;
  allocations: readonly WantedAllocation[];
  remark: string | null;
  /** Where the money is, if not on the cash account of the payer's context. */
  cashAccountId?: number;
  /** The account that the payment is booked against, if the money was booked there before. */
  againstAccountId?: number;
  /** The day in the books, if that is not the value date. */
  postingDate?: Temporal.PlainDate;
  /** The desk that took the money and gives a receipt. */
  desk?: CashDesk | null;
  /** Of a cheque. */
  chequeNumber?: string | null;
  /** The day on which the bank paid the cheque, where it did. */
  clearedDate?: string | null;
};
