// Takes payments: each settles what its payer owes, and the rest goes into the wallet.

import { formatDate } from '../../base/calendar.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { RowProblem } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { withComponents } from '../bills/billed-parts.ts';
import type { SurchargedBill } from '../bills/late/take-back-store.ts';
import { billReference } from '../bills/reference.ts';
import { eventsOf } from '../events/events-store.ts';
import { ledgerAccounts } from '../ledger/accounts.ts';
import { type BookedEntry, type Booking, book, intoWallet, settling } from '../ledger/book.ts';
import { listOpenItems, lockWallets } from '../ledger/items-store.ts';
import { findFirstOpenDay } from '../ledger/months-store.ts';
import type { OpenItem } from '../ledger/open-item.ts';
import { useCredits } from '../ledger/settle.ts';
import { takeIds } from '../tenants/numbers-store.ts';
import { allocationsOf, foreignBills } from './allocate.ts';
import { giveReceipts } from './cash-desks.ts';
import { insertCheques, type NewCheque } from './cheques-store.ts';
import { listMaybeInTime, takeBackIfPaidInTime } from './paid-in-time.ts';
import { listPayers } from './payers-store.ts';
import type { Payer, WantedPayment } from './payment.ts';
import {
  insertPayments,
  type KnownReference,
  listBillOwners,
  listReferences,
  type NewPayment,
} from './payments-store.ts';
import { findRecoverable } from './recoveries-store.ts';
import { problemsOfRace, type Taken, takeNew } from './references.ts';

export type Made = {
  problems: readonly RowProblem[];
  /** By row: the id of the payment, also of one that had been taken before. */
  paymentIds: readonly number[];
  /** Rows that were taken before and are not booked again. */
  repeated: number;
};

/** A payment of a known payer, with its days as they are stored. */
type Payment = WantedPayment & {
  row: number;
  paymentId: number;
  by: Payer;
  valueDay: string;
  postingDay: string;
};

/** All are taken or, where one is refused, none. */
export async function makePayments(
  tx: Tx,
  tenantId: number,
  wanted: readonly WantedPayment[],
  { today, stamp }: { today: Temporal.PlainDate; stamp: Stamp },
): Promise<Made> {
  const payers = await findPayers(tx, tenantId, wanted);
  const early = wanted.flatMap((one, row) => problemsOf(one, payers[row], row, today));
  if (early.length > 0) return { problems: early, paymentIds: [], repeated: 0 };
  const { known, firstId, ...found } = await lockAndFind(tx, tenantId, wanted, payers, today);
  const taken = takePayments(wanted, payers, known, firstId);
  const { ids: paymentIds } = taken;
  if (taken.problems.length > 0) return { ...taken, paymentIds, repeated: 0 };
  const payments = taken.rows.flatMap(({ wanted: one, row, id: paymentId }) => {
    const by = payers[row];
    if (!by) return [];
    const cashAccountId = one.cashAccountId ?? one.desk?.cash_account_id ?? by.cashAccountId;
    const valueDay = one.valueDate.toString();
    const postingDay = one.postingDate?.toString() ?? valueDay;
    return [{ ...one, row, paymentId, valueDay, postingDay, by: { ...by, cashAccountId } }];
  });
  const problems = await bookPayments(tx, tenantId, payments, found, { today, stamp });
  if (problems.length > 0) return { problems, paymentIds, repeated: 0 };
  await insertCheques(tx, tenantId, payments.flatMap(chequeOf));
  const atDesks = payments.flatMap(({ row, paymentId, desk }) =>
    desk ? [{ row, paymentId, desk }] : [],
  );
  problems.push(...(await giveReceipts(tx, tenantId, atDesks, today)));
  return { problems, paymentIds, repeated: wanted.length - payments.length };
}

/** By row. Those that the caller has not found are looked up at once. */
async function findPayers(
  tx: Tx,
  tenantId: number,
  wanted: readonly WantedPayment[],
): Promise<(Payer | undefined)[]> {
  const unknown = wanted.filter((one) => !one.by).map((one) => one.payer);
  const found = unknown.length === 0 ? [] : await listPayers(tx, tenantId, unknown);
  let next = 0;
  return wanted.map((one) => one.by ?? found[next++]);
}

