// A payment that is booked after the deadline of a bill and is dated before it: if it covered the
// bill then, the bill was not late.

import type { Tx } from '../../base/db/pool.ts';
import type { Stamp } from '../../base/stamp.ts';
import { takeBackSurcharges } from '../bills/late/take-back.ts';
import { listSurcharged, type SurchargedBill } from '../bills/late/take-back-store.ts';
import { ledgerAccounts } from '../ledger/accounts.ts';
import { book } from '../ledger/book.ts';
import { listOpenItems } from '../ledger/items-store.ts';
import { type Allocation, useCredits } from '../ledger/settle.ts';
import { allocationsOf } from './allocate.ts';
import type { Payer, WantedPayment } from './payment.ts';

type Payment = Pick<WantedPayment, 'allocations' | 'amount' | 'valueDate'> & {
  by: Payer;
  row: number;
};

/**
 * Bills with a surcharge that payments may have paid in time. Only payments dated before today are
 * looked at.
 */
export async function listMaybeInTime(
  tx: Tx,
  tenantId: number,
  payments: readonly Pick<Payment, 'by' | 'valueDate'>[],
  today: Temporal.PlainDate,
): Promise<SurchargedBill[]> {
  const dated = payments.filter(
    ({ by, valueDate }) =>
      !by.isPaidByWorkspace && Temporal.PlainDate.compare(valueDate, today) < 0,
  );
  if (dated.length === 0) return [];
  const first = dated.reduce(
    (day, one) => (Temporal.PlainDate.compare(one.valueDate, day) < 0 ? one.valueDate : day),
    today,
  );
  const payers = [...new Set(dated.map(({ by }) => by.partyId))];
  return listSurcharged(tx, tenantId, payers, first.toString());
}

/**
 * Surcharges of bills that were paid in time are taken back, before the payments settle anything.
 * The wallets of the payers are locked. False if there was nothing to take back.
 */
export async function takeBackIfPaidInTime(
  tx: Tx,
  tenantId: number,
  payments: readonly Payment[],
  bills: readonly SurchargedBill[],
  { today, stamp }: { today: Temporal.PlainDate; stamp: Stamp },
): Promise<boolean> {
  if (bills.length === 0) return false;
  const covered = await coveredBills(tx, tenantId, payments, bills);
  const taken = await takeBackSurcharges(tx, tenantId, covered);
  const bookings = taken.map(({ billId, businessUnitId, entries, against }) => ({
    source: 'Surcharge' as const,
    sourceId: billId,
    businessUnitId,
    postingDate: today,
    description: 'Late payment surcharge taken back: the bill was paid in time',
    entries,
    against,
  }));
  await book(tx, tenantId, bookings, stamp);
  return bookings.length > 0;
}

/** As if these bills had no surcharge. */
async function coveredBills(
  tx: Tx,
  tenantId: number,
  payments: readonly Payment[],
  bills: readonly SurchargedBill[],
): Promise<number[]> {
  const partyIds = [...new Set(bills.map((bill) => bill.party_id))];
  const late = new Set(bills.map((bill) => bill.bill_id));
  const items = (await listOpenItems(tx, tenantId, { partyIds })).filter(
    ({ accountId, kind, billId }) =>
      accountId === ledgerAccounts.receivable && !(kind === 'Surcharge' && late.has(billId ?? 0)),
  );
  useCredits(items);
  const itemsOf = Map.groupBy(items, (item) => item.partyId);
  const covered = new Set<number>();
  for (const payment of payments) {
    const { partyId } = payment.by;
    const own = bills.filter((bill) => bill.party_id === partyId);
    if (own.length === 0) continue;
    const { allocations } = allocationsOf(payment, itemsOf.get(partyId) ?? []);
    const day = payment.valueDate.toString();
    for (const bill of own) {
      const isCovered = availableFor(payment, allocations, bill.bill_id) >= bill.open_then;
      if (day <= bill.deadline && isCovered) covered.add(bill.bill_id);
    }
  }
  return [...covered];
}

/** The part of a payment for a bill: its allocation, or whatever no other item was given. */
function availableFor(
  { allocations: wanted, amount, by }: Payment,
  allocations: readonly Allocation[],
  billId: number,
): number {
  const sum = (isWanted: (one: Allocation) => boolean) =>
    allocations.filter(isWanted).reduce((total, one) => total + one.amount, 0);
  if (wanted.length > 0 || by.settlementMethod === 'Manual') {
    return sum(({ item }) => item.billId === billId);
  }
  return amount - sum(({ item }) => item.billId !== billId);
}
