// What a document of a bill is made from: the presented bill with a little more, and what surrounds
// it. Amounts are JSON numbers in major units, quantities and rates decimal text, dates DD/MM/YYYY.
import type { PresentedBill, PresentedLine } from '../bills/bill-forms.ts';
import type { BillUsage } from '../rating/bill.ts';
import type { LineBasis } from '../rating/line-basis.ts';
import type { Letterhead, PageSize } from './letterhead.ts';

export type DocumentUsage = BillUsage & {
  /** What the input is called; otherwise its name. */
  readonly label?: string;
  /** Units of earlier bills that were taken off; below zero, added. */
  readonly carriedIn?: string;
};

type DocumentSection = Omit<PresentedBill['sections'][number], 'usage'> & {
  readonly usage: readonly DocumentUsage[];
};

export type DocumentLine = PresentedLine & { readonly basis?: LineBasis };

/** Of an earlier term, with its month (YYYYMM) where that is known. */
export type DocumentTerm = PresentedBill['history'][number] & { readonly month?: string };

export type DocumentPayment = { readonly date: string; readonly amount: number };

type Extended = 'usage' | 'sections' | 'lines' | 'history';

export type BillDocument = Readonly<Omit<PresentedBill, Extended>> & {
  readonly lines: readonly DocumentLine[];
  /** The oldest first. */
  readonly history: readonly DocumentTerm[];
  /** Since the last bill, the oldest first; if absent, only their sum is known. */
  readonly payments?: readonly DocumentPayment[];
  /** Where lines may be of it. */
  readonly previousTerm?: { readonly startDate: string; readonly endDate: string };
  readonly usage: readonly DocumentUsage[];
  readonly sections: readonly DocumentSection[];
};

/** The text printed below a bill's figures, with placeholders. */
export type DocumentTemplate = {
  readonly body: string;
  /** The same in the second language. */
  readonly secondBody?: string;
};

/** A credit note of the bill. */
export type CreditNoteDocument = {
  readonly number: string;
  readonly issueDate: string;
  readonly reason: string;
  readonly amount: number;
  /** What had been paid of it. */
  readonly walletAmount: number;
  /** Null is the rounding of the bill. */
  readonly lines: readonly { readonly component: string | null; readonly amount: number }[];
};

/** Everything that the document of a bill depends on: the same input gives the same bytes. */
export type BillDocumentInput = {
  readonly bill: BillDocument;
  readonly letterhead: Letterhead;
  /** The words of the document and the forms of its numbers and dates: a BCP 47 tag. */
  readonly locale: string;
  readonly template?: DocumentTemplate | null;
  /** Labels are printed in this language too. */
  readonly secondLocale?: string | null;
  readonly amountInWords?: boolean;
  /** Unless given, those of the bill. */
  readonly bankAccounts?: BillDocument['bankAccounts'];
  readonly history?: BillDocument['history'];
  /** Unless given, that of the letterhead. */
  readonly pageSize?: PageSize;
  /** Whether the workspace pays it: to a vendor, to an employee. */
  readonly isOwedByWorkspace?: boolean;
  /** The document is that of this credit note, and not of the bill itself. */
  readonly creditNote?: CreditNoteDocument;
  /** The page says that it is a copy. */
  readonly isCopy?: boolean;
  /** Unless given, what is usual for the currency. */
  readonly currencyDecimals?: number;
  /** The e-invoice that the PDF has inside. */
  readonly facturX?: string;
};