/** What is read once the months and wallets are locked, and holds until the transaction ends. */
type Found = {
  firstOpen: Temporal.PlainDate | null;
  maybeInTime: readonly SurchargedBill[];
  items: readonly OpenItem[];
};

/**
 * One message to the database: PostgreSQL does the statements in their order, so that what is read
 * is read under the locks.
 */
async function lockAndFind(
  tx: Tx,
  tenantId: number,
  wanted: readonly WantedPayment[],
  payers: readonly (Payer | undefined)[],
  today: Temporal.PlainDate,
): Promise<Found & { known: Map<string, KnownReference>; firstId: number }> {
  const dated = wanted.flatMap(({ valueDate }, row) => {
    const by = payers[row];
    return by ? [{ valueDate, by }] : [];
  });
  const partyIds = [...new Set(dated.map(({ by }) => by.partyId))];
  const references = wanted.map((one) => one.reference);
  const [firstOpen, , known, maybeInTime, items, firstId] = await Promise.all([
    findFirstOpenDay(tx, tenantId),
    lockWallets(tx, tenantId, partyIds),
    listReferences(tx, tenantId, references),
    listMaybeInTime(tx, tenantId, dated, today),
    listOpenItems(tx, tenantId, { partyIds }),
    takeIds(tx, tenantId, 'payment', wanted.length),
  ]);
  return { firstOpen, known, maybeInTime, items, firstId };
}

function chequeOf({ paymentId, by, ...payment }: Payment): NewCheque[] {
  if (payment.paymentMethod !== 'Cheque') return [];
  const { chequeNumber = null, clearedDate = null } = payment;
  return [{ paymentId, partyId: by.partyId, chequeNumber, clearedDate }];
}

function problemsOf(
  { valueDate, payer }: WantedPayment,
  by: Payer | undefined,
  row: number,
  today: Temporal.PlainDate,
): RowProblem[] {
  if (!by) return [{ row, ...missingPayer(payer) }];
  if (by.isArchived) {
    const message = 'The party is archived: restore it first, or name another payer';
    const rejectedValue = payer.partyNumber ?? payer.partyId ?? payer.connectionNumber;
    return [{ row, name: 'partyNumber', code: 'PARTY_ARCHIVED', message, rejectedValue }];
  }
  if (Temporal.PlainDate.compare(valueDate, today) > 0) {
    const message = 'The date of a payment is not after today';
    const rejectedValue = formatDate(valueDate);
    return [{ row, name: 'paymentDate', code: 'DATE_IN_FUTURE', message, rejectedValue }];
  }
  return [];
}

function missingPayer(payer: WantedPayment['payer']): Omit<RowProblem, 'row'> {
  if (payer.connectionNumber !== null) {
    const { connectionNumber: rejectedValue } = payer;
    const message = `No subscription has the number ${rejectedValue}`;
    return { name: 'connectionNumber', code: 'SUBSCRIPTION_NOT_FOUND', message, rejectedValue };
  }
  if (payer.billId !== null) {
    const rejectedValue = billReference(payer.billId);
    const message = `No posted bill has the reference ${rejectedValue}`;
    return { name: 'billRefNo', code: 'BILL_NOT_FOUND', message, rejectedValue };
  }
  const name = payer.partyId === null ? 'partyNumber' : 'partyID';
  const rejectedValue = payer.partyId ?? payer.partyNumber;
  const message = `No party has the ${name} ${rejectedValue}`;
  return { name, code: 'PARTY_NOT_FOUND', message, rejectedValue };
}

/** A reference that was used for the same party and amount is a repetition, not a payment. */
function takePayments(
  wanted: readonly WantedPayment[],
  payers: readonly (Payer | undefined)[],
  known: ReadonlyMap<string, KnownReference>,
  firstId: number,
): Taken<WantedPayment> {
  const partyOf = new Map(wanted.map((one, row) => [one, payers[row]?.partyId ?? 0]));
  return takeNew(wanted, known, {
    firstId,
    keep: (one, id, reference) => {
      return { reference, id, party_id: partyOf.get(one) ?? 0, amount: one.amount };
    },
    isSame: (one, before) => before.party_id === partyOf.get(one) && before.amount === one.amount,
    name: (before) => `payment ${before.id}, which has another payer or amount`,
  });
}

