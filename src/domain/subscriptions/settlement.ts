// What becomes of the deposit when a subscription is closed, and of the balance when it changes
// hands.

import type { Tx } from '../../base/db/pool.ts';
import type { Stamp } from '../../base/stamp.ts';
import { type ContextType, ledgerAccounts, openItemsAccount } from '../ledger/accounts.ts';
import {
  type EntryKind,
  type JournalLine,
  type SubledgerEntry,
  summed,
} from '../ledger/journal.ts';
import { postJournal } from '../ledger/store.ts';
import { type Balances, findBalances, type SubscriptionRow } from './store.ts';

export const depositHandlings = ['ApplyToBalance', 'Refund', 'Keep'] as const;
export type DepositHandling = (typeof depositHandlings)[number];

type Posting = {
  today: Temporal.PlainDate;
  businessUnitId: number;
  contextType: ContextType;
};

/** The balances that are left. What a deposit exceeds the balance by, the wallet gets. */
export async function settleDeposit(
  tx: Tx,
  tenantId: number,
  row: SubscriptionRow,
  options: Posting & { depositHandling: DepositHandling; cashAccountId: number },
  stamp: Stamp,
): Promise<Balances> {
  const { subscription_id: subscriptionId, party_id: partyId } = row;
  const held = await findBalances(tx, tenantId, { subscriptionId, partyId });
  const { deposit } = held;
  if (deposit === 0 || options.depositHandling === 'Keep') return held;
  const isRefund = options.depositHandling === 'Refund';
  const kind: EntryKind = isRefund ? 'Refund' : 'Deposit';
  const description = isRefund ? 'Security deposit refunded' : 'Security deposit applied';
  const own = { partyId, subscriptionId, kind, description } as const;
  const applied = isRefund ? 0 : Math.min(deposit, Math.max(held.receivable, 0));
  const rest = isRefund ? 0 : deposit - applied;
  const entries: SubledgerEntry[] = [
    { ...own, accountId: ledgerAccounts.deposit, amount: deposit },
  ];
  if (applied > 0) {
    entries.push({ ...own, accountId: openItemsAccount(options.contextType), amount: -applied });
  }
  if (rest > 0) {
    const wallet = { accountId: ledgerAccounts.advance, subscriptionId: null, amount: -rest };
    entries.push({ ...own, ...wallet });
  }
  const paid: JournalLine[] = isRefund
    ? [{ accountId: options.cashAccountId, amount: -deposit }]
    : [];
  await postJournal(
    tx,
    tenantId,
    {
      source: isRefund ? 'Refund' : 'Deposit',
      sourceId: subscriptionId,
      businessUnitId: options.businessUnitId,
      postingDate: options.today,
      description,
      lines: summed([...entries, ...paid]),
      entries,
    },
    stamp,
  );
  return { ...held, deposit: 0, receivable: held.receivable - applied };
}

/** All that is open on the subscription becomes the new owner's. Returns the receivable moved. */
export async function moveBalances(
  tx: Tx,
  tenantId: number,
  row: SubscriptionRow,
  options: Posting & { toPartyId: number; transferId: number },
  stamp: Stamp,
): Promise<number> {
  const { subscription_id: subscriptionId, party_id: fromPartyId } = row;
  const held = await findBalances(tx, tenantId, { subscriptionId, partyId: fromPartyId });
  const moved = [
    [openItemsAccount(options.contextType), held.receivable],
    [ledgerAccounts.deposit, -held.deposit],
    [ledgerAccounts.disputed, held.disputed],
  ] as const;
  const entries = moved
    .filter(([, amount]) => amount !== 0)
    .flatMap(([accountId, amount]): SubledgerEntry[] => {
      const both = { accountId, subscriptionId, kind: 'Transfer' } as const;
      return [
        { ...both, partyId: fromPartyId, amount: -amount, description: 'Moved to the new owner' },
        { ...both, partyId: options.toPartyId, amount, description: 'Moved from the old owner' },
      ];
    });
  if (entries.length === 0) return 0;
  await postJournal(
    tx,
    tenantId,
    {
      source: 'Transfer',
      sourceId: options.transferId,
      businessUnitId: options.businessUnitId,
      postingDate: options.today,
      description: 'Balance moved with a subscription',
      // What one party gives the other receives: no account as a whole changes.
      lines: summed(entries),
      entries,
    },
    stamp,
  );
  return held.receivable;
}
