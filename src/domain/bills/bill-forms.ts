// The forms of a bill after rating. The stored form leaves out what follows from the rest, so that
// a row stays small. The presented form is complete: the API answers it, documents are made from
// it, and a simulated bill has it too.
import { wireDay } from '../../base/days.ts';
import { majorUnits } from '../../base/money.ts';
import type { PresentedBankAccount } from '../pricing/bank-accounts-store.ts';
import type {
  Bill,
  BillError,
  BillLine,
  BillReading,
  BillUsage,
  LineDetail,
} from '../rating/bill.ts';
import type { FrozenBillInputs, FrozenInputs } from '../rating/frozen-inputs.ts';
import type { HoldReason } from '../rating/rate/hold.ts';
import type { CancellationRow } from './cancellations-store.ts';
import { billReference } from './reference.ts';

type LineKey = 'component' | 'label' | 'type' | 'amount';

/** A line without what the bill says for all its lines. Amounts are minor units. */
export type StoredLine = Pick<BillLine, LineKey> & {
  -readonly [Field in Exclude<keyof BillLine, LineKey | 'lineNo'>]?: NonNullable<BillLine[Field]>;
} & {
  /** Only on a bill of several subscriptions. */
  connectionNumber?: string;
};

/** An estimate is marked, because history distinguishes it from a reading. */
export type StoredUsage = BillUsage & { estimated?: 1 };

/** What a document says of a rated subscription. */
type StoredRating = {
  tariffCode?: string;
  tariffLabel?: string;
  tariffVersion?: number;
  meterReadings?: readonly BillReading[];
  usage?: readonly StoredUsage[];
};

export type StoredSection = StoredRating & {
  connectionNumber: string;
  connectionID: number;
  connectionRefNo?: string;
  /** Its lines, in minor units. */
  subtotal: number;
};

/** Earlier terms that a bill shows. */
export const shownTerms = 12;

/** What was charged in a term before, in minor units. */
export type StoredTerm = { label: string; amount: number };

/** A payment since the last bill, in minor units. */
export type StoredPayment = {
  /** DD/MM/YYYY. */
  date: string;
  amount: number;
};

export type StoredError = BillError & { connectionNumber?: string };

export type StoredDocument = StoredRating & {
  partyNumber: number;
  partyName: string;
  address?: object;
  connectionRefNo?: string;
  connectionGroupLabel?: string;
  lines?: readonly StoredLine[];
  surcharges?: readonly StoredLine[];
  sections?: readonly StoredSection[];
  /** Of a bill that has no use of its own to show, newest first. */
  history?: readonly StoredTerm[];
  /** YYYYMM of each term of the history, newest first: "202506 202505". */
  historyMonths?: string;
  /** By day, the oldest first; absent unless they come to the payments received. */
  payments?: readonly StoredPayment[];
  errors?: readonly StoredError[];
  /** Rules that hold it back. */
  holds?: readonly HoldReason[];
};

/** To the document of a bill, or to one of its sections. */
export function addRating(stored: StoredRating, bill: Bill, frozen: FrozenInputs): void {
  const { tariffVersion } = lineDefaults(bill);
  if (bill.tariffCode !== null) stored.tariffCode = bill.tariffCode;
  if (bill.tariffLabel !== null) stored.tariffLabel = bill.tariffLabel;
  if (tariffVersion !== null) stored.tariffVersion = tariffVersion;
  if (bill.meterReadings.length > 0) stored.meterReadings = bill.meterReadings;
  if (bill.usage.length > 0) stored.usage = storedUsage(bill, frozen);
}

function storedUsage(bill: Bill, frozen: FrozenInputs): readonly StoredUsage[] {
  const estimated = (frozen.meters ?? []).filter((meter) => meter.current?.type === 'Estimated');
  if (estimated.length === 0) return bill.usage;
  const inputs = new Set(estimated.map((meter) => meter.input));
  return bill.usage.map((item) => (inputs.has(item.input) ? { ...item, estimated: 1 } : item));
}

/** What lines leave out because the bill says it. */
export type LineDefaults = {
  fromDate: string | null;
  toDate: string | null;
  days: number;
  tariffCode: string | null;
  tariffVersion: number | null;
};

export function lineDefaults(bill: Bill): LineDefaults {
  const first = bill.lines[0] ?? bill.surcharges[0];
  return {
    fromDate: bill.billedFrom,
    toDate: bill.billedTo,
    days: bill.days,
    tariffCode: bill.tariffCode,
    tariffVersion: first === undefined ? null : first.tariffVersion,
  };
}

