// What a bill's document is made with besides the bill: the same for all bills of a term, and fixed
// when they are published.
import type { EInvoiceSetting } from '../documents/e-invoice/setting.ts';
import type { PresentedBankAccount } from '../pricing/bank-accounts-store.ts';

/** As it is kept. */
export type DocumentSetting = {
  organisation: { name: string; country: string; letterhead: object };
  locale: string;
  currency: string;
  currencyDecimals: number;
  serviceCode: string;
  serviceLabel: string;
  batchCode: string;
  termID: number;
  termLabel: string;
  /** DD/MM/YYYY, as the other. */
  startDate: string;
  endDate: string;
  bankAccounts: readonly PresentedBankAccount[];
  template: { templateID: number; version: number };
  /** What inputs are called, by name; only where some are called otherwise. */
  inputLabels?: Readonly<Record<string, string>>;
  /** Only of a term that bills a cancelled bill again: the number of that bill. */
  replacesBillNumber?: string;
  /** Only where the workspace wants e-invoices. */
  eInvoice?: EInvoiceSetting;
  /** Only where it is so: the workspace pays what it bills. */
  isOwedByWorkspace?: true;
};

/**
 * The templates of a new workspace. They address a payer, so bills that the workspace pays use
 * other templates only.
 */
export const templatesForPayers = { notes: 1, mail: 2 };

/** With the text of the template, and the day on which bills made with it are issued. */
export type RenderSetting = DocumentSetting & {
  /** DD/MM/YYYY; null while nothing is issued. */
  issueDate: string | null;
  /** The notes, in the language of the document if the template has it. */
  body: string;
  /** Labels and notes are printed in this language too. */
  second: { locale: string; body: string } | null;
  amountInWords: boolean;
  /** Of mails alone, as it is when they are sent. */
  portalAddress?: string | null;
};
