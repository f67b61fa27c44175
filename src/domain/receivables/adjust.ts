// Adjustments: a customer is charged or credited beside the bills, or a debt is given up.

import type { Tx } from '../../base/db/pool.ts';
import type { RowProblem } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { eventsOf, insertEvents } from '../events/events-store.ts';
import { isOwedByWorkspace, ledgerAccounts, openItemsAccount } from '../ledger/accounts.ts';
import {
  type BookedEntry,
  type Booking,
  book,
  intoWallet,
  opening,
  settling,
} from '../ledger/book.ts';
import { componentAccounts } from '../ledger/component-accounts.ts';
import { listOpenItems, lockBills, lockWallets } from '../ledger/items-store.ts';
import type { OpenItem } from '../ledger/open-item.ts';
import { settle, useCredits } from '../ledger/settle.ts';
import { takeIds } from '../tenants/numbers-store.ts';
import type { WantedAdjustment } from './adjustment.ts';
import {
  type AdjustedSubscription,
  insertAdjustments,
  type KnownAdjustment,
  listAdjusted,
  listAdjustmentReferences,
} from './adjustments-store.ts';
import { problemsOfRace, type Taken, takeNew } from './references.ts';

export type Adjusted = {
  problems: readonly RowProblem[];
  adjustmentIds: readonly number[];
  repeated: number;
};

type Adjustment = WantedAdjustment & {
  row: number;
  adjustmentId: number;
  on: AdjustedSubscription;
};

/** All are made or, where one is refused, none. */
export async function makeAdjustments(
  tx: Tx,
  tenantId: number,
  wanted: readonly WantedAdjustment[],
  { today, stamp }: { today: Temporal.PlainDate; stamp: Stamp },
): Promise<Adjusted> {
  const numbers = wanted.map((one) => one.connectionNumber);
  const subscriptions = await listAdjusted(tx, tenantId, numbers);
  const early = wanted.flatMap((one, row) => problemsOf(one, subscriptions, row, today));
  if (early.length > 0) return { problems: early, adjustmentIds: [], repeated: 0 };
  await lockWallets(
    tx,
    tenantId,
    [...subscriptions.values()].map((one) => one.party_id),
  );
  const references = wanted.map((one) => one.reference);
  const known = await listAdjustmentReferences(tx, tenantId, references);
  const firstId = await takeIds(tx, tenantId, 'adjustment', wanted.length);
  const taken = takeAdjustments(wanted, subscriptions, known, firstId);
  const { ids: adjustmentIds } = taken;
  if (taken.problems.length > 0) return { ...taken, adjustmentIds, repeated: 0 };
  const adjustments = taken.rows.flatMap(({ wanted: one, row, id: adjustmentId }) => {
    const on = subscriptions.get(one.connectionNumber);
    return on ? [{ ...one, row, adjustmentId, on }] : [];
  });
  const problems = await bookAdjustments(tx, tenantId, adjustments, stamp);
  const made = adjustments.map((one) => one.adjustmentId);
  const events = eventsOf('adjustment.created', 'adjustmentID', made);
  await insertEvents(tx, tenantId, events, stamp.at);
  return { problems, adjustmentIds, repeated: wanted.length - adjustments.length };
}

function problemsOf(
  wanted: WantedAdjustment,
  subscriptions: ReadonlyMap<string, AdjustedSubscription>,
  row: number,
  today: Temporal.PlainDate,
): RowProblem[] {
  const { connectionNumber, component, date } = wanted;
  const found = subscriptions.get(connectionNumber);
  if (!found) {
    const message = `No subscription has the number ${connectionNumber}`;
    const problem = { name: 'connectionNumber', code: 'SUBSCRIPTION_NOT_FOUND' } as const;
    return [{ row, ...problem, message, rejectedValue: connectionNumber }];
  }
  if (!found.components.some(({ name }) => name === component)) {
    const message = `The pricing context has no component ${component}`;
    const problem = { name: 'component', code: 'COMPONENT_NOT_FOUND' } as const;
    return [{ row, ...problem, message, rejectedValue: component }];
  }
  if (Temporal.PlainDate.compare(date, today) > 0) {
    const message = 'The date of an adjustment is not after today';
    const problem = { name: 'date', code: 'DATE_IN_FUTURE' } as const;
    return [{ row, ...problem, message, rejectedValue: date.toString() }];
  }
  return [];
}

/** A reference that was used for the same adjustment is a repetition. */
function takeAdjustments(
  wanted: readonly WantedAdjustment[],
  subscriptions: ReadonlyMap<string, AdjustedSubscription>,
  known: ReadonlyMap<string, KnownAdjustment>,
  firstId: number,
): Taken<WantedAdjustment> {
  const subscriptionOf = (one: WantedAdjustment) =>
    subscriptions.get(one.connectionNumber)?.subscription_id ?? 0;
  return takeNew(wanted, known, {
    firstId,
    keep: (one, id, reference) => {
      const { kind, amount } = one;
      return { reference, id, subscription_id: subscriptionOf(one), kind, amount };
    },
    isSame: (one, before) =>
      before.subscription_id === subscriptionOf(one) &&
      before.kind === one.kind &&
      before.amount === one.amount,
    name: () => 'another adjustment',
  });
}

