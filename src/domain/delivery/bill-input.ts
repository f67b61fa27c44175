// A stored bill as its document shows it. Figures that change after issue, such as payments, are
// shown as they were on that day: the document is the same whenever it is made.
import { wireDay } from '../../base/days.ts';
import { majorUnits } from '../../base/money.ts';
import type { CancellationRow } from '../bills/cancellations-store.ts';
import {
  type LineDefaults,
  type StoredDocument,
  type StoredLine,
  type StoredSection,
  type StoredUsage,
  wholeLine,
} from '../bills/document.ts';
import { billReference } from '../bills/reference.ts';
import type {
  BillDocument,
  BillDocumentInput,
  DocumentLine,
  DocumentSection,
  DocumentTerm,
  DocumentUsage,
} from '../documents/bill-document.ts';
import { type Letterhead, readLetterhead } from '../documents/letterhead.ts';
import type { FrozenInputs } from '../rating/frozen-inputs.ts';
import { type RenderSetting, templatesForPayers } from './document-setting.ts';

/** A row of bills. Dates are YYYY-MM-DD, amounts minor units; the last two are JSON. */
export type StoredBill = {
  bill_id: number;
  bill_number: string | null;
  bill_type: string;
  status: string;
  subscription_id: number | null;
  account_id: number | null;
  party_id: number;
  due_date: string;
  billed_from: string | null;
  billed_to: string | null;
  days: number;
  current_charges: number;
  tax_amount: number;
  rounding_adjustment: number;
  bill_amount: number;
  previous_balance: number;
  payments_received: number;
  adjustments: number;
  arrears: number;
  wallet_applied: number;
  payable: number;
  credit_balance: number;
  late_surcharge: number;
  document: string;
  frozen: string;
};

/** Of one subscription, or of each of several. */
type FrozenBillInputs = Partial<FrozenInputs> & { subscriptions?: readonly FrozenInputs[] };
type CarriedFacts = Pick<FrozenInputs, 'carriedUnits'>;

export function letterheadOf({ organisation }: RenderSetting): Letterhead {
  return readLetterhead(organisation);
}

export function billInput(
  setting: RenderSetting,
  letterhead: Letterhead,
  bill: StoredBill,
  cancellation?: CancellationRow,
): BillDocumentInput {
  const { isOwedByUs = false, template } = setting;
  const isForPayers = template.templateID === templatesForPayers.notes;
  return {
    bill: { ...billDocument(setting, bill), ...cancellationOf(cancellation) },
    letterhead,
    locale: setting.locale,
    template: isOwedByUs && isForPayers ? null : { body: setting.body },
    isOwedByUs,
    currencyDecimals: setting.currencyDecimals,
  };
}

function cancellationOf(row: CancellationRow | undefined): Pick<BillDocument, 'cancellation'> {
  if (row === undefined) return {};
  const { credit_note_number: creditNoteNumber, replaced_by: replacedByBillNumber } = row;
  return { cancellation: { creditNoteNumber, replacedByBillNumber } };
}

function billDocument(setting: RenderSetting, bill: StoredBill): BillDocument {
  const stored = JSON.parse(bill.document) as StoredDocument;
  const frozen = JSON.parse(bill.frozen) as FrozenBillInputs;
  const major = (minor: number) => majorUnits(BigInt(minor), setting.currencyDecimals);
  return {
    ...keysOf(setting, bill, stored, frozen),
    ...amountsOf(bill, major),
    ...contentOf(setting, bill, stored, frozen, major),
    history: historyOf(frozen, stored, major),
    bankAccounts: setting.bankAccounts,
  };
}

type Major = (minor: number) => number;

function keysOf(
  setting: RenderSetting,
  bill: StoredBill,
  stored: StoredDocument,
  frozen: FrozenBillInputs,
) {
  return {
    billID: bill.bill_id,
    billNumber: bill.bill_number,
    billRefNo: billReference(bill.bill_id),
    ...(setting.replacesBillNumber && { replacesBillNumber: setting.replacesBillNumber }),
    billType: bill.bill_type,
    status: shownStatus(bill.status),
    paymentStatus: paymentStatus(bill),
    termID: setting.termID,
    termLabel: setting.termLabel,
    serviceCode: setting.serviceCode,
    serviceLabel: setting.serviceLabel,
    batchCode: setting.batchCode,
    tariffCode: stored.tariffCode ?? null,
    tariffLabel: stored.tariffLabel ?? null,
    connectionID: bill.subscription_id,
    connectionNumber: frozen.connection?.connectionNumber ?? null,
    connectionRefNo: stored.connectionRefNo ?? null,
    connectionGroupID: bill.account_id,
    connectionGroupLabel: stored.connectionGroupLabel ?? null,
    partyID: bill.party_id,
    partyNumber: stored.partyNumber,
    partyName: stored.partyName,
    address: (stored.address as Record<string, unknown> | undefined) ?? null,
    currency: setting.currency,
    issueDate: setting.issueDate,
    startDate: setting.startDate,
    endDate: setting.endDate,
    dueDate: wireDay(bill.due_date),
    billedFrom: bill.billed_from === null ? null : wireDay(bill.billed_from),
    billedTo: bill.billed_to === null || bill.days === 0 ? null : wireDay(bill.billed_to),
    days: bill.days,
    ...previousTermOf(frozen),
  };
}

