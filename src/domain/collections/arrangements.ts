// Arrangements with customers who owe: promises to pay, and instalment plans.

import type { Tx } from '../../base/db/pool.ts';
import { AppError, type RowProblem } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { lockWallets } from '../ledger/items-store.ts';
import { takeNumbers } from '../tenants/numbers-store.ts';
import {
  type ArrangementRow,
  endArrangements,
  type Instalment,
  insertArrangements,
  listActive,
  listOwned,
  listPartyIds,
  listPlannable,
  listToReview,
  lockArrangement,
  type NewArrangement,
  type OwnedSubscription,
} from './arrangements-store.ts';

type Posting = { today: Temporal.PlainDate; stamp: Stamp };
export type Made = { problems: readonly RowProblem[]; ids: readonly number[] };

export type WantedPromise = {
  partyNumber: number;
  amount: number;
  date: Temporal.PlainDate;
  reason: string;
};

/** All are made or, where one is refused, none. */
export async function makePromises(
  tx: Tx,
  tenantId: number,
  wanted: readonly WantedPromise[],
  { today, stamp }: Posting,
): Promise<Made> {
  const numbers = wanted.map((one) => one.partyNumber);
  const parties = await listPartyIds(tx, tenantId, numbers);
  const problems = wanted.flatMap((one, row) => promiseProblems(one, row, parties, today));
  if (problems.length > 0) return { problems, ids: [] };
  const firstId = await takeNumbers(tx, tenantId, 'arrangement', wanted.length);
  const made = wanted.map((one, index) => ({
    arrangementId: firstId + index,
    kind: 'Promise' as const,
    partyId: parties.get(one.partyNumber) ?? 0,
    subscriptionId: null,
    amount: one.amount,
    untilDate: one.date.toString(),
    billIds: [],
    openAtStart: 0,
    reason: one.reason,
    instalments: [],
  }));
  await insertArrangements(tx, tenantId, made, stamp);
  return { problems, ids: made.map((one) => one.arrangementId) };
}

function promiseProblems(
  { partyNumber, date }: WantedPromise,
  row: number,
  parties: ReadonlyMap<number, number>,
  today: Temporal.PlainDate,
): RowProblem[] {
  if (!parties.has(partyNumber)) {
    const message = `No party has the number ${partyNumber}`;
    const problem = { name: 'partyNumber', code: 'PARTY_NOT_FOUND' } as const;
    return [{ row, ...problem, message, rejectedValue: partyNumber }];
  }
  return pastProblems(date, row, 'date', today);
}

function pastProblems(
  date: Temporal.PlainDate,
  row: number,
  name: string,
  today: Temporal.PlainDate,
): RowProblem[] {
  if (Temporal.PlainDate.compare(date, today) >= 0) return [];
  const message = 'The customer cannot agree to pay on a day that is past';
  return [{ row, name, code: 'INVALID_DATE', message, rejectedValue: date.toString() }];
}

export type WantedPlan = {
  connectionNumber: string;
  billIds: readonly number[];
  instalments: readonly { dueDate: Temporal.PlainDate; amount: number }[];
  reason: string;
};

/** All are made or, where one is refused, none. */
export async function makePlans(
  tx: Tx,
  tenantId: number,
  wanted: readonly WantedPlan[],
  { today, stamp }: Posting,
): Promise<Made> {
  const numbers = wanted.map((one) => one.connectionNumber);
  const owned = await listOwned(tx, tenantId, numbers);
  const partyIds = [...owned.values()].map((one) => one.party_id);
  await lockWallets(tx, tenantId, partyIds);
  const active = await listActive(tx, tenantId, partyIds);
  const firstId = await takeNumbers(tx, tenantId, 'arrangement', wanted.length);
  const problems: RowProblem[] = [];
  const made: NewArrangement[] = [];
  for (const [row, one] of wanted.entries()) {
    const on = owned.get(one.connectionNumber);
    const taken = [...active, ...made.map(({ subscriptionId: id }) => ({ subscription_id: id }))];
    const wrong = planProblems(one, row, on, taken, today);
    problems.push(...wrong);
    if (!on || wrong.length > 0) continue;
    const plan = await planOf(tx, tenantId, one, { row, on, arrangementId: firstId + row });
    if ('code' in plan) problems.push(plan);
    else made.push(plan);
  }
  if (problems.length > 0) return { problems, ids: [] };
  await insertArrangements(tx, tenantId, made, stamp);
  return { problems, ids: made.map((one) => one.arrangementId) };
}

