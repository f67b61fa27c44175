// A bill as it is stored: fields that can be computed from others are left out, so that a row stays
// small, and are added again when the bill is read.
import type { Bill, BillError, BillLine, BillReading, BillUsage } from '../rating/bill.ts';
import type { FrozenInputs } from '../rating/frozen-inputs.ts';
import type { HoldReason } from '../rating/rate/hold.ts';

/** A line without what the bill says for all its lines. Amounts are minor units. */
export type StoredLine = {
  component: string;
  label: string;
  type: BillLine['type'];
  amount: number;
  computedAmount?: number;
  lineType?: BillLine['lineType'];
  source?: BillLine['source'];
  fromDate?: string;
  toDate?: string;
  days?: number;
  quantity?: string;
  unit?: string;
  rate?: string;
  details?: BillLine['details'];
  tariffCode?: string;
  tariffVersion?: number;
  description?: string;
  /** Only on a bill of several subscriptions. */
  connectionNumber?: string;
};

/** An estimate is marked, because history tells it from what was read. */
export type StoredUsage = BillUsage & { estimated?: 1 };

export type StoredSection = {
  connectionNumber: string;
  connectionID: number;
  connectionRefNo?: string;
  tariffCode?: string;
  tariffLabel?: string;
  tariffVersion?: number;
  meterReadings?: readonly BillReading[];
  usage?: readonly StoredUsage[];
  /** Its lines, in minor units. */
  subtotal: number;
};

/** What was charged in a term before, in minor units. */
export type StoredTerm = { label: string; amount: number };

export type StoredError = BillError & { connectionNumber?: string };

export type StoredDocument = {
  partyNumber: number;
  partyName: string;
  address?: object;
  connectionRefNo?: string;
  connectionGroupLabel?: string;
  tariffCode?: string;
  tariffLabel?: string;
  tariffVersion?: number;
  meterReadings?: readonly BillReading[];
  usage?: readonly StoredUsage[];
  lines?: readonly StoredLine[];
  surcharges?: readonly StoredLine[];
  sections?: readonly StoredSection[];
  /** Of a bill that has no use of its own to show, newest first. */
  history?: readonly StoredTerm[];
  errors?: readonly StoredError[];
  /** Rules that hold it back. */
  holds?: readonly HoldReason[];
};

export function storedUsage(bill: Bill, frozen: FrozenInputs): readonly StoredUsage[] {
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
  return stored;
}

export type WholeLine = BillLine & { connectionNumber?: string };

export function wholeLine(line: StoredLine, lineNo: number, defaults: LineDefaults): WholeLine {
  const whole: WholeLine = {
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
    amount: line.amount,
    computedAmount: line.computedAmount ?? line.amount,
    details: line.details ?? [],
    tariffCode: line.tariffCode ?? defaults.tariffCode ?? '',
    tariffVersion: line.tariffVersion ?? defaults.tariffVersion ?? 0,
    description: line.description ?? null,
  };
  return line.connectionNumber === undefined
    ? whole
    : { ...whole, connectionNumber: line.connectionNumber };
}