async function bookPayments(
  tx: Tx,
  tenantId: number,
  payments: readonly Payment[],
  found: Found,
  { today, stamp }: { today: Temporal.PlainDate; stamp: Stamp },
): Promise<RowProblem[]> {
  if (payments.length === 0) return [];
  const owners = await listBillOwners(tx, tenantId, billsAllocated(payments));
  const foreign = payments.flatMap((payment) => foreignBills(payment, owners, payment.row));
  if (foreign.length > 0) return foreign;
  const { maybeInTime } = found;
  const isChanged = await takeBackIfPaidInTime(tx, tenantId, payments, maybeInTime, {
    today,
    stamp,
  });
  const items = await listItemsOf(tx, tenantId, payments, isChanged ? undefined : found.items);
  const itemsOf = Map.groupBy(items, (item) => item.partyId);
  const outlines = payments.map((one) => layOut(one, itemsOf.get(one.by.partyId) ?? []));
  const laid = await recover(tx, tenantId, outlines);
  const problems = laid.flatMap((one) => one.problems);
  if (problems.length > 0) return problems;
  return writePayments(tx, tenantId, laid, found, stamp);
}

/** All that payments write travels in one message. */
async function writePayments(
  tx: Tx,
  tenantId: number,
  laid: readonly LaidOut[],
  { firstOpen }: Found,
  stamp: Stamp,
): Promise<RowProblem[]> {
  const groups = [...Map.groupBy(laid, ({ payment }) => bookKey(payment)).values()];
  const ids = laid.map(({ payment }) => payment.paymentId);
  let rows: NewPayment[] = [];
  let stored = 0;
  const beside = async (journalIds: readonly number[]) => {
    rows = groups.flatMap((group, index) => group.map((one) => rowOf(one, journalIds[index] ?? 0)));
    stored = await insertPayments(tx, tenantId, rows, stamp);
  };
  const events = eventsOf('payment.created', 'paymentID', ids);
  await book(tx, tenantId, groups.map(bookingOf), stamp, { firstOpen, beside, events });
  return problemsOfRace(rows, stored);
}

/** With their components where a payer's settlement method goes by those. */
async function listItemsOf(
  tx: Tx,
  tenantId: number,
  payments: readonly Payment[],
  found: readonly OpenItem[] | undefined,
): Promise<OpenItem[]> {
  const partyIds = [...new Set(payments.map(({ by }) => by.partyId))];
  const items = found ? [...found] : await listOpenItems(tx, tenantId, { partyIds });
  const asking = payments.filter(({ by }) => by.settlementMethod === 'Component Priority');
  if (asking.length === 0) return items;
  const byComponent = new Set(asking.map(({ by }) => by.partyId));
  const theirs = items.filter((item) => byComponent.has(item.partyId));
  const others = items.filter((item) => !byComponent.has(item.partyId));
  return [...others, ...(await withComponents(tx, tenantId, theirs))];
}

function billsAllocated(payments: readonly Payment[]): number[] {
  return payments.flatMap((payment) => payment.allocations.map((one) => one.billId));
}

type LaidOut = {
  payment: Payment;
  entries: BookedEntry[];
  walletAmount: number;
  /** What pays debts that were written off. */
  recoveredAmount: number;
  problems: RowProblem[];
};

/**
 * After a payment has settled everything that is open, the rest recovers debts of the party that
 * were written off, and what remains goes into the wallet. With `Manual` and explicit allocations
 * nothing is recovered.
 */
