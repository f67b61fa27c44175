// Documents that are no bills: what each is made from, and what surrounds it. Amounts are JSON
// numbers in major units, dates DD/MM/YYYY. Same paper, same bytes.
import type { Fact } from './fact.ts';
import type { LetterheadSource } from './letterhead.ts';

/** Of the workspace, when the document is made. */
export type PaperSetting = {
  readonly organisation: LetterheadSource;
  readonly locale: string;
  readonly currency: string;
  readonly currencyDecimals: number;
};

export type PaperParty = {
  readonly name: string;
  readonly number: number;
  readonly address: Readonly<Record<string, unknown>> | null;
  /** The subscription that the document is about, if it is about one. */
  readonly connectionNumber: string | null;
};

/** A payment that was received. */
export type ReceiptPaper = {
  readonly paymentID: number;
  readonly reference: string;
  readonly receiptNumber: string | null;
  readonly cashDesk: string | null;
  readonly paidOn: string;
  readonly issuedOn: string;
  readonly method: string;
  readonly chequeNumber: string | null;
  readonly amount: number;
  readonly settled: readonly SettledLine[];
  readonly settledAmount: number;
  readonly walletAmount: number;
  readonly recoveredAmount: number;
  readonly remark: string | null;
};

export type SettledLine = {
  /** Bill, or what else was open. */
  readonly kind: string;
  readonly billNumber: string | null;
  readonly amount: number;
  readonly surcharge: number;
};

export type StatementPaper = {
  /** The label of a billing account. */
  readonly account: string | null;
  readonly fromDate: string | null;
  readonly toDate: string;
  readonly issuedOn: string;
  readonly openingBalance: number;
  readonly entries: readonly StatementLine[];
  readonly debits: number;
  readonly credits: number;
  readonly closingBalance: number;
  readonly walletBalance: number;
  readonly disputedBalance: number;
  readonly aging: Readonly<Record<'current' | 'd1_30' | 'd31_60' | 'd61_90' | 'over90', number>>;
};

export type StatementLine = {
  readonly date: string;
  readonly type: string;
  readonly reference: string | null;
  readonly description: string | null;
  readonly debit: number;
  readonly credit: number;
  readonly balance: number;
};

export type ReminderPaper = {
  readonly reminderID: number;
  readonly date: string;
  readonly oldestDueDate: string;
  readonly amount: number;
  /** Of the template, filled. */
  readonly words: string;
  readonly items: readonly {
    readonly kind: string;
    readonly billNumber: string | null;
    readonly dueDate: string;
    readonly daysOverdue: number;
    readonly amount: number;
  }[];
  readonly banks: readonly { readonly title: string; readonly facts: readonly Fact[] }[];
};

export type Paper = {
  readonly setting: PaperSetting;
  readonly party: PaperParty;
  /** Across the head of the page: why it no longer counts. */
  readonly warning?: string | null;
} & (
  | { readonly receipt: ReceiptPaper }
  | { readonly statement: StatementPaper }
  | { readonly reminder: ReminderPaper }
);
