// A stored bill as its document shows it. Figures that change after issue, such as payments, are
// shown as they were on that day: the document is the same whenever it is made.

import { majorUnits } from '../../base/money.ts';
import {
  type BillPayment,
  presentBill,
  type StoredBill,
  type StoredDocument,
} from '../bills/bill-forms.ts';
import type { CancellationRow } from '../bills/cancellations-store.ts';
import type {
  BillDocument,
  BillDocumentInput,
  CreditNoteDocument,
  DocumentLine,
  DocumentTerm,
  DocumentUsage,
} from '../documents/bill-document.ts';
import { type Letterhead, readLetterhead } from '../documents/letterhead.ts';
import type { BillUsage } from '../rating/bill.ts';
import type { FrozenBillInputs, FrozenInputs } from '../rating/frozen-inputs.ts';
import { type RenderSetting, templatesForPayers } from './document-setting.ts';

/** With JSON that only the rendering thread reads. */
export type BillToRender = Omit<StoredBill, 'document' | 'frozen'> & {
  document: string;
  frozen: string;
};

/** The document of a bill, or what came after it: that of its cancellation or of a credit note. */
export type DocumentToRender = BillToRender & {
  cancellation?: CancellationRow;
  creditNote?: CreditNoteDocument;
};

export function letterheadOf({ organisation }: RenderSetting): Letterhead {
  return readLetterhead(organisation);
}

export function billInput(
  setting: RenderSetting,
  letterhead: Letterhead,
  bill: BillToRender,
  cancellation?: CancellationRow,
): BillDocumentInput {
  return inputWith(setting, letterhead, billDocument(setting, bill, cancellation));
}

function inputWith(
  setting: RenderSetting,
  letterhead: Letterhead,
  bill: BillDocument,
): BillDocumentInput {
  const { isOwedByWorkspace = false, template } = setting;
  const isForPayers = template.templateID === templatesForPayers.notes;
  return {
    bill,
    letterhead,
    locale: setting.locale,
    template:
      isOwedByWorkspace && isForPayers
        ? null
        : { body: setting.body, secondBody: setting.second?.body ?? '' },
    secondLocale: setting.second?.locale ?? null,
    amountInWords: setting.amountInWords,
    isOwedByWorkspace,
    currencyDecimals: setting.currencyDecimals,
  };
}

function billDocument(
  setting: RenderSetting,
  row: BillToRender,
  cancellation: CancellationRow | undefined,
): BillDocument {
  const document = JSON.parse(row.document) as StoredDocument;
  const frozen = JSON.parse(row.frozen) as FrozenBillInputs;
  const bill: StoredBill = { ...row, status: shownStatus(row.status), document, frozen };
  const presented = presentBill(bill, setting, paymentAtIssue(row), cancellation);
  const all = 'subscriptions' in frozen ? frozen.subscriptions : [frozen];
  const [own] = 'subscriptions' in frozen ? [] : [frozen];
  const labels = setting.inputLabels ?? {};
  return {
    ...presented,
    ...previousTermOf(all),
    ...paymentsOf(document, setting.currencyDecimals),
    lines: withBasis(presented.lines, document),
    usage: documentUsage(presented.usage, own, labels),
    sections: presented.sections.map((section) => ({
      ...section,
      usage: documentUsage(
        section.usage,
        all.find((one) => one.connection?.connectionNumber === section.connectionNumber),
        labels,
      ),
    })),
    history: withMonths(presented.history, document).toReversed(),
  };
}

function paymentsOf({ payments }: StoredDocument, decimals: number) {
  if (payments === undefined) return {};
  const major = (minor: number) => majorUnits(BigInt(minor), decimals);
  return { payments: payments.map(({ date, amount }) => ({ date, amount: major(amount) })) };
}

function withBasis(
  lines: readonly DocumentLine[],
  { lines: stored = [] }: StoredDocument,
): readonly DocumentLine[] {
  return lines.map((line, index) => {
    const basis = stored[index]?.basis;
    return basis === undefined ? line : { ...line, basis };
  });
}

function withMonths(
  history: readonly DocumentTerm[],
  { historyMonths = '' }: StoredDocument,
): readonly DocumentTerm[] {
  const months = historyMonths.split(' ');
  if (months.length !== history.length) return history;
  return history.map((term, index) => ({ ...term, month: months[index] ?? '' }));
}

function previousTermOf(all: readonly FrozenInputs[]): Pick<BillDocument, 'previousTerm'> {
  const previousTerm = all.find((one) => one.previousTerm)?.previousTerm;
  if (!previousTerm) return {};
  const { startDate, endDate } = previousTerm.term;
  return { previousTerm: { startDate, endDate } };
}

/** Until it is issued, a bill is printed as a draft. */
function shownStatus(status: string): string {
  return status === 'Published' || status === 'Cancelled' ? status : 'Draft';
}

/** What the wallet paid when the bill was posted. */
function paymentAtIssue(bill: BillToRender): BillPayment {
  const amount = BigInt(bill.bill_amount);
  const wallet = BigInt(bill.wallet_applied);
  const used = wallet < amount ? wallet : amount;
  const paid = used > 0n ? used : 0n;
  const status = paid >= amount ? 'Paid' : paid > 0n ? 'PartiallyPaid' : 'Unpaid';
  return { status, paid, outstanding: amount - paid };
}

/** With the words for each input, and the units that were carried in from earlier bills. */
function documentUsage(
  usage: readonly BillUsage[],
  frozen: FrozenInputs | undefined,
  labels: Readonly<Record<string, string>>,
): DocumentUsage[] {
  const carriedUnits = frozen?.carriedUnits ?? {};
  return usage.map((item) => ({
    ...item,
    ...(Object.hasOwn(labels, item.input) && { label: labels[item.input] }),
    ...(Object.hasOwn(carriedUnits, item.input) && { carriedIn: carriedUnits[item.input] }),
  })) as DocumentUsage[];
}