async function bookAdjustments(
  tx: Tx,
  tenantId: number,
  adjustments: readonly Adjustment[],
  stamp: Stamp,
): Promise<RowProblem[]> {
  if (adjustments.length === 0) return [];
  const partyIds = [...new Set(adjustments.map(({ on }) => on.party_id))];
  const items = await listOpenItems(tx, tenantId, { partyIds });
  const itemsOf = Map.groupBy(items, (item) => item.subscriptionId);
  const accountOf = await accountsOf(tx, tenantId, adjustments);
  const made = adjustments.map((one) => {
    return adjust(one, itemsOf.get(one.on.subscription_id) ?? [], accountOf(one));
  });
  const problems = made.flatMap((one) => one.problems);
  if (problems.length > 0) return problems;
  const billIds = made.flatMap(({ booking }) => booking.entries.flatMap((one) => one.billId ?? []));
  await lockBills(tx, tenantId, billIds);
  const journalIds = await book(
    tx,
    tenantId,
    made.map((one) => one.booking),
    stamp,
  );
  const rows = adjustments.map((one, index) => ({
    adjustmentId: one.adjustmentId,
    reference: one.reference,
    partyId: one.on.party_id,
    subscriptionId: one.on.subscription_id,
    billId: one.billId,
    component: one.component,
    kind: one.kind,
    amount: one.amount,
    walletAmount: made[index]?.walletAmount ?? 0,
    postingDate: one.date.toString(),
    reason: one.reason,
    journalId: journalIds[index] ?? 0,
  }));
  return problemsOfRace(rows, await insertAdjustments(tx, tenantId, rows, stamp));
}

async function accountsOf(
  tx: Tx,
  tenantId: number,
  adjustments: readonly Adjustment[],
): Promise<(one: Adjustment) => number> {
  const booked = ({ on, component }: Adjustment) => {
    return { ...componentOf(on, component), contextType: on.context_type };
  };
  const accountOf = await componentAccounts(tx, tenantId, adjustments.map(booked));
  return (one) => accountOf(booked(one));
}

function componentOf(on: AdjustedSubscription, name: string) {
  return on.components.find((one) => one.name === name) ?? { name };
}

type Made = { booking: Booking; walletAmount: number; problems: RowProblem[] };

function adjust(one: Adjustment, items: readonly OpenItem[], accountId: number): Made {
  const { kind, amount, component } = one;
  const isGivenUp = kind === 'WriteOff' || kind === 'BadDebt';
  const { entries, walletAmount } = kind === 'Debit' ? charge(one) : credit(one, items);
  const problems: RowProblem[] = [];
  if (isGivenUp && walletAmount > 0) {
    const message = 'More than is open cannot be written off';
    const problem = { name: 'amount', code: 'AMOUNT_ABOVE_OPEN', rejectedValue: null } as const;
    problems.push({ row: one.row, message, ...problem });
  }
  const side = isOwedByWorkspace(one.on.context_type) ? -1 : 1;
  const total = (kind === 'Debit' ? -amount : amount) * side;
  const against = isGivenUp
    ? { accountId: ledgerAccounts.badDebt, amount: total }
    : { accountId, component, amount: total };
  const booking: Booking = {
    source: isGivenUp ? 'WriteOff' : 'Adjustment',
    sourceId: one.adjustmentId,
    businessUnitId: one.on.business_unit_id,
    postingDate: one.date,
    description: `${kind} ${one.reference}: ${one.reason}`,
    entries,
    against: [against],
  };
  return { booking, walletAmount, problems };
}

type Effects = { entries: BookedEntry[]; walletAmount: number };

/** An open item of its own, due on its date. */
function charge({ on, amount, component, date, reference, reason }: Adjustment): Effects {
  const owner = {
    accountId: openItemsAccount(on.context_type),
    partyId: on.party_id,
    subscriptionId: on.subscription_id,
    billId: null,
  };
  const opens = { kind: 'Adjustment', dueDate: date.toString(), component } as const;
  const details = { reference, description: reason };
  const entry = opening(owner, { kind: 'Adjustment', amount }, opens, details);
  return { entries: [entry], walletAmount: 0 };
}

/** Of the bill that was named, or of the oldest items; what is more goes into the wallet. */
function credit(one: Adjustment, items: readonly OpenItem[]): Effects {
  const { on, amount, billId, reference, reason, kind } = one;
  const isGivenUp = kind === 'WriteOff' || kind === 'BadDebt';
  const details = { reference, description: reason };
  const offsets = useCredits(items);
  const wanted = billId === null ? items : items.filter((item) => item.billId === billId);
  const rules = { method: 'Chronology', subscriptionId: on.subscription_id } as const;
  const settled = settle(wanted, amount, rules);
  const left = amount - settled.reduce((sum, share) => sum + share.amount, 0);
  const effect = isGivenUp ? 'written_off' : 'credited';
  const entryKind = isGivenUp ? 'WriteOff' : 'Adjustment';
  const entries = [
    ...offsets.map((share) =>
      settling(share.item, { kind: 'Offset', effect: 'paid', amount: share.amount }, { reference }),
    ),
    ...settled.map((share) =>
      settling(share.item, { kind: entryKind, effect, amount: share.amount }, details),
    ),
    ...(left > 0 ? [intoWallet(on.party_id, { kind: entryKind, amount: left }, details)] : []),
  ];
  return { entries, walletAmount: left };
}
