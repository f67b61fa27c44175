// What posting books: the lines of bills on the accounts of their components, wallets, deposits.

import { storedDay } from '../../../base/days.ts';
import type { Tx } from '../../../base/db/pool.ts';
import {
  type ContextType,
  isOwedByWorkspace,
  ledgerAccounts,
  openItemsAccount,
} from '../../ledger/accounts.ts';
import { type Booking, intoDeposit, intoWallet, opening, settling } from '../../ledger/book.ts';
import { componentAccounts } from '../../ledger/component-accounts.ts';
import type { Journal, SummedLine } from '../../ledger/journal.ts';
import type { PinnedBook } from '../../pricing/price-books.ts';
import type { FrozenInputs } from '../../rating/frozen-inputs.ts';
import { firstBillDeposits } from '../../rating/rate/security-deposit.ts';
import type { Term } from '../../terms/store.ts';
import { chargeOf } from '../generate/booking.ts';
import type { DraftCharges, FirstBillRow, ShareRow } from './post-store.ts';
import type { WalletUse } from './wallets-store.ts';

export type JournalHead = Pick<
  Journal,
  'sourceId' | 'termId' | 'businessUnitId' | 'postingDate' | 'description'
>;

type AccountOf = (component: string, type: string | null) => number;

/**
 * The account that a component names on the last day of the term, otherwise that of its type. A
 * component that was removed before that day keeps the account that it had.
 */
export async function accountsOfTerm(
  tx: Tx,
  tenantId: number,
  { book }: PinnedBook,
  term: Pick<Term, 'context_type' | 'end_date'>,
): Promise<AccountOf> {
  const { context_type: contextType } = term;
  const lastDay = storedDay(term.end_date);
  const accounts = new Map<string, string | null | undefined>();
  const components = book.contexts
    .filter(({ from }) => from <= lastDay)
    .flatMap(({ item }) => item.definition.components ?? []);
  for (const { name, account } of components) accounts.set(name, account);
  const accountOf = await componentAccounts(
    tx,
    tenantId,
    components.map(({ account, type }) => ({ account, type, contextType })),
  );
  return (component, type) => accountOf({ account: accounts.get(component), type, contextType });
}

/**
 * Debits the customers, and credits every component and the rounding. In `Purchase` and `Payroll`
 * contexts, where the workspace owes the amount, it is the other way round.
 */
export function billLines(
  drafts: readonly DraftCharges[],
  accountOf: AccountOf,
  contextType: ContextType,
): SummedLine[] {
  const side = isOwedByWorkspace(contextType) ? -1n : 1n;
  const sums = new Map<string, ExactSum>();
  let rounding: ExactSum = 0;
  for (const draft of drafts) {
    for (const key in draft.charges) {
      sums.set(key, exactSum(sums.get(key) ?? 0, draft.charges[key] ?? 0));
    }
    rounding = exactSum(rounding, draft.rounding_adjustment);
  }
  const credits: SummedLine[] = [...sums.keys()].sort().map((key) => {
    const { component, type } = chargeOf(key);
    return {
      accountId: accountOf(component, type),
      component,
      amount: -side * BigInt(sums.get(key) ?? 0),
    };
  });
  const { rounding: accountId } = ledgerAccounts;
  credits.push({ accountId, component: null, amount: -side * BigInt(rounding) });
  const booked = credits.filter(({ amount }) => amount !== 0n);
  const billed = booked.reduce((sum, line) => sum - line.amount, 0n);
  return [{ accountId: openItemsAccount(contextType), amount: billed }, ...booked];
}

/** A number for as long as one holds it exactly. */
type ExactSum = number | bigint;

function exactSum(sum: ExactSum, amount: number): ExactSum {
  const next = typeof sum === 'number' ? sum + amount : null;
  return next !== null && Number.isSafeInteger(next) ? next : BigInt(sum) + BigInt(amount);
}

/** Money that was paid ahead settles the bill: debit Advance, credit Receivable. */
export function walletBooking(
  head: JournalHead,
  uses: readonly WalletUse[],
  owed: readonly ShareRow[],
): Booking {
  const sharesOf = Map.groupBy(owed, (row) => row.bill_id);
  const { receivable: accountId } = ledgerAccounts;
  const entries = uses.flatMap(({ bill_id: billId, party_id: partyId, applied }) => {
    const shares = spread(applied, sharesOf.get(billId) ?? []);
    return [
      intoWallet(partyId, { kind: 'Wallet', amount: -applied }, { billId }),
      ...shares.map(({ subscriptionId, amount }) =>
        settling(
          { billId, itemId: null, accountId, partyId, subscriptionId },
          { kind: 'Wallet', effect: 'paid', amount },
        ),
      ),
    ];
  });
  return { ...head, source: 'Wallet', entries };
}

/** Divides the money over the subscriptions, one after the other; shares below zero get nothing. */
function spread(
  applied: number,
  parts: readonly ShareRow[],
): { subscriptionId: number; amount: number }[] {
  let left = applied;
  const shares = parts.map(({ subscription_id: subscriptionId, amount }) => {
    const share = Math.min(left, Math.max(0, amount));
    left -= share;
    return { subscriptionId, amount: share };
  });
  return shares.filter(({ amount }) => amount !== 0);
}

/** Whether any plan asks for a deposit with the first bill. */
export function asksDeposits({ book }: PinnedBook): boolean {
  return book.definitions.plans.some(({ definition }) =>
    (definition.securityAttributes ?? []).some(({ dueAt }) => dueAt === 'FirstBill'),
  );
}

/** Deposits that fall due with first bills: an open item each, held for the customer. */
export function depositBooking(
  head: JournalHead,
  { book, planCodes }: PinnedBook,
  firsts: readonly FirstBillRow[],
  contextType: ContextType,
): Booking {
  const accountId = openItemsAccount(contextType);
  const entries = firsts.flatMap((row) => {
    const { bill_id: billId, party_id: partyId, subscription_id: subscriptionId } = row;
    const code = planCodes.get(row.plan_id) ?? '';
    const lines = firstBillDeposits(book, code, row.frozen as FrozenInputs);
    return lines.flatMap(({ name: description, amount }) => {
      const moved = { kind: 'Deposit', amount } as const;
      const owner = { billId, partyId, subscriptionId };
      const opens = { kind: 'Deposit', dueDate: row.due_date } as const;
      return [
        opening({ ...owner, accountId }, moved, opens, { description }),
        intoDeposit(owner, moved, { description }),
      ];
    });
  });
  return { ...head, source: 'Deposit', description: 'Security deposits demanded', entries };
}
