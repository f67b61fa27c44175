// A bill that was rated and is not stored yet, and the hash of all its contents.
import { hash } from 'node:crypto';
import type { Bill, BillUsage } from '../../rating/bill.ts';
import type { FrozenInputs } from '../../rating/frozen-inputs.ts';
import type { HoldReason } from '../../rating/rate/hold.ts';
import type { StoredLine } from '../bill-forms.ts';
import type { Inputs } from '../inputs/inputs.ts';

/** One rated subscription. */
export type Rated = Pick<Inputs, 'row' | 'accountStatus' | 'receipts'> & {
  readonly frozen: FrozenInputs;
  readonly bill: Bill;
};

export type MadeBill = {
  unitId: number;
  subscriptionId: number | null;
  accountId: number | null;
  partyId: number;
  planId: number | null;
  status: 'Draft' | 'Error' | 'Hold';
  holds: readonly HoldReason[];
  dueDate: string;
  billedFrom: string | null;
  billedTo: string | null;
  days: number;
  currentCharges: number;
  taxAmount: number;
  roundingAdjustment: number;
  billAmount: number;
  previousBalance: number;
  paymentsReceived: number;
  adjustments: number;
  arrears: number;
  payable: number;
  creditBalance: number;
  lateSurcharge: number;
  previouslyBilledTo: string | null;
  /** All payments of the subscription so far; 0 on a bill of several. */
  received: number;
  unitTs: bigint;
  /** SHA-256 in hexadecimal. */
  hash: string;
  document: string;
  frozenText: string;
  booking: Booking;
  /** For the totals of the run. */
  lines: readonly StoredLine[];
  usage: readonly BillUsage[];
  subscriptions: number;
  parts: readonly BillSubscription[];
};

/** What posting needs of the document, as JSON. */
export type Booking = {
  /** {input: {quantity, type, carried?}}; null on a bill of several subscriptions. */
  usage: string | null;
  /** {"type component": amount} */
  charges: string;
};

/** A subscription of a bill that has several. */
export type BillSubscription = {
  subscriptionId: number;
  amount: number;
  arrears: number;
  days: number;
  billedTo: string | null;
  previouslyBilledTo: string | null;
  /** All payments of the subscription so far. */
  received: number;
  unitTs: number;
};

/** Everything that a posted bill may not change, in one order. */
export type HashedBill = Omit<
  MadeBill,
  | 'status'
  | 'holds'
  | 'hash'
  | 'booking'
  | 'received'
  | 'unitTs'
  | 'lines'
  | 'usage'
  | 'subscriptions'
  | 'parts'
>;

/** SHA-256 over the columns of the bill, its document and its frozen inputs. */
export function billHash(bill: HashedBill): string {
  const who =
    `${bill.unitId}|${bill.subscriptionId ?? ''}|${bill.accountId ?? ''}|` +
    `${bill.partyId}|${bill.planId ?? ''}`;
  const days = `${bill.billedFrom ?? ''}|${bill.billedTo ?? ''}|${bill.days}`;
  const amounts =
    `${bill.currentCharges}|${bill.taxAmount}|${bill.roundingAdjustment}|${bill.billAmount}|` +
    `${bill.previousBalance}|${bill.paymentsReceived}|${bill.adjustments}|${bill.arrears}|` +
    `${bill.lateSurcharge}|${bill.previouslyBilledTo ?? ''}`;
  const texts = [`${who}|${days}|${amounts}\n`, bill.document, '\n', bill.frozenText];
  return hash('sha256', written(texts), 'hex');
}

/** Of a character, in the worst case. */
const utf8Bytes = 3;
/** Written on for every bill: one text of all would be made, and thrown away, for each of them. */
let page = Buffer.allocUnsafeSlow(1 << 16);

/** The texts one after the other: only until others are written. */
function written(texts: readonly string[]): Buffer {
  let most = 0;
  for (const text of texts) most += text.length * utf8Bytes;
  if (most > page.length) page = Buffer.allocUnsafeSlow(most);
  let at = 0;
  for (const text of texts) at += page.write(text, at);
  return page.subarray(0, at);
}
