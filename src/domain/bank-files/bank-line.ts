// A line of a bank file as it is stored, and what becomes of it.
import type { Payer, PayerKey } from '../receivables/payment.ts';

/** `Received`: not posted yet. `Duplicate`: another file, or another line, has brought it. */
export const lineStatuses = [
  'Received',
  'Posted',
  'Suggested',
  'Unmatched',
  'Ignored',
  'Duplicate',
] as const;
export type LineStatus = (typeof lineStatuses)[number];

/** Whose money a line may be, for a clerk to confirm. */
export type Suggestion = {
  partyId: number;
  partyNumber: number;
  connectionNumber: string | null;
  billId: number | null;
  /** Minor units. */
  amount: number;
  reason: string;
};

/** A line that is to be matched. */
export type OpenLine = {
  bank_line_id: number;
  bank_account_id: number;
  fingerprint: string;
  line_date: string;
  amount: number;
  is_reversal: boolean;
  payer: string | null;
  payer_account: string | null;
  text: string | null;
  reference: string | null;
};

/** What is done with a line by itself, without a clerk. */
export type Decision =
  | { status: 'Posted'; payer: PayerKey; by?: Payer }
  | { status: 'Suggested'; suggestions: Suggestion[]; reason: string | null }
  | { status: 'Unmatched' | 'Ignored'; reason: string | null };

/** The reference of the payment that a line becomes: each line is paid in once, for ever. */
export function paymentReference(fingerprint: string): string {
  return `BANK-${fingerprint.toUpperCase()}`;
}