async function recover(tx: Tx, tenantId: number, laid: readonly LaidOut[]): Promise<LaidOut[]> {
  const isRecovering = ({ payment: { by, allocations }, walletAmount }: LaidOut) =>
    walletAmount > 0 &&
    allocations.length === 0 &&
    by.settlementMethod !== 'Manual' &&
    !by.isPaidByWorkspace;
  const partyIds = new Set(laid.filter(isRecovering).map(({ payment }) => payment.by.partyId));
  const lost = partyIds.size === 0 ? new Map() : await findRecoverable(tx, tenantId, [...partyIds]);
  return laid.map((one) => {
    const { payment, walletAmount: left } = one;
    const { by, paymentId, reference, valueDay: valueDate } = payment;
    const available: number = lost.get(by.partyId) ?? 0;
    const recoveredAmount = isRecovering(one) ? Math.min(left, available) : 0;
    lost.set(by.partyId, available - recoveredAmount);
    const walletAmount = left - recoveredAmount;
    const details = { paymentId, reference, valueDate };
    const paid = { kind: 'Payment', amount: walletAmount } as const;
    const wallet = walletAmount > 0 ? [intoWallet(by.partyId, paid, details)] : [];
    return { ...one, walletAmount, recoveredAmount, entries: [...one.entries, ...wallet] };
  });
}

/** What a payment does to open items, and what it leaves. */
function layOut(payment: Payment, all: readonly OpenItem[]): LaidOut {
  const { by, amount, paymentId, reference, valueDay: valueDate } = payment;
  const account = by.isPaidByWorkspace ? ledgerAccounts.payable : ledgerAccounts.receivable;
  const items = all.filter((item) => item.accountId === account);
  const offsets = useCredits(items);
  const { allocations, problems } = allocationsOf(payment, items);
  const settled = allocations.reduce((sum, one) => sum + one.amount, 0);
  const left = amount - settled;
  const details = { paymentId, reference, valueDate };
  if (by.isPaidByWorkspace && left > 0) {
    const message = 'More than the workspace owes to the party';
    const problem = { name: 'amount', code: 'AMOUNT_ABOVE_OPEN', rejectedValue: null } as const;
    problems.push({ row: payment.row, message, ...problem });
  }
  const entries = [
    ...offsets.map((one) =>
      settling(one.item, { kind: 'Offset', effect: 'paid', amount: one.amount }, { reference }),
    ),
    ...allocations.map((one) =>
      settling(one.item, { kind: 'Payment', effect: 'paid', amount: one.amount }, details),
    ),
  ];
  return { payment, entries, walletAmount: left, recoveredAmount: 0, problems };
}

/** Payments with one key share a journal. */
function bookKey(payment: Payment): string {
  const { by, valueDay, postingDay } = payment;
  const account = againstOf(payment);
  return `${by.businessUnitId} ${account} ${by.isPaidByWorkspace} ${valueDay} ${postingDay}`;
}

function againstOf({ againstAccountId, by }: Payment): number {
  return againstAccountId ?? by.cashAccountId;
}

function bookingOf(group: readonly LaidOut[]): Booking {
  const [first] = group;
  if (!first) throw new Error('a group of payments has one at least');
  const { by, paymentId, reference, valueDate, postingDate = valueDate } = first.payment;
  const total = group.reduce((sum, { payment }) => sum + payment.amount, 0);
  const recovered = group.reduce((sum, one) => sum + one.recoveredAmount, 0);
  return {
    source: 'Payment',
    sourceId: paymentId,
    businessUnitId: by.businessUnitId,
    postingDate,
    description: group.length === 1 ? `Payment ${reference}` : `${group.length} payments`,
    entries: group.flatMap((one) => one.entries),
    against: [
      { accountId: againstOf(first.payment), amount: by.isPaidByWorkspace ? -total : total },
      { accountId: ledgerAccounts.badDebt, amount: -recovered },
    ],
  };
}

function rowOf(laid: LaidOut, journalId: number): NewPayment {
  const { payment, walletAmount, recoveredAmount } = laid;
  const { by, valueDay: valueDate, paymentId, reference, amount } = payment;
  return {
    ...{ paymentId, reference, amount, walletAmount, recoveredAmount, journalId },
    isRefund: false,
    direction: by.isPaidByWorkspace ? 'Out' : 'In',
    partyId: by.partyId,
    subscriptionId: by.subscriptionId,
    valueDate,
    paymentMethod: payment.paymentMethod,
    cashAccountId: by.cashAccountId,
    bankAccountId: payment.bankAccountId,
    remark: payment.remark,
  };
}
