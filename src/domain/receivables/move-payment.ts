// A payment that was taken for the wrong customer, or settled the wrong bills.

import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { type BookedEntry, book, type ItemKey, intoWallet, settling } from '../ledger/book.ts';
import { listOpenItems, lockBills, lockWallets } from '../ledger/items-store.ts';
import type { OpenItem } from '../ledger/open-item.ts';
import { allocate, foreignBills } from './allocate.ts';
import { findCheque } from './cheques-store.ts';
import { listPayers } from './payers-store.ts';
import type { Payer, PayerKey, WantedAllocation } from './payment.ts';
import {
  findPayment,
  findWalletPart,
  listBillOwners,
  listSettled,
  type PaymentRow,
} from './payments-store.ts';
import { itemOf, lockPayment, reversePayment } from './reverse.ts';
import { makePayments } from './take-payments.ts';

type Posting = { today: Temporal.PlainDate; stamp: Stamp };

export type WantedTransfer = {
  paymentId: number;
  to: Pick<PayerKey, 'partyNumber' | 'connectionNumber'>;
  reason: string;
};

/**
 * The payment is reversed, and taken again for the other customer with the same value date. The
 * reference of the new one is the old one's with "/moved" behind it.
 */
export async function transferPayment(
  tx: Tx,
  tenantId: number,
  { paymentId, to, reason }: WantedTransfer,
  posting: Posting,
): Promise<{ payment: PaymentRow; newId: number }> {
  const payment = await findPayment(tx, tenantId, paymentId);
  if (!payment) throw new AppError('PAYMENT_NOT_FOUND', { field: 'data.paymentID' });
  if (payment.direction === 'Out') {
    const message = `Payment ${payment.reference} was paid out: only money received is transferred`;
    throw new AppError('INVALID_STATE', { message, field: 'data.paymentID' });
  }
  const key: PayerKey = { partyId: null, billId: null, ...to };
  const payer = await findReceiver(tx, tenantId, key);
  if (payer.partyId === payment.party_id && payer.subscriptionId === payment.subscription_id) {
    const message = `Payment ${payment.reference} is of this customer already`;
    throw new AppError('INVALID_STATE', { message, field: fieldOf(to) });
  }
  await lockWallets(tx, tenantId, [payment.party_id, payer.partyId]);
  const reversal = { paymentId, reason: `Transferred to another customer: ${reason}`, fee: null };
  await reversePayment(tx, tenantId, reversal, posting);
  const cheque = await findCheque(tx, tenantId, paymentId);
  const moved = {
    reference: `${payment.reference}/moved`,
    payer: key,
    amount: payment.amount,
    valueDate: Temporal.PlainDate.from(payment.value_date),
    postingDate: posting.today,
    paymentMethod: payment.payment_method,
    bankAccountId: payment.bank_account_id,
    cashAccountId: payment.cash_account_id,
    allocations: [],
    remark: `Transferred from payment ${paymentId}: ${reason}`,
    chequeNumber: cheque?.cheque_number ?? null,
    clearedDate: cheque?.cleared_date ?? null,
  };
  const { problems, paymentIds } = await makePayments(tx, tenantId, [moved], posting);
  const [problem] = problems;
  if (problem) throw new AppError(problem.code, { message: problem.message, field: fieldOf(to) });
  return { payment, newId: paymentIds[0] ?? 0 };
}

function fieldOf({ partyNumber }: WantedTransfer['to']): string {
  return partyNumber === null ? 'data.toConnectionNumber' : 'data.toPartyNumber';
}

async function findReceiver(tx: Tx, tenantId: number, key: PayerKey): Promise<Payer> {
  const [payer] = await listPayers(tx, tenantId, [key]);
  if (payer) return payer;
  if (key.partyNumber !== null) {
    const message = `No party has the number ${key.partyNumber}`;
    throw new AppError('PARTY_NOT_FOUND', { message, field: 'data.toPartyNumber' });
  }
  const message = `No subscription has the number ${key.connectionNumber}`;
  throw new AppError('SUBSCRIPTION_NOT_FOUND', { message, field: 'data.toConnectionNumber' });
}

export type WantedReallocation = {
  paymentId: number;
  allocations: readonly WantedAllocation[];
  reason: string;
};

