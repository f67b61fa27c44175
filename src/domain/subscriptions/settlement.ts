// What becomes of the deposit when a subscription is closed, and of the balance when it changes
// hands.

import type { Tx } from '../../base/db/pool.ts';
import type { Stamp } from '../../base/stamp.ts';
import { ledgerAccounts } from '../ledger/accounts.ts';
import { book, intoDeposit, intoWallet, opening, settling } from '../ledger/book.ts';
import { findDisputedBills, listOpenItems, lockWallets } from '../ledger/items-store.ts';
import type { EntryKind } from '../ledger/journal.ts';
import { compareAge } from '../ledger/open-item.ts';
import { settle, useCredits } from '../ledger/settle.ts';
import { type Balances, findBalances, type SubscriptionRow } from './store.ts';

export const depositHandlings = ['ApplyToBalance', 'Refund', 'Keep'] as const;
export type DepositHandling = (typeof depositHandlings)[number];

type Posting = {
  today: Temporal.PlainDate;
  businessUnitId: number;
};

/**
 * The balances that are left. What of a demanded deposit was never paid is not demanded any more;
 * the rest settles what is open, oldest first, and the wallet gets what is left over.
 */
export async function settleDeposit(
  tx: Tx,
  tenantId: number,
  row: SubscriptionRow,
  options: Posting & { depositHandling: DepositHandling; cashAccountId: number },
  stamp: Stamp,
): Promise<Balances> {
  const { subscription_id: subscriptionId, party_id: partyId } = row;
  await lockWallets(tx, tenantId, [partyId]);
  const before = await findBalances(tx, tenantId, { subscriptionId, partyId });
  if (before.deposit === 0 || options.depositHandling === 'Keep') return before;
  const items = await listOpenItems(tx, tenantId, { partyId, subscriptionId });
  const unpaid = items.filter((item) => item.kind === 'Deposit');
  const notDemanded = sumOf(unpaid.map((item) => item.open));
  const held = before.deposit - notDemanded;
  const isRefund = options.depositHandling === 'Refund';
  const others = items.filter((item) => item.kind !== 'Deposit');
  const offsets = isRefund ? [] : useCredits(others);
  const method = 'Chronology';
  const paid = isRefund ? [] : settle(others, held, { method, subscriptionId });
  const applied = sumOf(paid.map((one) => one.amount));
  const kind: EntryKind = isRefund ? 'Refund' : 'Deposit';
  const description = isRefund ? 'Security deposit refunded' : 'Security deposit applied';
  const owner = { partyId, subscriptionId };
  const entries = [
    ...unpaid.map((item) =>
      settling(
        item,
        { kind: 'Deposit', effect: 'credited', amount: item.open },
        { description: 'Security deposit no longer demanded' },
      ),
    ),
    ...offsets.map(({ item, amount }) =>
      settling(item, { kind: 'Offset', effect: 'paid', amount }, { description }),
    ),
    ...paid.map(({ item, amount }) =>
      settling(item, { kind, effect: 'paid', amount }, { description }),
    ),
    intoDeposit(owner, { kind, amount: -before.deposit }, { description }),
    intoWallet(partyId, { kind, amount: isRefund ? 0 : held - applied }, { description }),
  ].filter((entry) => entry.amount !== 0);
  await book(
    tx,
    tenantId,
    [
      {
        source: isRefund ? 'Refund' : 'Deposit',
        sourceId: subscriptionId,
        businessUnitId: options.businessUnitId,
        postingDate: options.today,
        description,
        entries,
        against: isRefund ? [{ accountId: options.cashAccountId, amount: -held }] : [],
      },
    ],
    stamp,
  );
  return { ...before, deposit: 0, receivable: before.receivable - notDemanded - applied };
}

function sumOf(amounts: readonly number[]): number {
  return amounts.reduce((sum, amount) => sum + amount, 0);
}

/**
 * All that is open on the subscription becomes the new owner's, item by item with its due date.
 * Returns the receivable moved.
 */
export async function moveBalances(
  tx: Tx,
  tenantId: number,
  row: SubscriptionRow,
  options: Posting & { toPartyId: number; transferId: number },
  stamp: Stamp,
): Promise<number> {
  const { subscription_id: subscriptionId, party_id: partyId } = row;
  const { toPartyId } = options;
  await lockWallets(tx, tenantId, [partyId, toPartyId]);
  const held = await findBalances(tx, tenantId, { subscriptionId, partyId });
  // Items of the new owner keep the order of these: a surcharge stays before its bill.
  const items = (await listOpenItems(tx, tenantId, { partyId, subscriptionId })).toSorted(
    compareAge,
  );
  // A dispute of a bill is resolved with the party of the bill.
  const ofBills =
    held.disputed === 0 ? 0 : await findDisputedBills(tx, tenantId, { subscriptionId, partyId });
  const doubtful = held.disputed - ofBills;
  const from = { description: 'Moved to the new owner' };
  const to = { description: 'Moved from the old owner' };
  const moved = items.flatMap((item) => {
    const { open: amount, dueDate, accountId } = item;
    const kind = item.kind === 'Deposit' ? 'Deposit' : 'Transfer';
    const owner = { partyId: toPartyId, subscriptionId, accountId, billId: null };
    return [
      settling(item, { kind: 'Transfer', effect: 'transferred', amount }, from),
      opening(owner, { kind: 'Transfer', amount }, { kind, dueDate }, to),
    ];
  });
  const disputed = (owner: number, amount: number) => ({
    accountId: ledgerAccounts.disputed,
    partyId: owner,
    ...({ subscriptionId, kind: 'Transfer', amount } as const),
  });
  const deposit = { kind: 'Transfer', amount: held.deposit } as const;
  const entries = [
    ...moved,
    intoDeposit({ partyId, subscriptionId }, { ...deposit, amount: -held.deposit }, from),
    intoDeposit({ partyId: toPartyId, subscriptionId }, deposit, to),
    { ...disputed(partyId, -doubtful), ...from },
    { ...disputed(toPartyId, doubtful), ...to },
  ].filter((entry) => entry.amount !== 0);
  if (entries.length === 0) return 0;
  const head = {
    source: 'Transfer' as const,
    sourceId: options.transferId,
    businessUnitId: options.businessUnitId,
    postingDate: options.today,
    description: 'Balance moved with a subscription',
  };
  // What one party gives the other receives: no account as a whole changes.
  await book(tx, tenantId, [{ ...head, entries }], stamp);
  return held.receivable;
}
