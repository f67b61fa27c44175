// What a new subscription brings into the ledger: balances from before, and the deposit it owes.

import type { Tx } from '../../base/db/pool.ts';
import type { Stamp } from '../../base/stamp.ts';
import { ledgerAccounts, openItemsAccount } from '../ledger/accounts.ts';
import {
  type BookedEntry,
  type Booking,
  book,
  intoDeposit,
  intoWallet,
  opening,
} from '../ledger/book.ts';
import type { Draft } from './new-subscription.ts';

export type Opened = { draft: Draft; subscriptionId: number };

function openItemsOf({ context }: Draft): number {
  return openItemsAccount(context.row.context_type);
}

/** One booking of each kind for each business unit, however many subscriptions there are. */
export async function postBeginnings(
  tx: Tx,
  tenantId: number,
  opened: readonly Opened[],
  options: { today: Temporal.PlainDate; stamp: Stamp },
): Promise<void> {
  const { today, stamp } = options;
  const byUnit = Map.groupBy(opened, ({ draft }) => draft.context.row.business_unit_id);
  const bookings = [...byUnit].flatMap(([businessUnitId, group]) => {
    const sourceId = group[0]?.subscriptionId ?? 0;
    const common = { sourceId, businessUnitId, postingDate: today };
    return [openingBooking(group, common), depositBooking(group, common)];
  });
  const wanted = bookings.filter(({ entries }) => entries.length > 0);
  await book(tx, tenantId, wanted, stamp);
}

type Common = Pick<Booking, 'sourceId' | 'businessUnitId' | 'postingDate'>;

function openingBooking(group: readonly Opened[], common: Common): Booking {
  const dueDate = common.postingDate.toString();
  const description = 'Opening balance';
  const entries = group.flatMap(({ draft, subscriptionId }) =>
    draft.wanted.balances
      .filter(({ amount }) => amount !== 0)
      .map((balance): BookedEntry => {
        const { party_id: partyId } = draft.owner;
        const moved = { kind: 'Opening', amount: balance.amount } as const;
        const owner = { partyId, subscriptionId, billId: null };
        switch (balance.title) {
          case 'Advance':
            return intoWallet(partyId, moved, { description });
          case 'Security Deposit':
            return intoDeposit(owner, moved, { description });
          case 'Disputed':
            return { ...owner, ...moved, description, accountId: ledgerAccounts.disputed };
          default: {
            const accountId = openItemsOf(draft);
            const opens = { kind: 'Opening', dueDate } as const;
            return opening({ ...owner, accountId }, moved, opens, { description });
          }
        }
      }),
  );
  const against = entries.map(({ amount }) => ({
    accountId: ledgerAccounts.opening,
    amount: -amount,
  }));
  return { ...common, source: 'Opening', description: 'Opening balances', entries, against };
}

/** An open item: the customer owes it, and it is held for the customer. */
function depositBooking(group: readonly Opened[], common: Common): Booking {
  const entries = group.flatMap(({ draft, subscriptionId }) =>
    draft.deposits.flatMap(({ name: description, amount }): BookedEntry[] => {
      const due = common.postingDate.add({ days: draft.context.row.due_date_offset });
      const owner = { partyId: draft.owner.party_id, subscriptionId, billId: null };
      const moved = { kind: 'Deposit', amount } as const;
      const opens = { kind: 'Deposit', dueDate: due.toString() } as const;
      return [
        opening({ ...owner, accountId: openItemsOf(draft) }, moved, opens, { description }),
        intoDeposit(owner, moved, { description }),
      ];
    }),
  );
  return { ...common, source: 'Deposit', description: 'Security deposits demanded', entries };
}
