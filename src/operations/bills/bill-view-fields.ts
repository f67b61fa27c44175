// A bill as the API shows it: its stored contents, with its documents, deliveries and earlier
// bills.

import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import { wireDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import { majorUnits } from '../../base/money.ts';
import {
  type CancellationRow,
  findCancellations,
  findReplacedNumbers,
} from '../../domain/bills/cancellations-store.ts';
import { type DeliveryRow, listDeliveries } from '../../domain/bills/deliveries-store.ts';
import { type LineDefaults, type StoredLine, wholeLine } from '../../domain/bills/document.ts';
import { type DocumentRow, listDocuments } from '../../domain/bills/documents-store.ts';
import { type EarlierBillRow, listEarlierBills } from '../../domain/bills/earlier-bills-store.ts';
import { shownTerms } from '../../domain/bills/histories.ts';
import type { BillRow } from '../../domain/bills/list-store.ts';
import { billReference } from '../../domain/bills/reference.ts';
import { type BankAccountRow, listBankAccounts } from '../../domain/pricing/bank-accounts-store.ts';
import type { FrozenInputs } from '../../domain/rating/frozen-inputs.ts';
import type { Tenant } from '../../domain/tenants/tenant.ts';
import { money, nullable, timestamp, ts } from '../fields.ts';
import { anything, line, reading } from '../tariffs/bill-fields.ts';

const text = Type.String();
const maybeText = nullable(Type.String());
const maybeInteger = nullable(Type.Integer());
const integer = Type.Integer();
const flag = Type.Integer({ description: '0 or 1' });

const usage = Type.Array(
  Type.Object({
    input: text,
    unit: maybeText,
    quantity: text,
    carried: Type.Optional(text),
  }),
);

const lineOfBill = Type.Object({ ...line.properties, connectionNumber: Type.Optional(text) });

export const billView = Type.Object({
  billID: integer,
  billNumber: maybeText,
  billRefNo: text,
  replacesBillNumber: nullable(
    Type.String({ description: 'the cancelled bill that this one replaces' }),
  ),
  replacedByBillNumber: nullable(
    Type.String({ description: 'of a cancelled bill; several are separated by commas' }),
  ),
  creditNoteNumber: nullable(Type.String({ description: 'of a cancelled bill' })),
  billType: text,
  status: text,
  paymentStatus: text,
  termID: integer,
  termLabel: text,
  serviceCode: text,
  serviceLabel: text,
  batchCode: text,
  tariffCode: maybeText,
  tariffLabel: maybeText,
  connectionID: maybeInteger,
  connectionNumber: maybeText,
  connectionRefNo: maybeText,
  connectionGroupID: maybeInteger,
  connectionGroupLabel: maybeText,
  partyID: integer,
  partyNumber: integer,
  partyName: text,
  address: nullable(anything),
  currency: text,
  issueDate: maybeText,
  startDate: text,
  endDate: text,
  dueDate: text,
  billedFrom: maybeText,
  billedTo: maybeText,
  days: integer,
  meterReadings: Type.Array(reading),
  usage,
  lines: Type.Array(lineOfBill),
  previousBalance: money,
  paymentsReceived: money,
  arrears: money,
  currentCharges: money,
  taxAmount: money,
  adjustments: money,
  roundingAdjustment: money,
  billAmount: money,
  totalAmount: money,
  walletApplied: money,
  payableWithinDueDate: money,
  latePaymentSurcharge: money,
  payableAfterDueDate: money,
  paidAmount: money,
  outstandingAmount: money,
  creditBalance: money,
  surcharges: Type.Array(lineOfBill),
  sections: Type.Array(
    Type.Object({
      connectionNumber: text,
      tariffCode: maybeText,
      tariffLabel: maybeText,
      meterReadings: Type.Array(reading),
      usage,
      subtotal: money,
    }),
  ),
  history: Type.Array(
    Type.Object({
      label: text,
      quantity: maybeText,
      amount: nullable(money),
      paidAmount: nullable(money),
    }),
  ),
  bankAccounts: Type.Array(anything),
  documents: Type.Array(Type.Object({ type: text, documentID: integer, createdAt: timestamp })),
  deliveries: Type.Array(
    Type.Object({ channel: text, to: maybeText, status: text, at: timestamp }),
  ),
  errors: Type.Array(
    Type.Object({
      code: text,
      message: text,
      component: Type.Optional(text),
      meterNumber: Type.Optional(integer),
      connectionNumber: Type.Optional(text),
    }),
  ),
  hold: flag,
  holdReason: maybeText,
  createdAt: timestamp,
  createdBy: text,
  modifiedAt: timestamp,
  modifiedBy: text,
  ts,
});
export type BillView = Type.Static<typeof billView>;

/** Bills with all that is shown with them, by the same few statements however many there are. */
export async function presentBills(
  tx: Tx,
  tenant: Tenant,
  rows: readonly BillRow[],
): Promise<BillView[]> {
  if (rows.length === 0) return [];
  const { tenantId } = tenant;
  const ids = rows.map((row) => row.bill_id);
  const ofOne = rows.filter((row) => row.subscription_id !== null);
  const contexts = [...new Set(rows.map((row) => row.context_id))];
  const terms = [...new Set(rows.map((row) => row.term_id))];
  const cancelled = rows.filter((row) => row.status === 'Cancelled').map((row) => row.bill_id);
  const [documents, deliveries, earlier, replaced, cancellations, ...accounts] = await Promise.all([
    listDocuments(tx, tenantId, ids),
    listDeliveries(tx, tenantId, ids),
    listEarlierBills(tx, tenantId, ofOne, shownTerms),
    findReplacedNumbers(tx, tenantId, terms),
    findCancellations(tx, tenantId, cancelled),
    ...contexts.map((contextId) => listBankAccounts(tx, tenantId, contextId)),
  ]);
  const beside: Beside = {
    documents: Map.groupBy(documents, (row) => row.bill_id),
    deliveries: Map.groupBy(deliveries, (row) => row.bill_id),
    earlier: Map.groupBy(earlier, (row) => row.bill_id),
    replaced,
    cancellations,
    accounts: new Map(contexts.map((contextId, index) => [contextId, accounts[index] ?? []])),
  };
  return rows.map((row) => present(row, beside, tenant));
}

type Beside = {
  documents: Map<number, DocumentRow[]>;
  deliveries: Map<number, DeliveryRow[]>;
  earlier: Map<number, EarlierBillRow[]>;
  /** Numbers of cancelled bills, by the term that bills them again. */
  replaced: Map<number, string>;
  cancellations: Map<number, CancellationRow>;
  accounts: Map<number, BankAccountRow[]>;
};

function present(row: BillRow, beside: Beside, tenant: Tenant): BillView {
  const { document } = row;
  const amount = (minor: string | number | bigint) =>
    majorUnits(BigInt(minor), tenant.currencyDecimals);
  const frozen = 'subscriptions' in row.frozen ? null : row.frozen;
  const documents = beside.documents.get(row.bill_id) ?? [];
  const cancellation = beside.cancellations.get(row.bill_id);
  const lines = linesOf(row, document.lines ?? [], 1, amount);
  const surcharges = linesOf(row, document.surcharges ?? [], lines.length + 1, amount);
  return {
    ...headOf(row, tenant, frozen),
    replacesBillNumber: beside.replaced.get(row.term_id) ?? null,
    replacedByBillNumber: cancellation?.replaced_by ?? null,
    creditNoteNumber: cancellation?.credit_note_number ?? null,
    meterReadings: [...(document.meterReadings ?? [])],
    usage: usageOf(document.usage ?? []),
    lines,
    ...amountsOf(row, amount),
    surcharges,
    sections: (document.sections ?? []).map((section) => ({
      connectionNumber: section.connectionNumber,
      tariffCode: section.tariffCode ?? null,
      tariffLabel: section.tariffLabel ?? null,
      meterReadings: [...(section.meterReadings ?? [])],
      usage: usageOf(section.usage ?? []),
      subtotal: amount(section.subtotal),
    })),
    history: frozen === null ? chargedHistory(row, amount) : historyOf(row, frozen, beside, amount),
    bankAccounts: bankAccountsOf(beside.accounts.get(row.context_id) ?? []),
    documents: documents
      .filter((one) => one.error === null)
      .map((one) => ({
        type: one.format,
        documentID: one.document_id,
        createdAt: formatTimestamp(one.created_at, tenant.timezone),
      })),
    deliveries: (beside.deliveries.get(row.bill_id) ?? []).map((one) => ({
      channel: one.channel,
      to: one.recipient,
      status: one.status,
      at: formatTimestamp(one.at, tenant.timezone),
    })),
    errors: [...(document.errors ?? []), ...unpublishable(row, documents)],
    hold: row.status === 'Hold' ? 1 : 0,
    holdReason: row.hold_reason,
    createdAt: formatTimestamp(row.created_at, tenant.timezone),
    createdBy: row.created_by,
    modifiedAt: formatTimestamp(row.modified_at, tenant.timezone),
    modifiedBy: row.modified_by,
    ts: row.ts,
  };
}

/** What keeps a posted bill from being published. */
function unpublishable({ status }: BillRow, documents: readonly DocumentRow[]) {
  return status === 'Posted' ? documents.flatMap((one) => one.error ?? []) : [];
}

function headOf(row: BillRow, tenant: Tenant, frozen: FrozenInputs | null) {
  const { document } = row;
  const day = (date: string | null) => (date === null ? null : wireDay(date));
  return {
    billID: row.bill_id,
    billNumber: row.bill_number,
    billRefNo: billReference(row.bill_id),
    billType: row.bill_type,
    status: row.status,
    paymentStatus: row.payment_status,
    termID: row.term_id,
    termLabel: row.term_label,
    serviceCode: row.context_code,
    serviceLabel: row.context_name,
    batchCode: row.batch_code,
    tariffCode: document.tariffCode ?? null,
    tariffLabel: document.tariffLabel ?? null,
    connectionID: row.subscription_id,
    connectionNumber: frozen?.connection?.connectionNumber ?? null,
    connectionRefNo: document.connectionRefNo ?? null,
    connectionGroupID: row.account_id,
    connectionGroupLabel: document.connectionGroupLabel ?? null,
    partyID: row.party_id,
    partyNumber: document.partyNumber,
    partyName: document.partyName,
    address: (document.address ?? null) as Record<string, unknown> | null,
    currency: tenant.currency,
    issueDate: day(row.issue_date),
    startDate: wireDay(row.start_date),
    endDate: wireDay(row.end_date),
    dueDate: wireDay(row.due_date),
    billedFrom: day(row.billed_from),
    billedTo: row.days === 0 ? null : day(row.billed_to),
    days: row.days,
  };
}

type Amount = (minor: string | number | bigint) => number;

function amountsOf(row: BillRow, amount: Amount) {
  // Nothing is owed on what is not posted yet, was left out of posting or taken back.
  const isOwed = row.status === 'Posted' || row.status === 'Published';
  const total = BigInt(row.arrears) + BigInt(row.bill_amount);
  const after = BigInt(row.payable) + BigInt(row.late_surcharge);
  const outstanding = BigInt(row.bill_amount) - BigInt(row.paid_amount);
  return {
    previousBalance: amount(row.previous_balance),
    paymentsReceived: amount(row.payments_received),
    arrears: amount(row.arrears),
    currentCharges: amount(row.current_charges),
    taxAmount: amount(row.tax_amount),
    adjustments: amount(row.adjustments),
    roundingAdjustment: amount(row.rounding_adjustment),
    billAmount: amount(row.bill_amount),
    totalAmount: amount(total),
    walletApplied: amount(row.wallet_applied),
    payableWithinDueDate: amount(row.payable),
    latePaymentSurcharge: amount(row.late_surcharge),
    payableAfterDueDate: amount(after),
    paidAmount: amount(row.paid_amount),
    outstandingAmount: isOwed ? amount(outstanding) : 0,
    creditBalance: amount(row.credit_balance),
  };
}

function linesOf(row: BillRow, lines: readonly StoredLine[], first: number, amount: Amount) {
  const { document } = row;
  const defaults: LineDefaults = {
    fromDate: row.billed_from === null ? null : wireDay(row.billed_from),
    toDate: row.billed_to === null ? null : wireDay(row.billed_to),
    days: row.days,
    tariffCode: document.tariffCode ?? null,
    tariffVersion: document.tariffVersion ?? null,
  };
  return lines.map((stored, index) => {
    const whole = wholeLine(stored, first + index, defaults);
    return {
      ...whole,
      details: [...whole.details],
      amount: amount(whole.amount),
      computedAmount: amount(whole.computedAmount),
    };
  });
}

function usageOf(items: NonNullable<BillRow['document']['usage']>): BillView['usage'] {
  return items.map(({ estimated: _estimated, ...item }) => item);
}

/**
 * Quantities of earlier terms as they were frozen, of the input that the bill names first, with
 * what was billed and paid of them. Without use it is what was charged in them, also by bills that
 * other subscriptions were on.
 */
function historyOf(
  row: BillRow,
  frozen: FrozenInputs,
  beside: Beside,
  amount: Amount,
): BillView['history'] {
  const bills = beside.earlier.get(row.bill_id) ?? [];
  const input = row.document.usage?.[0]?.input;
  const known = (input === undefined ? undefined : frozen.usageHistory?.[input]) ?? [];
  const used = known.filter((term) => !term.isOfFormerOwner);
  // Terms of two batches may have one label: both lists begin with the newest.
  const billsOf = Map.groupBy(bills, (bill) => bill.label);
  const billed = (label: string) => {
    const bill = billsOf.get(label)?.shift();
    return {
      amount: bill ? amount(bill.bill_amount) : null,
      paidAmount: bill ? amount(bill.paid_amount) : null,
    };
  };
  const charged = chargedHistory(row, amount);
  const items =
    used.length > 0
      ? used.map(({ label, quantity }) => ({
          label: label ?? '',
          quantity,
          ...billed(label ?? ''),
        }))
      : charged.map((item) => ({
          ...item,
          ...(billsOf.has(item.label) ? billed(item.label) : {}),
        }));
  return items.slice(0, shownTerms);
}

/** What the subscriptions of the bill were charged together. */
function chargedHistory({ document }: BillRow, amount: Amount): BillView['history'] {
  return (document.history ?? []).map(({ label, amount: charged }) => ({
    label,
    quantity: null,
    amount: amount(charged),
    paidAmount: null,
  }));
}

function bankAccountsOf(rows: readonly BankAccountRow[]): BillView['bankAccounts'] {
  return rows
    .filter((row) => !row.archived)
    .map((row) => ({
      title: row.title,
      bankName: row.bank_name,
      branch: row.branch,
      accountNumber: row.account_number,
      iban: row.iban,
      swift: row.swift,
      currency: row.currency,
      isDefault: row.is_default ? 1 : 0,
      collectionCode: row.collection_code,
    }));
}