export function storedLine(line: BillLine, defaults: LineDefaults): StoredLine {
  const stored: StoredLine = {
    component: line.component,
    label: line.label,
    type: line.type,
    amount: line.amount,
  };
  if (line.computedAmount !== line.amount) stored.computedAmount = line.computedAmount;
  if (line.lineType !== 'Normal') stored.lineType = line.lineType;
  if (line.source !== 'Computed') stored.source = line.source;
  if (line.fromDate !== defaults.fromDate) stored.fromDate = line.fromDate;
  if (line.toDate !== defaults.toDate) stored.toDate = line.toDate;
  if (line.days !== defaults.days) stored.days = line.days;
  if (line.quantity !== null) stored.quantity = line.quantity;
  if (line.unit !== null) stored.unit = line.unit;
  if (line.rate !== null) stored.rate = line.rate;
  if (line.details.length > 0) stored.details = line.details;
  if (line.tariffCode !== defaults.tariffCode) stored.tariffCode = line.tariffCode;
  if (line.tariffVersion !== defaults.tariffVersion) stored.tariffVersion = line.tariffVersion;
  if (line.description !== null) stored.description = line.description;
  if (line.basis !== undefined) stored.basis = line.basis;
  return stored;
}

/** A bill as it is read. Dates are YYYY-MM-DD, amounts minor units as text, however large. */
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
  current_charges: string;
  tax_amount: string;
  rounding_adjustment: string;
  bill_amount: string;
  previous_balance: string;
  payments_received: string;
  adjustments: string;
  arrears: string;
  wallet_applied: string;
  payable: string;
  credit_balance: string;
  late_surcharge: string;
  document: StoredDocument;
  frozen: FrozenBillInputs;
};

/** What the bills of one term have in common. Dates are DD/MM/YYYY. */
export type BillSurroundings = {
  readonly termID: number;
  readonly termLabel: string;
  readonly startDate: string;
  readonly endDate: string;
  /** Null while the bill is not issued. */
  readonly issueDate: string | null;
  readonly serviceCode: string;
  readonly serviceLabel: string;
  readonly batchCode: string;
  readonly currency: string;
  readonly currencyDecimals: number;
  /** Only of a term that bills a cancelled bill again: the number of that bill. */
  readonly replacesBillNumber?: string | undefined;
  readonly bankAccounts: readonly PresentedBankAccount[];
};

/** What is paid of a bill and what is still owed, in minor units. */
export type BillPayment = { status: string; paid: bigint; outstanding: bigint };

/** Amounts are major units. */
export type PresentedLine = Omit<BillLine, 'details' | 'basis'> & {
  details: LineDetail[];
  /** Only on a bill of several subscriptions. */
  connectionNumber?: string;
};

/** The fields of a rated bill that a stored bill shows too. */
type RatedField = Exclude<
  keyof Bill,
  'status' | 'currencyScale' | 'segments' | 'errors' | 'explanation'
>;

/** Amounts are major units. */
export type PresentedBill = ReturnType<typeof presentBill>;

type Major = (minor: string | number | bigint) => number;

export function presentBill(
  bill: StoredBill,
  around: BillSurroundings,
  payment: BillPayment,
  cancellation: CancellationRow | undefined,
) {
  const { document } = bill;
  const major: Major = (minor) => majorUnits(BigInt(minor), around.currencyDecimals);
  const lines = linesOf(bill, document.lines ?? [], 1, major);
  return {
    ...headOf(bill, around, payment),
    replacesBillNumber: around.replacesBillNumber ?? null,
    replacedByBillNumber: cancellation?.replaced_by ?? null,
    creditNoteNumber: cancellation?.credit_note_number ?? null,
    meterReadings: [...(document.meterReadings ?? [])],
    usage: usageOf(document),
    lines,
    ...amountsOf(bill, payment, major),
    surcharges: linesOf(bill, document.surcharges ?? [], lines.length + 1, major),
    sections: (document.sections ?? []).map((section) => ({
      connectionNumber: section.connectionNumber,
      tariffCode: section.tariffCode ?? null,
      tariffLabel: section.tariffLabel ?? null,
      meterReadings: [...(section.meterReadings ?? [])],
      usage: usageOf(section),
      subtotal: major(section.subtotal),
    })),
    history: historyOf(bill, major),
    bankAccounts: [...around.bankAccounts],
  } satisfies Record<RatedField, unknown> & Record<string, unknown>;
}

