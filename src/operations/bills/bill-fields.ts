// A bill on the wire: one schema for stored and simulated bills, and what the API shows with a
// stored bill beyond its presented form.
import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import { wireDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import { majorUnits } from '../../base/money.ts';
import {
  type BillPayment,
  type BillSurroundings,
  type PresentedBill,
  presentBill,
  shownTerms,
} from '../../domain/bills/bill-forms.ts';
import { findCancellations, findReplacedNumbers } from '../../domain/bills/cancellations-store.ts';
import { type DeliveryRow, listDeliveries } from '../../domain/bills/deliveries-store.ts';
import { type DocumentRow, listDocuments } from '../../domain/bills/documents-store.ts';
import { type EarlierBillRow, listEarlierBills } from '../../domain/bills/earlier-bills-store.ts';
import { listSurcharges } from '../../domain/bills/late/surcharge-store.ts';
import type { BillRow } from '../../domain/bills/list-store.ts';
import type { presentSimulatedBill } from '../../domain/bills/simulated-bill.ts';
import {
  listBankAccounts,
  type PresentedBankAccount,
  presentBankAccounts,
} from '../../domain/pricing/bank-accounts-store.ts';
import type { BillLine, BillReading, BillUsage } from '../../domain/rating/bill.ts';
import type { Tenant } from '../../domain/tenants/tenant.ts';
import { money, nullable, timestamp, ts } from '../fields.ts';
import { componentView, presentComponents } from './component-fields.ts';
import { postedSurcharges, surchargeProperties } from './surcharge-fields.ts';

const text = Type.String();
const maybeText = nullable(Type.String());
const maybeInteger = nullable(Type.Integer());
const integer = Type.Integer();
const flag = Type.Integer({ description: '0 or 1' });
const anything = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
});

const line = Type.Object({
  lineNo: integer,
  component: text,
  label: text,
  type: text,
  lineType: text,
  source: text,
  fromDate: text,
  toDate: text,
  days: integer,
  quantity: maybeText,
  unit: maybeText,
  rate: maybeText,
  amount: money,
  computedAmount: money,
  details: Type.Array(anything),
  tariffCode: text,
  tariffVersion: integer,
  description: maybeText,
} satisfies Record<Exclude<keyof BillLine, 'basis'>, unknown>);

const reading = Type.Object({
  meterNumber: integer,
  register: maybeText,
  mf: Type.Number(),
  previousDate: maybeText,
  previousReading: maybeText,
  currentDate: maybeText,
  currentReading: maybeText,
  readingType: maybeText,
  estimated: integer,
  rollover: integer,
  consumption: text,
} satisfies Record<keyof BillReading, unknown>);

const usage = Type.Array(
  Type.Object({
    input: text,
    unit: maybeText,
    quantity: text,
    carried: Type.Optional(text),
  } satisfies Record<keyof BillUsage, unknown>),
);

const lineOfBill = Type.Object({ ...line.properties, connectionNumber: Type.Optional(text) });
const surcharge = Type.Object({ ...lineOfBill.properties, ...surchargeProperties });

const billError = Type.Object({
  code: text,
  message: text,
  component: Type.Optional(text),
  meterNumber: Type.Optional(integer),
});

const presentedBill = {
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
  surcharges: Type.Array(surcharge),
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
} satisfies Record<keyof PresentedBill, unknown>;

