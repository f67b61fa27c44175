// Credits a posted bill: how much of each component can still be credited, and what is booked.
import {
  type ContextType,
  isOwedByWorkspace,
  ledgerAccounts,
  openItemsAccount,
} from '../../ledger/accounts.ts';
import {
  type BookedEntry,
  type Booking,
  type ItemKey,
  intoWallet,
  settling,
} from '../../ledger/book.ts';
import type { BookedComponent } from '../../ledger/component-accounts.ts';
import type { JournalLine } from '../../ledger/journal.ts';
import {
  type BilledComponent,
  type BilledPart,
  componentsOf,
  creditedOf,
  type TermComponents,
} from '../components.ts';
import type { TakenBack } from '../late/take-back.ts';
import type { JournalHead } from './bill-journals.ts';
import type { DemandedRow, PaidRow } from './creditable-store.ts';

/** A posted bill, with what is billed and settled of it. Crediting it changes its parts. */
export type Creditable = {
  billId: number;
  billNumber: string | null;
  termId: number;
  partyId: number;
  posting: number;
  status: string;
  contextType: ContextType;
  businessUnitId: number;
  rules: TermComponents;
  parts: BilledPart[];
  /** The newest first. */
  paid: PaidRow[];
};

export type CreditLine = {
  subscriptionId: number;
  /** Null for the rounding of the bill. */
  component: string | null;
  type: string | null;
  amount: number;
};

/** All that is neither credited nor written off, moved to the next owner or in dispute. */
export function restOf({ parts, rules }: Pick<Creditable, 'parts' | 'rules'>): CreditLine[] {
  return parts.flatMap((part) => {
    const { subscriptionId } = part;
    const components = componentsOf(part, rules);
    const rounding = part.amount - components.reduce((sum, one) => sum + one.amount, 0n);
    const lines = components.map((one) => ({
      ...{ subscriptionId, component: one.component, type: one.type },
      amount: Number(leftOf(one)),
    }));
    const rounded = Number(rounding - creditedOf(part, null));
    const last = { subscriptionId, component: null, type: null, amount: rounded };
    return [...lines, last].filter((line) => line.amount !== 0);
  });
}

function leftOf({ amount, credited, gone }: BilledComponent): bigint {
  return amount - credited - gone;
}

/**
 * The lines that credit so much of a component, one subscription after the other, and what cannot
 * be credited because it is more than is left.
 */
export function linesOf(
  { parts, rules }: Pick<Creditable, 'parts' | 'rules'>,
  wanted: { component: string; amount: number },
): { lines: CreditLine[]; above: number } {
  let above = wanted.amount;
  const lines = parts.flatMap((part) => {
    const found = componentsOf(part, rules).find((one) => one.component === wanted.component);
    const room = part.amount - part.credited - part.gone;
    const left = found ? Math.min(Number(leftOf(found)), Number(room)) : 0;
    const amount = Math.min(above, left);
    if (!found || amount <= 0) return [];
    above -= amount;
    const { component, type } = found;
    return [{ subscriptionId: part.subscriptionId, component, type, amount }];
  });
  return { lines, above };
}

/** The lines that credit so much of what is open for a subscription, in the order of settlement. */
export function openLines(
  { parts, rules }: Pick<Creditable, 'parts' | 'rules'>,
  wanted: { subscriptionId: number; amount: number },
): CreditLine[] {
  const { subscriptionId } = wanted;
  const part = parts.find((one) => one.subscriptionId === subscriptionId);
  let left = wanted.amount;
  return (part ? componentsOf(part, rules) : []).flatMap(({ component, type, outstanding }) => {
    const amount = Math.min(left, Number(outstanding));
    if (amount <= 0) return [];
    left -= amount;
    return [{ subscriptionId, component, type, amount }];
  });
}

export type Credit = { booking: Booking; toWallet: number };

/** What a cancelled bill takes back besides its own amount. */
export type Besides = {
  surcharges: Pick<TakenBack, 'entries' | 'against' | 'toWallet'> | undefined;
  /** That the bill demanded. */
  deposits: readonly DemandedRow[];
};

/**
 * Books the lines against what the bill is still owed. What had been paid of it goes back into the
 * wallet, by payment: one that is reversed later takes its money from there.
 */