function headOf(bill: StoredBill, around: BillSurroundings, payment: BillPayment) {
  const { document, frozen } = bill;
  const isOfOne = !('subscriptions' in frozen);
  return {
    billID: bill.bill_id,
    billNumber: bill.bill_number,
    billRefNo: billReference(bill.bill_id),
    billType: bill.bill_type,
    status: bill.status,
    paymentStatus: payment.status,
    termID: around.termID,
    termLabel: around.termLabel,
    serviceCode: around.serviceCode,
    serviceLabel: around.serviceLabel,
    batchCode: around.batchCode,
    tariffCode: document.tariffCode ?? null,
    tariffLabel: document.tariffLabel ?? null,
    connectionID: bill.subscription_id,
    connectionNumber: isOfOne ? (frozen.connection?.connectionNumber ?? null) : null,
    connectionRefNo: document.connectionRefNo ?? null,
    connectionGroupID: bill.account_id,
    connectionGroupLabel: document.connectionGroupLabel ?? null,
    partyID: bill.party_id,
    partyNumber: document.partyNumber,
    partyName: document.partyName,
    address: (document.address ?? null) as Record<string, unknown> | null,
    currency: around.currency,
    issueDate: around.issueDate,
    startDate: around.startDate,
    endDate: around.endDate,
    dueDate: wireDay(bill.due_date),
    billedFrom: bill.billed_from === null ? null : wireDay(bill.billed_from),
    billedTo: bill.billed_to === null || bill.days === 0 ? null : wireDay(bill.billed_to),
    days: bill.days,
  };
}

function amountsOf(bill: StoredBill, { paid, outstanding }: BillPayment, major: Major) {
  return {
    previousBalance: major(bill.previous_balance),
    paymentsReceived: major(bill.payments_received),
    arrears: major(bill.arrears),
    currentCharges: major(bill.current_charges),
    taxAmount: major(bill.tax_amount),
    adjustments: major(bill.adjustments),
    roundingAdjustment: major(bill.rounding_adjustment),
    billAmount: major(bill.bill_amount),
    totalAmount: major(BigInt(bill.arrears) + BigInt(bill.bill_amount)),
    walletApplied: major(bill.wallet_applied),
    payableWithinDueDate: major(bill.payable),
    latePaymentSurcharge: major(bill.late_surcharge),
    payableAfterDueDate: major(BigInt(bill.payable) + BigInt(bill.late_surcharge)),
    paidAmount: major(paid),
    outstandingAmount: major(outstanding),
    creditBalance: major(bill.credit_balance),
  };
}

function usageOf({ usage = [] }: { usage?: readonly StoredUsage[] }): BillUsage[] {
  return usage.map(({ estimated: _estimated, ...item }) => item);
}

function linesOf(
  { document, billed_from: from, billed_to: to, days }: StoredBill,
  lines: readonly StoredLine[],
  firstNo: number,
  major: Major,
): PresentedLine[] {
  const defaults: LineDefaults = {
    fromDate: from === null ? null : wireDay(from),
    toDate: to === null ? null : wireDay(to),
    days,
    tariffCode: document.tariffCode ?? null,
    tariffVersion: document.tariffVersion ?? null,
  };
  return lines.map((line, index) => presentedLine(line, firstNo + index, defaults, major));
}

/** The inverse of `storedLine`. */
function presentedLine(
  line: StoredLine,
  lineNo: number,
  defaults: LineDefaults,
  major: Major,
): PresentedLine {
  const whole: PresentedLine = {
    lineNo,
    component: line.component,
    label: line.label,
    type: line.type,
    lineType: line.lineType ?? 'Normal',
    source: line.source ?? 'Computed',
    fromDate: line.fromDate ?? defaults.fromDate ?? '',
    toDate: line.toDate ?? defaults.toDate ?? '',
    days: line.days ?? defaults.days,
    quantity: line.quantity ?? null,
    unit: line.unit ?? null,
    rate: line.rate ?? null,
    amount: major(line.amount),
    computedAmount: major(line.computedAmount ?? line.amount),
    details: [...(line.details ?? [])],
    tariffCode: line.tariffCode ?? defaults.tariffCode ?? '',
    tariffVersion: line.tariffVersion ?? defaults.tariffVersion ?? 0,
    description: line.description ?? null,
  };
  if (line.connectionNumber !== undefined) whole.connectionNumber = line.connectionNumber;
  return whole;
}

/** Earlier usage of the input that the bill names first, else what was charged. Newest first. */
function historyOf({ document, frozen }: StoredBill, major: Major) {
  const input = document.usage?.[0]?.input;
  const isOfOne = !('subscriptions' in frozen);
  const known = isOfOne && input !== undefined ? (frozen.usageHistory?.[input] ?? []) : [];
  const used = known.filter((term) => !term.isOfFormerOwner);
  const terms: { label: string; quantity: string | null; amount: number | null }[] =
    used.length > 0
      ? used.map(({ label, quantity }) => ({ label: label ?? '', quantity, amount: null }))
      : (document.history ?? []).map(({ label, amount }) => ({
          label,
          quantity: null,
          amount: major(amount),
        }));
  return terms.slice(0, shownTerms).map((term) => ({ ...term, paidAmount: null as number | null }));
}