export const billView = Type.Object({
  ...presentedBill,
  components: Type.Array(componentView),
  documents: Type.Array(Type.Object({ type: text, documentID: integer, createdAt: timestamp })),
  deliveries: Type.Array(
    Type.Object({ channel: text, to: maybeText, status: text, at: timestamp }),
  ),
  errors: Type.Array(
    Type.Object({ ...billError.properties, connectionNumber: Type.Optional(text) }),
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

/** There only once a bill was posted. */
const later = nullable(Type.String());
const nothing = Type.Array(anything);
const {
  billID: _bill,
  replacesBillNumber: _replaces,
  replacedByBillNumber: _replacedBy,
  creditNoteNumber: _creditNote,
  termID: _term,
  connectionID: _connection,
  connectionGroupID: _account,
  partyID: _party,
  partyNumber: _partyNumber,
  ...simulatedFields
} = presentedBill;

export const simulatedBill = Type.Object({
  ...simulatedFields,
  billRefNo: later,
  batchCode: later,
  partyName: later,
  termLabel: maybeText,
  currency: maybeText,
  dueDate: maybeText,
  lines: Type.Array(line),
  surcharges: Type.Array(line),
  sections: nothing,
  history: nothing,
  bankAccounts: nothing,
  documents: nothing,
  deliveries: nothing,
  errors: Type.Array(billError),
  hold: integer,
} satisfies Record<keyof ReturnType<typeof presentSimulatedBill>['bill'], unknown>);

export const lineExplanation = Type.Object({
  lineNo: integer,
  component: text,
  formula: maybeText,
  when: maybeText,
  scope: text,
  fromDate: text,
  toDate: text,
  days: integer,
  factor: text,
  names: Type.Array(Type.Object({ name: text, value: text, unit: maybeText, source: anything })),
  steps: Type.Array(Type.Object({ expression: text, value: text })),
  exact: text,
  rounding: Type.Object({ scale: integer, mode: text }),
  amount: money,
  text,
});

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
  const late = rows.filter((row) => row.surcharged_on !== null).map((row) => row.bill_id);
  const [
    components,
    documents,
    surcharges,
    deliveries,
    earlier,
    replaced,
    cancellations,
    ...accounts
  ] = await Promise.all([
    presentComponents(tx, tenant, rows),
    listDocuments(tx, tenantId, ids),
    listSurcharges(tx, tenantId, late),
    listDeliveries(tx, tenantId, ids),
    listEarlierBills(tx, tenantId, ofOne, shownTerms),
    findReplacedNumbers(tx, tenantId, terms),
    findCancellations(tx, tenantId, cancelled),
    ...contexts.map((contextId) => listBankAccounts(tx, tenantId, contextId)),
  ]);
  const documentsOf = Map.groupBy(documents, (row) => row.bill_id);
  const surchargesOf = Map.groupBy(surcharges, (row) => row.bill_id);
  const deliveriesOf = Map.groupBy(deliveries, (row) => row.bill_id);
  const earlierOf = Map.groupBy(earlier, (row) => row.bill_id);
  const banks = accounts.map(presentBankAccounts);
  return rows.map((row) => {
    const id = row.bill_id;
    const bankAccounts = banks[contexts.indexOf(row.context_id)] ?? [];
    const around = surroundingsOf(row, tenant, replaced, bankAccounts);
    const bill = presentBill(row, around, paymentOf(row), cancellations.get(id));
    return {
      ...bill,
      components: components.get(id) ?? [],
      surcharges: row.surcharged_on
        ? postedSurcharges(bill, surchargesOf.get(id) ?? [], tenant.currencyDecimals)
        : bill.surcharges,
      history: withPayments(bill.history, earlierOf.get(id) ?? [], around),
      ...recordOf(row, tenant, documentsOf.get(id) ?? [], deliveriesOf.get(id) ?? []),
    };
  });
}

export function surroundingsOf(
  row: BillRow,
  { currency, currencyDecimals }: Tenant,
  replaced: ReadonlyMap<number, string>,
  bankAccounts: readonly PresentedBankAccount[],
): BillSurroundings {
  return {
    termID: row.term_id,
    termLabel: row.term_label,
    startDate: wireDay(row.start_date),
    endDate: wireDay(row.end_date),
    issueDate: row.issue_date === null ? null : wireDay(row.issue_date),
    serviceCode: row.context_code,
    serviceLabel: row.context_name,
    batchCode: row.batch_code,
    currency,
    currencyDecimals,
    replacesBillNumber: replaced.get(row.term_id),
    bankAccounts,
  };
}

/** Nothing is owed on a bill that is not posted, was left out of posting or was cancelled. */
export function paymentOf(row: BillRow): BillPayment {
  const isOwed = row.status === 'Posted' || row.status === 'Published';
  const paid = BigInt(row.paid_amount);
  const outstanding = isOwed ? BigInt(row.open_amount) : 0n;
  return { status: row.payment_status, paid, outstanding };
}

/** What was billed and paid in each of the terms, also by bills of several subscriptions. */
function withPayments(
  history: PresentedBill['history'],
  bills: readonly EarlierBillRow[],
  { currencyDecimals }: BillSurroundings,
): PresentedBill['history'] {
  const amount = (minor: string | undefined) =>
    minor === undefined ? null : majorUnits(BigInt(minor), currencyDecimals);
  // Terms of two batches may have one label: both lists begin with the newest.
  const billsOf = Map.groupBy(bills, (bill) => bill.label);
  return history.map((term) => {
    if (!billsOf.has(term.label)) return term;
    const bill = billsOf.get(term.label)?.shift();
    return { ...term, amount: amount(bill?.bill_amount), paidAmount: amount(bill?.paid_amount) };
  });
}

/** What became of the bill: its documents and deliveries, its errors and its changes. */
export function recordOf(
  row: BillRow,
  { timezone }: Tenant,
  documents: readonly DocumentRow[],
  deliveries: readonly DeliveryRow[],
) {
  // What keeps a posted bill from being published.
  const unpublishable = row.status === 'Posted' ? documents.flatMap((one) => one.error ?? []) : [];
  return {
    documents: documents
      .filter((one) => one.error === null)
      .map((one) => ({
        type: one.format,
        documentID: one.document_id,
        createdAt: formatTimestamp(one.created_at, timezone),
      })),
    deliveries: deliveries.map((one) => ({
      channel: one.channel,
      to: one.recipient,
      status: one.status,
      at: formatTimestamp(one.at, timezone),
    })),
    errors: [...(row.document.errors ?? []), ...unpublishable],
    hold: row.status === 'Hold' ? 1 : 0,
    holdReason: row.hold_reason,
    createdAt: formatTimestamp(row.created_at, timezone),
    createdBy: row.created_by,
    modifiedAt: formatTimestamp(row.modified_at, timezone),
    modifiedBy: row.modified_by,
    ts: row.ts,
  };
}