function previousTermOf(frozen: FrozenBillInputs): Pick<BillDocument, 'previousTerm'> {
  const all = [frozen, ...(frozen.subscriptions ?? [])];
  const previousTerm = all.find((one) => one.previousTerm)?.previousTerm;
  if (!previousTerm) return {};
  const { startDate, endDate } = previousTerm.term;
  return { previousTerm: { startDate, endDate } };
}

/** Until it is issued, a bill is a draft to whoever holds the paper. */
function shownStatus(status: string): string {
  return status === 'Published' || status === 'Cancelled' ? status : 'Draft';
}

/** What the wallet paid when the bill was posted. */
function paidAtIssue({ wallet_applied: wallet, bill_amount: amount }: StoredBill): number {
  return Math.max(0, Math.min(wallet, amount));
}

function paymentStatus(bill: StoredBill): string {
  const paid = paidAtIssue(bill);
  if (paid >= bill.bill_amount) return 'Paid';
  return paid > 0 ? 'PartiallyPaid' : 'Unpaid';
}

function amountsOf(bill: StoredBill, major: Major) {
  const paid = paidAtIssue(bill);
  return {
    previousBalance: major(bill.previous_balance),
    paymentsReceived: major(bill.payments_received),
    arrears: major(bill.arrears),
    currentCharges: major(bill.current_charges),
    taxAmount: major(bill.tax_amount),
    adjustments: major(bill.adjustments),
    roundingAdjustment: major(bill.rounding_adjustment),
    billAmount: major(bill.bill_amount),
    totalAmount: major(bill.bill_amount + bill.arrears),
    walletApplied: major(bill.wallet_applied),
    payableWithinDueDate: major(bill.payable),
    latePaymentSurcharge: major(bill.late_surcharge),
    payableAfterDueDate: major(bill.payable + bill.late_surcharge),
    paidAmount: major(paid),
    outstandingAmount: major(bill.bill_amount - paid),
    creditBalance: major(bill.credit_balance),
  };
}

function contentOf(
  { inputLabels = {} }: RenderSetting,
  bill: StoredBill,
  stored: StoredDocument,
  frozen: FrozenBillInputs,
  major: Major,
) {
  const defaults: LineDefaults = {
    fromDate: bill.billed_from === null ? null : wireDay(bill.billed_from),
    toDate: bill.billed_to === null ? null : wireDay(bill.billed_to),
    days: bill.days,
    tariffCode: stored.tariffCode ?? null,
    tariffVersion: stored.tariffVersion ?? null,
  };
  const lines = (items: readonly StoredLine[] | undefined) =>
    (items ?? []).map((item, index) => documentLine(item, index + 1, defaults, major));
  const usage = (items: readonly StoredUsage[] | undefined, own: CarriedFacts | undefined) =>
    (items ?? []).map((item) => documentUsage(item, inputLabels, own?.carriedUnits ?? {}));
  return {
    meterReadings: stored.meterReadings ?? [],
    usage: usage(stored.usage, frozen),
    lines: lines(stored.lines),
    surcharges: lines(stored.surcharges),
    sections: (stored.sections ?? []).map((section) => ({
      ...documentSection(section, major),
      usage: usage(section.usage, frozenOf(frozen, section)),
    })),
  };
}

function documentLine(
  item: StoredLine,
  lineNo: number,
  defaults: LineDefaults,
  major: Major,
): DocumentLine {
  const line = wholeLine(item, lineNo, defaults);
  return { ...line, amount: major(line.amount), computedAmount: major(line.computedAmount) };
}

function documentUsage(
  { input, unit, quantity, carried }: StoredUsage,
  labels: Readonly<Record<string, string>>,
  carriedUnits: Readonly<Record<string, string>>,
): DocumentUsage {
  const carriedIn = Object.hasOwn(carriedUnits, input) ? carriedUnits[input] : undefined;
  const label = Object.hasOwn(labels, input) ? labels[input] : undefined;
  return {
    input,
    unit,
    quantity,
    ...(label === undefined ? {} : { label }),
    ...(carried === undefined ? {} : { carried }),
    ...(carriedIn === undefined ? {} : { carriedIn }),
  };
}

function frozenOf(
  { subscriptions = [] }: FrozenBillInputs,
  { connectionNumber }: StoredSection,
): FrozenInputs | undefined {
  return subscriptions.find((one) => one.connection?.connectionNumber === connectionNumber);
}

function documentSection(section: StoredSection, major: Major): Omit<DocumentSection, 'usage'> {
  return {
    connectionNumber: section.connectionNumber,
    tariffCode: section.tariffCode ?? null,
    tariffLabel: section.tariffLabel ?? null,
    meterReadings: section.meterReadings ?? [],
    subtotal: major(section.subtotal),
  };
}

/**
 * Use of the terms before, of the input that the bill names first; of a bill without, what was
 * charged. Oldest first.
 */
function historyOf(
  frozen: Partial<FrozenInputs>,
  stored: StoredDocument,
  major: Major,
): DocumentTerm[] {
  const input = stored.usage?.[0]?.input;
  const known = (input === undefined ? undefined : frozen.usageHistory?.[input]) ?? [];
  const used = known.filter((term) => !term.isOfFormerOwner);
  const terms =
    used.length > 0
      ? used.map(({ label, quantity }) => ({ label: label ?? '', quantity, amount: 0 }))
      : (stored.history ?? []).map(({ label, amount }) => ({
          label,
          quantity: null,
          amount: major(amount),
        }));
  return terms.toReversed().map((term) => ({ ...term, paidAmount: 0 }));
}