export function creditBooking(
  head: JournalHead,
  bill: Creditable,
  lines: readonly CreditLine[],
  options: {
    accountOf(component: BookedComponent): number;
    reference: string;
    besides: Besides | undefined;
  },
): Credit {
  const { reference } = options;
  const { surcharges, deposits = [] } = options.besides ?? {};
  const { contextType, rules, partyId, billId, posting } = bill;
  const side = isOwedByWorkspace(contextType) ? -1 : 1;
  const against = lines.map(({ component, type, amount }): JournalLine => {
    const account = component === null ? null : rules.components.get(component)?.account;
    const accountId =
      component === null
        ? ledgerAccounts.rounding
        : options.accountOf({ account, type, contextType });
    return { accountId, component, amount: side * amount };
  });
  const linesOf = Map.groupBy(lines, (line) => line.subscriptionId);
  const credited = [...linesOf].map(([id, own]) => creditPart(bill, id, own));
  const returned = deposits.flatMap((row) =>
    row.account_id === ledgerAccounts.deposit ? [] : takePaid(bill, row, Number.MAX_SAFE_INTEGER),
  );
  const unpaid = [...credited.flatMap((one) => one.unpaid), ...returned];
  const entries: BookedEntry[] = [
    ...credited.map(({ item, amount }) =>
      settling(item, { kind: 'CreditNote', effect: 'credited', amount }, { reference }),
    ),
    ...unpaid.flatMap(({ item, row, amount }) => {
      const { payment_id: paymentId } = row;
      const kind = row.kind ?? 'CreditNote';
      const details = { paymentId, reference };
      return [
        settling(item, { kind, effect: 'paid', amount: -amount }, { ...details, isPayment: true }),
        intoWallet(partyId, { kind: 'Wallet', amount }, { ...details, billId }),
      ];
    }),
    ...deposits.map((row) => undemanded(bill, row, reference)),
    ...(surcharges?.entries ?? []).map((entry) => ({ ...entry, reference })),
  ];
  const toWallet = unpaid.reduce((sum, one) => sum + one.amount, surcharges?.toWallet ?? 0);
  const booked = entries.filter(({ amount }) => amount !== 0);
  const withPosting = booked.map((entry) => ({ ...entry, posting }));
  const booking: Booking = {
    ...head,
    source: 'CreditNote',
    against: [...against, ...(surcharges?.against ?? [])],
    entries: withPosting,
  };
  return { booking, toWallet };
}

type Unpaid = { item: ItemKey; row: PaidRow; amount: number };

function itemOf(bill: Creditable, subscriptionId: number, itemId: number | null): ItemKey {
  const { billId, partyId, contextType } = bill;
  return { billId, partyId, subscriptionId, itemId, accountId: openItemsAccount(contextType) };
}

/** What is credited for a subscription, and what was paid of that. */
function creditPart(
  bill: Creditable,
  subscriptionId: number,
  lines: readonly CreditLine[],
): { item: ItemKey; amount: number; unpaid: Unpaid[] } {
  const part = bill.parts.find((one) => one.subscriptionId === subscriptionId);
  if (!part) throw new Error(`bill ${bill.billId} has no subscription ${subscriptionId}`);
  const amount = lines.reduce((sum, line) => sum + line.amount, 0);
  const open = part.amount - part.paid - part.credited - part.gone;
  const above = amount > 0 ? Math.max(0, amount - Number(open)) : 0;
  addCredit(bill, lines);
  bill.parts = bill.parts.map((one) =>
    one.subscriptionId === subscriptionId ? { ...one, paid: one.paid - BigInt(above) } : one,
  );
  const unpaid = takePaid(bill, { subscription_id: subscriptionId, item_id: null }, above);
  return { item: itemOf(bill, subscriptionId, null), amount, unpaid };
}

/** What the lines credit is no longer left of the bill. */
export function addCredit(bill: Creditable, lines: readonly CreditLine[]): void {
  bill.parts = bill.parts.map((part) => {
    const own = lines
      .filter((line) => line.subscriptionId === part.subscriptionId)
      .map(({ component, amount }) => ({ component, amount: BigInt(amount) }));
    const total = own.reduce((sum, line) => sum + line.amount, 0n);
    const creditLines = [...part.creditLines, ...own];
    return { ...part, credited: part.credited + total, creditLines };
  });
}

/** Takes an amount from the payments of the item, the newest first. */
function takePaid(
  bill: Creditable,
  { subscription_id, item_id }: Pick<PaidRow, 'subscription_id' | 'item_id'>,
  wanted: number,
): Unpaid[] {
  let left = wanted;
  const item = itemOf(bill, subscription_id, item_id);
  const isOf = (row: PaidRow) =>
    row.subscription_id === subscription_id && row.item_id === item_id && row.amount > 0;
  return bill.paid.filter(isOf).flatMap((row) => {
    const amount = Math.min(left, row.amount);
    if (amount <= 0) return [];
    left -= amount;
    row.amount -= amount;
    return [{ item, row, amount }];
  });
}

/** A deposit that the bill demanded is demanded by the next one again. */
function undemanded(bill: Creditable, row: DemandedRow, reference: string): BookedEntry {
  const { partyId, billId, contextType } = bill;
  return {
    ...{ partyId, billId, reference, kind: 'Deposit', accountId: row.account_id },
    ...{ subscriptionId: row.subscription_id, itemId: row.item_id },
    effect: row.account_id === openItemsAccount(contextType) ? 'credited' : null,
    amount: -row.amount,
  };
}
