// A bill as the API shows it, which is all that a document is made from. Amounts are JSON numbers
// in major units, quantities and rates decimal text, dates DD/MM/YYYY.
import type { Letterhead, PageSize } from './letterhead.ts';

export type DocumentReading = {
  readonly meterNumber: number | string | null;
  readonly register: string | null;
  readonly mf: number | string;
  readonly previousDate: string | null;
  readonly previousReading: string | null;
  readonly currentDate: string | null;
  readonly currentReading: string | null;
  readonly readingType: string | null;
  readonly estimated: number;
  readonly rollover: number;
  readonly consumption: string;
};

export type DocumentUsage = {
  readonly input: string;
  /** What the input is called; otherwise its name. */
  readonly label?: string;
  readonly unit: string | null;
  readonly quantity: string;
  /** Units that wait for the next bill; below zero, it charges them. */
  readonly carried?: string;
  /** Units of earlier bills that were taken off; below zero, added. */
  readonly carriedIn?: string;
};

export type DocumentLineDetail = {
  readonly quantity: string;
  readonly rate: string;
  readonly flat?: string;
  readonly amount: string;
};

export type DocumentLine = {
  readonly lineNo: number;
  readonly component: string;
  readonly label: string;
  readonly type: string;
  readonly lineType: string;
  readonly source: string;
  readonly fromDate: string;
  readonly toDate: string;
  readonly days: number;
  readonly quantity: string | null;
  readonly unit: string | null;
  readonly rate: string | null;
  readonly amount: number;
  readonly computedAmount: number;
  readonly details: readonly DocumentLineDetail[];
  readonly tariffCode: string;
  readonly tariffVersion: number;
  readonly description: string | null;
  /** Of a bill over several subscriptions. */
  readonly connectionNumber?: string | null;
};

export type DocumentSection = {
  readonly connectionNumber: string;
  readonly tariffCode: string | null;
  readonly tariffLabel: string | null;
  readonly meterReadings: readonly DocumentReading[];
  readonly usage: readonly DocumentUsage[];
  readonly subtotal: number;
};

export type DocumentTerm = {
  readonly label: string;
  readonly quantity: string | null;
  readonly amount: number;
  readonly paidAmount: number;
};

export type DocumentBankAccount = {
  readonly title: string;
  readonly bankName?: string | null;
  readonly branch?: string | null;
  readonly accountNumber?: string | null;
  readonly iban?: string | null;
  readonly swift?: string | null;
  readonly currency?: string | null;
  readonly isDefault?: number;
  readonly collectionCode?: string | null;
};

export type DocumentCancellation = {
  readonly creditNoteNumber: string | null;
  /** Null while no bill that replaces it is posted; several are separated by commas. */
  readonly replacedByBillNumber: string | null;
};

export type BillDocument = {
  readonly billID: number;
  readonly billNumber: string | null;
  readonly billRefNo: string | null;
  /** The number of the cancelled bill that this one replaces. */
  readonly replacesBillNumber?: string;
  /** Of a cancelled bill. */
  readonly cancellation?: DocumentCancellation;
  readonly billType: string;
  readonly status: string;
  readonly paymentStatus: string;
  readonly termID: number | null;
  readonly termLabel: string | null;
  readonly serviceCode: string;
  readonly serviceLabel: string;
  readonly batchCode: string | null;
  readonly tariffCode: string | null;
  readonly tariffLabel: string | null;
  readonly connectionID: number | null;
  readonly connectionNumber: string | null;
  readonly connectionRefNo: string | null;
  readonly connectionGroupID: number | null;
  readonly connectionGroupLabel: string | null;
  readonly partyID: number;
  readonly partyNumber: number;
  readonly partyName: string;
  /** title, shopNo, buildingNo, buildingName, street, block, society, city; others are left out. */
  readonly address: Readonly<Record<string, unknown>> | null;
  readonly currency: string;
  readonly issueDate: string | null;
  readonly startDate: string;
  readonly endDate: string;
  readonly dueDate: string | null;
  readonly billedFrom?: string | null;
  readonly billedTo?: string | null;
  readonly days: number;
  /** Where lines may be of it. */
  readonly previousTerm?: { readonly startDate: string; readonly endDate: string };
  readonly meterReadings: readonly DocumentReading[];
  readonly usage: readonly DocumentUsage[];
  readonly lines: readonly DocumentLine[];
  readonly previousBalance: number;
  readonly paymentsReceived: number;
  readonly arrears: number;
  readonly currentCharges: number;
  readonly taxAmount: number;
  readonly adjustments: number;
  readonly roundingAdjustment: number;
  readonly billAmount: number;
  readonly totalAmount: number;
  readonly walletApplied: number;
  readonly payableWithinDueDate: number;
  readonly latePaymentSurcharge: number;
  readonly payableAfterDueDate: number;
  readonly paidAmount: number;
  readonly outstandingAmount: number;
  readonly creditBalance: number;
  readonly surcharges: readonly DocumentLine[];
  readonly sections: readonly DocumentSection[];
  readonly history: readonly DocumentTerm[];
  readonly bankAccounts: readonly DocumentBankAccount[];
};

/** The text printed below a bill's figures, with placeholders. */
export type DocumentTemplate = { readonly body: string };

/** All that a bill's document depends on: same input, same bytes. */
export type BillDocumentInput = {
  readonly bill: BillDocument;
  readonly letterhead: Letterhead;
  /** The words of the document and the forms of its numbers and dates: a BCP 47 tag. */
  readonly locale: string;
  readonly template?: DocumentTemplate | null;
  /** Unless given, those of the bill. */
  readonly bankAccounts?: readonly DocumentBankAccount[];
  readonly history?: readonly DocumentTerm[];
  /** Unless given, that of the letterhead. */
  readonly pageSize?: PageSize;
  /** Whether the workspace pays it: to a vendor, to an employee. */
  readonly isOwedByUs?: boolean;
  /** Unless given, what is usual for the currency. */
  readonly currencyDecimals?: number;
};
