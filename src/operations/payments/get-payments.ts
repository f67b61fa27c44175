import * as Type from 'typebox';
import { formatTimestamp, parseDate } from '../../base/calendar.ts';
import { wireDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import { majorUnits } from '../../base/money.ts';
import {
  type AllocationRow,
  countPayments,
  listAllocations,
  listPayments,
  type PaymentFilter,
  type PaymentListRow,
} from '../../domain/receivables/payments-store.ts';
import {
  date,
  fieldsOnly,
  filterOf,
  id,
  maybe,
  money,
  nullable,
  page,
  text,
  timestamp,
} from '../fields.ts';
import { listing } from '../listing.ts';
import { type Call, operation } from '../operation.ts';

const day = Type.String({ description: 'DD/MM/YYYY' });

const paymentView = {
  paymentID: Type.Integer(),
  reference: Type.String(),
  status: Type.String({ description: 'Posted, Reversed or Refunded' }),
  direction: Type.String({ description: 'In: received; Out: paid' }),
  partyID: Type.Integer(),
  partyNumber: Type.Integer(),
  partyName: Type.String(),
  connectionNumber: nullable(Type.String({ description: 'the subscription that the payer named' })),
  amount: money,
  currency: Type.String(),
  paymentDate: Type.String({ description: 'DD/MM/YYYY: the day on which the customer paid' }),
  postingDate: Type.String({ description: 'DD/MM/YYYY: the day in the books' }),
  paymentMethod: Type.String(),
  bankAccountID: nullable(Type.Integer()),
  receiptNumber: nullable(Type.String({ description: 'void if the payment is reversed' })),
  chequeNumber: nullable(Type.String()),
  clearedDate: nullable(Type.String({ description: 'DD/MM/YYYY: when the bank paid the cheque' })),
  allocations: Type.Array(
    Type.Object({
      billID: nullable(Type.Integer({ description: 'null if the item is not a bill' })),
      billNumber: nullable(Type.String()),
      kind: Type.String({ description: 'Bill, or what else was open: Opening, Deposit, Fee, …' }),
      amount: Type.Number({ description: 'with the surcharge of the bill' }),
      surchargeAmount: money,
    }),
    { description: 'what the payment settles now' },
  ),
  walletAmount: Type.Number({ description: 'the part that went into the wallet' }),
  recoveredAmount: Type.Number({ description: 'what it pays of debts that were written off' }),
  remark: nullable(Type.String()),
  reversal: nullable(Type.Object({ date: day, reason: Type.String() })),
  createdAt: timestamp,
  createdBy: Type.String(),
};

const request = Type.Object({
  paymentID: maybe(id),
  reference: maybe(text({ max: 120 })),
  partyID: maybe(id),
  partyNumber: maybe(id),
  connectionNumber: maybe(text({ max: 120 })),
  billID: maybe(id),
  status: filterOf(['Posted', 'Reversed', 'Refunded']),
  fromDate: maybe(date),
  toDate: maybe(date),
  page: Type.Optional(page),
  metaData: fieldsOnly,
});

type Listed = PaymentListRow & { allocations: readonly AllocationRow[] };

export const getPayments = operation({
  path: '/billing/payments/get-payments',
  method: 'Retrieve',
  action: 'Retrieve Payments',
  access: { permission: 'payments:read', own: 'own-payments:read' },
  summary: 'Lists payments, the newest first, with what each settles; customers see their own.',
  request,
  response: Type.Object({ payments: Type.Array(Type.Partial(Type.Object(paymentView))) }),
  errors: [],
  example: { partyNumber: 100001, page: { pageNumber: 0, size: 20 } },
  handle(call, body) {
    const { tenantId } = call.tenant;
    const filter = filterSent(body, call);
    const rows = async (
      tx: Tx,
      window: { offset: number; limit: number; beforeId: number | null },
    ) => withAllocations(tx, tenantId, await listPayments(tx, tenantId, filter, window));
    return listing(call, {
      page: body.page,
      fields: body.metaData?.fields,
      count: (tx) => countPayments(tx, tenantId, filter),
      at: (tx, window) => rows(tx, { ...window, beforeId: null }),
      after: (tx, { after, limit }) =>
        rows(tx, { offset: 0, limit, beforeId: after?.payment_id ?? null }),
      present: (row: Listed) => present(row, call),
      wrap: (payments) => ({ payments }),
    });
  },
});

async function withAllocations(
  tx: Tx,
  tenantId: number,
  rows: readonly PaymentListRow[],
): Promise<Listed[]> {
  const ids = rows.map((row) => row.payment_id);
  const allocations = ids.length === 0 ? [] : await listAllocations(tx, tenantId, ids);
  const byPayment = Map.groupBy(allocations, (row) => row.payment_id);
  return rows.map((row) => ({ ...row, allocations: byPayment.get(row.payment_id) ?? [] }));
}

function filterSent(body: Type.Static<typeof request>, { ownPartyId }: Call): PaymentFilter {
  const isOther = ownPartyId !== null && body.partyID && body.partyID !== ownPartyId;
  return {
    // No payment has this id.
    paymentId: isOther ? 0 : (body.paymentID ?? null),
    reference: body.reference || null,
    partyId: ownPartyId ?? body.partyID ?? null,
    partyNumber: body.partyNumber ?? null,
    connectionNumber: body.connectionNumber || null,
    billId: body.billID ?? null,
    status: body.status ?? null,
    fromDate: body.fromDate ? (parseDate(body.fromDate)?.toString() ?? null) : null,
    toDate: body.toDate ? (parseDate(body.toDate)?.toString() ?? null) : null,
  };
}

function present(row: Listed, { tenant }: Call) {
  const amount = (minor: string) => majorUnits(BigInt(minor), tenant.currencyDecimals);
  return {
    paymentID: row.payment_id,
    reference: row.reference,
    status: row.status,
    direction: row.direction,
    partyID: row.party_id,
    partyNumber: row.party_number,
    partyName: row.party_name,
    connectionNumber: row.subscription_number,
    amount: amount(row.amount),
    currency: tenant.currency,
    paymentDate: wireDay(row.value_date),
    postingDate: wireDay(row.posting_date),
    paymentMethod: row.payment_method,
    bankAccountID: row.bank_account_id,
    receiptNumber: row.receipt_number,
    chequeNumber: row.cheque_number,
    clearedDate: row.cleared_date === null ? null : wireDay(row.cleared_date),
    allocations: row.allocations.map((one) => ({
      billID: one.bill_id,
      billNumber: one.bill_number,
      kind: one.kind,
      amount: amount(one.amount),
      surchargeAmount: amount(one.surcharge),
    })),
    walletAmount: amount(walletPart(row)),
    recoveredAmount: amount(row.recovered_amount),
    remark: row.remark,
    reversal:
      row.reversal_date === null
        ? null
        : { date: wireDay(row.reversal_date), reason: row.reversal_reason ?? '' },
    createdAt: formatTimestamp(row.created_at, tenant.timezone),
    createdBy: row.created_by,
  };
}

/** Of a payment that is not taken back: what it neither settles nor recovers. */
function walletPart(row: Listed): string {
  if (row.status !== 'Posted' || row.direction === 'Out') return row.wallet_amount;
  const settled = row.allocations.reduce((sum, one) => sum + BigInt(one.amount), 0n);
  return String(BigInt(row.amount) - settled - BigInt(row.recovered_amount));
}