/** What the payment settles from now on; what the allocations leave goes into the wallet. */
export async function reallocatePayment(
  tx: Tx,
  tenantId: number,
  { paymentId, allocations, reason }: WantedReallocation,
  { today, stamp }: Posting,
): Promise<PaymentRow> {
  const payment = await lockPayment(tx, tenantId, paymentId);
  const { party_id: partyId, reference, amount } = payment;
  const owners = await listBillOwners(
    tx,
    tenantId,
    allocations.map((one) => one.billId),
  );
  const by = { partyId, subscriptionId: payment.subscription_id };
  const foreign = foreignBills({ allocations, by }, owners, 0);
  const before = await listSettled(tx, tenantId, paymentId);
  const open = await listOpenItems(tx, tenantId, { partyIds: [partyId] });
  const items = withGivenBack(
    open,
    before.map((row) => ({ item: itemOf(row, partyId), amount: row.amount })),
  );
  const available = amount - payment.recovered_amount;
  const laid = allocate({ allocations, amount: available, by }, items, 0);
  const [problem] = [...foreign, ...laid.problems];
  if (problem) {
    throw new AppError(problem.code, { message: problem.message, field: `data.${problem.name}` });
  }
  const settled = laid.allocations.reduce((sum, one) => sum + one.amount, 0);
  const inWallet = await findWalletPart(tx, tenantId, paymentId);
  const more = available - settled - inWallet;
  await assertInWallet(tx, tenantId, partyId, -more);
  const details = { paymentId, reference, valueDate: payment.value_date, description: reason };
  const changes = [
    ...before.map((row) => ({ item: itemOf(row, partyId), amount: -row.amount })),
    ...laid.allocations,
  ];
  const entries = [
    ...netted(changes).map((one) =>
      settling(one.item, { kind: 'Payment', effect: 'paid', amount: one.amount }, details),
    ),
    ...(more === 0 ? [] : [intoWallet(partyId, { kind: 'Payment', amount: more }, details)]),
  ];
  await bookReallocated(tx, tenantId, payment, { entries, reason, today }, stamp);
  return payment;
}

async function bookReallocated(
  tx: Tx,
  tenantId: number,
  payment: PaymentRow,
  what: { entries: BookedEntry[]; reason: string; today: Temporal.PlainDate },
  stamp: Stamp,
): Promise<void> {
  const { entries, reason, today } = what;
  if (entries.length === 0) return;
  const billIds = entries.flatMap((entry) => entry.billId ?? []);
  await lockBills(tx, tenantId, billIds);
  const booking = {
    source: 'Payment' as const,
    sourceId: payment.payment_id,
    businessUnitId: payment.business_unit_id,
    postingDate: today,
    description: `Payment ${payment.reference} reallocated: ${reason}`,
    entries,
  };
  await book(tx, tenantId, [booking], stamp);
}

async function assertInWallet(
  tx: Tx,
  tenantId: number,
  partyId: number,
  needed: number,
): Promise<void> {
  if (needed <= 0) return;
  const balances = await lockWallets(tx, tenantId, [partyId]);
  if ((balances.get(partyId) ?? 0) >= needed) return;
  const message = 'What the payment brought into the wallet was used since';
  throw new AppError('WALLET_TOO_LOW', { message, field: 'data.allocations' });
}

type Change = { item: ItemKey; amount: number };

const keyOf = ({ billId, itemId, subscriptionId }: ItemKey) =>
  [billId, itemId, subscriptionId].join(' ');

const undated = { dueDate: '', issueDate: '', component: null };

/** Open items as they were before the payment. */
function withGivenBack(open: readonly OpenItem[], given: readonly Change[]): OpenItem[] {
  const items = new Map(open.map((item) => [keyOf(item), { ...item }]));
  for (const { item, amount } of given) {
    const found = items.get(keyOf(item));
    if (found) found.open += amount;
    else {
      // All of it was settled by the payment. The dates matter among the items of one bill only.
      const kind = item.itemId === null ? 'Bill' : 'Surcharge';
      items.set(keyOf(item), { ...item, ...undated, kind, open: amount });
    }
  }
  return [...items.values()];
}

/** One change for each item, without changes of zero. */
function netted(changes: readonly Change[]): Change[] {
  const sums = new Map<string, Change>();
  for (const { item, amount } of changes) {
    const before = sums.get(keyOf(item))?.amount ?? 0;
    sums.set(keyOf(item), { item, amount: before + amount });
  }
  return [...sums.values()].filter((one) => one.amount !== 0);
}
