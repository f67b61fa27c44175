// What a new subscription brings into the ledger: balances from before, and the deposit it owes.

import type { Tx } from '../../base/db/pool.ts';
import type { Stamp } from '../../base/stamp.ts';
import { ledgerAccounts, openItemsAccount } from '../ledger/accounts.ts';
import { type Journal, type SubledgerEntry, summed } from '../ledger/journal.ts';
import { postJournal } from '../ledger/store.ts';
import type { Draft, OpeningBalance } from './new-subscription.ts';

export type Opened = { draft: Draft; subscriptionId: number };

function accountOf(title: OpeningBalance['title'], draft: Draft): number {
  switch (title) {
    case 'Advance':
      return ledgerAccounts.advance;
    case 'Security Deposit':
      return ledgerAccounts.deposit;
    case 'Disputed':
      return ledgerAccounts.disputed;
    default:
      return openItemsOf(draft);
  }
}

function openItemsOf({ context }: Draft): number {
  return openItemsAccount(context.row.context_type);
}

/** What is owed to us is a debit; what we owe or hold, a credit. */
function signed({ title, amount }: OpeningBalance): number {
  return title === 'Receivable' || title === 'Disputed' ? amount : -amount;
}

/** One journal of each kind for each business unit, however many subscriptions there are. */
export async function postBeginnings(
  tx: Tx,
  tenantId: number,
  opened: readonly Opened[],
  options: { today: Temporal.PlainDate; stamp: Stamp },
): Promise<void> {
  const { today, stamp } = options;
  const byUnit = Map.groupBy(opened, ({ draft }) => draft.context.row.business_unit_id);
  for (const [businessUnitId, group] of byUnit) {
    const sourceId = group[0]?.subscriptionId ?? 0;
    const common = { sourceId, businessUnitId, postingDate: today };
    for (const journal of [openingJournal(group, common), depositJournal(group, common)]) {
      if (journal.entries.length > 0) await postJournal(tx, tenantId, journal, stamp);
    }
  }
}

type Common = Pick<Journal, 'sourceId' | 'businessUnitId' | 'postingDate'>;

function openingJournal(group: readonly Opened[], common: Common): Journal {
  const entries = group.flatMap(({ draft, subscriptionId }) =>
    draft.wanted.balances
      .filter(({ amount }) => amount !== 0)
      .map((balance): SubledgerEntry => {
        const isWallet = balance.title === 'Advance';
        return {
          accountId: accountOf(balance.title, draft),
          partyId: draft.owner.party_id,
          subscriptionId: isWallet ? null : subscriptionId,
          kind: 'Opening',
          amount: signed(balance),
          dueDate: common.postingDate.toString(),
          description: 'Opening balance',
        };
      }),
  );
  const against = entries.map(({ amount }) => ({
    accountId: ledgerAccounts.opening,
    amount: -amount,
  }));
  return {
    ...common,
    source: 'Opening',
    description: 'Opening balances',
    lines: summed([...entries, ...against]),
    entries,
  };
}

/** An open item: the customer owes it, and it is held for the customer. */
function depositJournal(group: readonly Opened[], common: Common): Journal {
  const entries = group.flatMap(({ draft, subscriptionId }) =>
    draft.deposits.flatMap(({ name, amount }): SubledgerEntry[] => {
      const due = common.postingDate.add({ days: draft.context.row.due_date_offset });
      const item = {
        partyId: draft.owner.party_id,
        subscriptionId,
        kind: 'Deposit',
        dueDate: due.toString(),
        description: name,
      } as const;
      return [
        { ...item, accountId: openItemsOf(draft), amount },
        { ...item, accountId: ledgerAccounts.deposit, amount: -amount },
      ];
    }),
  );
  return {
    ...common,
    source: 'Deposit',
    description: 'Security deposits demanded',
    lines: summed(entries),
    entries,
  };
}
