// What is posted: a journal that balances, and the customers' entries that make up its lines on the
// control accounts.

/** The reporting dimension of journals that belong to no pricing context. */
export const mainBusinessUnit = 1;

export type JournalSource =
  | 'Opening'
  | 'Deposit'
  | 'Bills'
  | 'Unpost'
  | 'Surcharge'
  | 'Fee'
  | 'Payment'
  | 'Wallet'
  | 'CreditNote'
  | 'Adjustment'
  | 'WriteOff'
  | 'Dispute'
  | 'Refund'
  | 'Transfer'
  | 'Reversal'
  | 'BankLine'
  | 'CashDifference'
  | 'YearEnd';

export type EntryKind =
  | 'Opening'
  | 'Deposit'
  | 'Bill'
  | 'Surcharge'
  | 'Fee'
  | 'Payment'
  /** A credit of the customer that is used for a debt. */
  | 'Offset'
  | 'Wallet'
  | 'CreditNote'
  | 'Adjustment'
  | 'WriteOff'
  | 'Dispute'
  | 'Refund'
  | 'Transfer'
  | 'Reversal';

/** How an entry settles an open item. */
export type Effect = 'paid' | 'credited' | 'written_off' | 'transferred' | 'disputed';

/** Whether bills show entries of the kind as payments received, and not as adjustments. */
export function isPayment(kind: EntryKind): boolean {
  return kind === 'Payment' || kind === 'Wallet' || kind === 'Refund';
}

/** Minor units; above zero is a debit, below a credit. */
export type JournalLine = { accountId: number; component?: string | null; amount: number };

/** Of many bills together, which may come to more than a number holds exactly. */
export type SummedLine = Omit<JournalLine, 'amount'> & { amount: bigint };

export type SubledgerEntry = {
  accountId: number;
  partyId: number;
  subscriptionId: number | null;
  kind: EntryKind;
  billId?: number | null;
  posting?: number;
  amount: number;
  /** Only where no bill is named: what is of a bill falls due when that says, which may move. */
  dueDate?: string | null;
  /** The open item, if it is none of the bill itself. */
  itemId?: number | null;
  /** Absent on an entry that is the open item itself, or is on an account without open items. */
  effect?: Effect | null;
  paymentId?: number | null;
  /** Whether bills show it among payments received; by default its kind says so. */
  isPayment?: boolean;
  /** The day from which the money counts, if that is not the posting date. */
  valueDate?: string | null;
  reference?: string | null;
  description?: string | null;
};

export type Journal = {
  source: JournalSource;
  sourceId: number;
  termId?: number | null;
  businessUnitId: number;
  postingDate: Temporal.PlainDate;
  description: string;
  reverses?: number | null;
  lines: readonly (JournalLine | SummedLine)[];
  entries: readonly SubledgerEntry[];
};

/**
 * The lines of entries and of what is booked against them: one for each account and component, in
 * the order in which each first appears.
 */
export function summed(lines: readonly JournalLine[]): SummedLine[] {
  const sums = new Map<string, SummedLine>();
  for (const { accountId, component = null, amount } of lines) {
    const key = `${accountId}\n${component ?? ''}`;
    const sum = (sums.get(key)?.amount ?? 0n) + BigInt(amount);
    sums.set(key, { accountId, component, amount: sum });
  }
  return [...sums.values()].filter((line) => line.amount !== 0n);
}
