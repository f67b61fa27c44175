// A surcharge is taken back: the bill was cancelled, or had been paid in time after all.

import type { Tx } from '../../../base/db/pool.ts';
import { type BookedEntry, intoWallet, settling } from '../../ledger/book.ts';
import type { JournalLine } from '../../ledger/journal.ts';
import {
  type CreditedLine,
  listCreditedLines,
  listPaidOfItems,
  listPostedSurcharges,
  type PaidOfItem,
  type PostedSurcharge,
} from './take-back-store.ts';

export type TakenBack = {
  billId: number;
  businessUnitId: number;
  entries: BookedEntry[];
  against: JournalLine[];
  /** What had been paid of it, and goes into the wallet. */
  toWallet: number;
};

/** For each of the bills that has a surcharge. The wallets of their parties are locked. */
export async function takeBackSurcharges(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
  { reference }: { reference?: string } = {},
): Promise<TakenBack[]> {
  const surcharges = await listPostedSurcharges(tx, tenantId, billIds);
  if (surcharges.length === 0) return [];
  const paid = await listPaidOfItems(tx, tenantId, surcharges);
  const lines = await listCreditedLines(tx, tenantId, billIds);
  const linesOf = Map.groupBy(lines, (line) => line.bill_id);
  const paidOf = Map.groupBy(paid, (row) => row.item_id);
  const description = 'Late payment surcharge taken back';
  const details = { description, ...(reference === undefined ? {} : { reference }) };
  return [...Map.groupBy(surcharges, (one) => one.billId)].map(([billId, own]) => {
    const entries = own.flatMap((one) => [
      ...unpaid(one, paidOf.get(one.itemId) ?? [], details),
      settling(one, { kind: 'Surcharge', effect: 'credited', amount: one.amount }, details),
    ]);
    const total = own.reduce((sum, one) => sum + one.amount, 0);
    const toWallet = own
      .flatMap((one) => paidOf.get(one.itemId) ?? [])
      .reduce((sum, row) => sum + row.amount, 0);
    const credited = linesOf.get(billId) ?? [];
    const businessUnitId = credited[0]?.business_unit_id ?? 1;
    return { billId, businessUnitId, entries, against: mirrored(credited, total), toWallet };
  });
}

/** What was paid of it goes into the wallet, payment by payment: one may be reversed later. */
function unpaid(
  surcharge: PostedSurcharge,
  paid: readonly PaidOfItem[],
  details: { description: string; reference?: string },
): BookedEntry[] {
  const { billId, partyId } = surcharge;
  return paid.flatMap(({ payment_id: paymentId, amount }) => [
    settling(
      surcharge,
      { kind: 'Wallet', effect: 'paid', amount: -amount },
      { ...details, paymentId },
    ),
    intoWallet(partyId, { kind: 'Wallet', amount }, { ...details, billId, paymentId }),
  ]);
}

/** Debits the accounts that were credited, one after the other, up to the amount. */
function mirrored(lines: readonly CreditedLine[], total: number): JournalLine[] {
  let left = total;
  return lines.flatMap(({ account_id: accountId, component, amount: credited }) => {
    const amount = Math.min(left, -credited);
    left -= amount;
    return amount === 0 ? [] : [{ accountId, component, amount }];
  });
}