function planProblems(
  { connectionNumber, instalments }: WantedPlan,
  row: number,
  on: OwnedSubscription | undefined,
  active: readonly Pick<ArrangementRow, 'subscription_id'>[],
  today: Temporal.PlainDate,
): RowProblem[] {
  if (!on) {
    const message = `No subscription has the number ${connectionNumber}`;
    const problem = { name: 'connectionNumber', code: 'SUBSCRIPTION_NOT_FOUND' } as const;
    return [{ row, ...problem, message, rejectedValue: connectionNumber }];
  }
  if (active.some((one) => one.subscription_id === on.subscription_id)) {
    const message = `${connectionNumber} has an instalment plan already: end that one first`;
    const problem = { name: 'connectionNumber', code: 'INVALID_STATE' } as const;
    return [{ row, ...problem, message, rejectedValue: connectionNumber }];
  }
  return instalments.flatMap(({ dueDate }, index) =>
    pastProblems(dueDate, row, `instalments[${index}].dueDate`, today),
  );
}

/** Instalments come to what is open of the bills. */
async function planOf(
  tx: Tx,
  tenantId: number,
  wanted: WantedPlan,
  { row, on, arrangementId }: { row: number; on: OwnedSubscription; arrangementId: number },
): Promise<NewArrangement | RowProblem> {
  const owner = { subscriptionId: on.subscription_id, partyId: on.party_id };
  const billIds = [...new Set(wanted.billIds)];
  const bills = await listPlannable(tx, tenantId, owner, billIds);
  const missing = billIds.find((id) => !bills.some((bill) => bill.bill_id === id));
  if (missing !== undefined) {
    const message = `Bill ${missing} is not an open published bill of ${on.subscription_number}`;
    const code = 'BILL_NOT_FOUND' as const;
    return { row, name: 'billIDs', code, message, rejectedValue: missing };
  }
  const open = bills.reduce((sum, bill) => sum + bill.open, 0);
  const instalments: Instalment[] = wanted.instalments
    .map(({ dueDate, amount }) => ({ dueDate: dueDate.toString(), amount }))
    .toSorted((a, b) => (a.dueDate < b.dueDate ? -1 : 1));
  const amount = instalments.reduce((sum, one) => sum + one.amount, 0);
  if (amount !== open) {
    const message = 'The instalments do not add up to the open amount of the bills';
    const code = 'INVALID_NUMBER' as const;
    return { row, name: 'instalments', code, message, rejectedValue: null };
  }
  const untilDate = instalments.at(-1)?.dueDate ?? '';
  const facts = { arrangementId, kind: 'InstalmentPlan' as const, reason: wanted.reason };
  return { ...facts, ...owner, amount, untilDate, billIds, openAtStart: open, instalments };
}

export async function endArrangement(
  tx: Tx,
  tenantId: number,
  { arrangementId, reason }: { arrangementId: number; reason: string },
  { today, stamp }: Posting,
): Promise<ArrangementRow> {
  const field = 'data.arrangementID';
  const found = await lockArrangement(tx, tenantId, arrangementId);
  if (!found) {
    const message = `No arrangement has the id ${arrangementId}`;
    throw new AppError('ARRANGEMENT_NOT_FOUND', { message, field });
  }
  if (found.status !== 'Active') {
    const message = `Arrangement ${arrangementId} is ${found.status}: it has ended already`;
    throw new AppError('INVALID_STATE', { message, field, current: found.status });
  }
  const end = { status: 'Ended', reason, day: today } as const;
  await endArrangements(tx, tenantId, [arrangementId], end, stamp);
  return found;
}

/** The daily job of arrangements: what was kept or broken before the day ends. */
export async function reviewArrangements(
  tx: Tx,
  tenantId: number,
  { localDate: day, now }: { localDate: Temporal.PlainDate; now: Temporal.Instant },
): Promise<{ kept: number; broken: number }> {
  const stamp = { at: now, by: 'daily job' };
  const reviewed = await listToReview(tx, tenantId, day);
  const isPlan = (kind: string) => kind === 'InstalmentPlan';
  const kept = reviewed.filter(({ kind, due, paid, open }) =>
    isPlan(kind) ? open === 0 : paid >= due,
  );
  const broken = reviewed.filter((one) => one.paid < one.due && !kept.includes(one));
  const idsOf = (some: typeof reviewed) => some.map((one) => one.arrangement_id);
  const paidReason = 'It was paid as agreed';
  const missedReason = 'A payment was missed';
  await endArrangements(
    tx,
    tenantId,
    idsOf(kept),
    { status: 'Kept', reason: paidReason, day },
    stamp,
  );
  const end = { status: 'Broken', reason: missedReason, day } as const;
  await endArrangements(tx, tenantId, idsOf(broken), end, stamp);
  return { kept: kept.length, broken: broken.length };
}
