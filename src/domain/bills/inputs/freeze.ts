// Turns what was read of a subscription into the frozen inputs of its bill. Pure: the same rows
// give the same frozen inputs, in the same order, so that the same bill has the same bytes.

import { formatDay, isoDay, storedDay, wireDay } from '../../../base/days.ts';
import { minorUnitsText } from '../../../base/numbers/decimal-text.ts';
import type {
  FrozenAccount,
  FrozenConnection,
  FrozenInputs,
  FrozenPreviousTerm,
  FrozenTerm,
  HistoryTerm,
  UploadedUsage,
} from '../../rating/frozen-inputs.ts';
import { requiredDay, runsBetween } from '../../rating/periods/billable-days.ts';
import type { Term } from '../../terms/store.ts';
import { billedOnly, type HistoryEntry } from '../../terms/usage-history-store.ts';
import { carriedOf, estimatesOf } from './estimated-units.ts';
import { metersOf } from './freeze-meters.ts';
import type { FreezeScope, Inputs, Mutable } from './inputs.ts';
import type { InputsBefore } from './inputs-before-store.ts';
import type { BilledRow, UsageRow } from './inputs-store.ts';
import { addUploadedDays } from './uploaded-days.ts';

export function frozenTermOf(term: Term): FrozenTerm {
  return {
    label: term.label,
    startDate: wireDay(term.start_date),
    endDate: wireDay(term.end_date),
    dueDate: wireDay(term.due_date),
    months: term.months === '1' ? 1 : term.months,
  };
}

export function freeze(scope: FreezeScope, inputs: Inputs): FrozenInputs {
  const { row, accountStatus } = inputs;
  const connection = connectionOf(scope, row);
  const frozen: Mutable<FrozenInputs> = { term: scope.frozenTerm, connection };
  const previous = previousTermOf(scope, inputs, connection);
  const meters = metersOf(scope, inputs, previous !== null && looksBack(connection, previous));
  if (meters.length > 0) frozen.meters = meters;
  const { current, past } = usageOf(inputs.usage, previous);
  if (current !== null) {
    frozen.uploadedUsage = current;
    addUploadedDays(frozen, scope.term, inputs);
  }
  if (accountStatus.history !== null) addHistory(frozen, accountStatus.history);
  if (previous !== null) {
    frozen.previousTerm = past === null ? previous : { ...previous, usage: past };
  }
  if (inputs.manual.length > 0) {
    frozen.manual = inputs.manual.map(({ component, value, is_left_out }) => {
      const entry = [row.subscription_number, component, value] as const;
      return is_left_out ? ([...entry, lastDayBefore(scope.term.start_date)] as const) : entry;
    });
  }
  const account = accountOf(scope, inputs);
  if (account !== null) frozen.account = account;
  return frozen;
}

/** Whether there was a day whose use the bill would price. */
function looksBack(connection: FrozenConnection, previous: FrozenPreviousTerm): boolean {
  const { term, usedFrom, usedThrough } = previous;
  const first = requiredDay(usedFrom ?? term.startDate, 'usedFrom');
  const last = requiredDay(usedThrough ?? term.endDate, 'usedThrough');
  return runsBetween(connection, first, last).length > 0;
}

/**
 * Stored ends are the first day on which something no longer holds; frozen inputs name the last.
 */
function lastDayBefore(isoDate: string): string {
  return wireDay(Temporal.PlainDate.from(isoDate).subtract({ days: 1 }).toString());
}

function connectionOf(scope: FreezeScope, row: BilledRow): FrozenConnection {
  const connection: Mutable<FrozenConnection> = {
    connectionNumber: row.subscription_number,
    connectionDate: wireDay(row.connection_date),
    tariffHistory: row.plan_history.map(({ planId, fromDate }) => ({
      tariffCode: scope.planCodes.get(planId) ?? '',
      fromDate: wireDay(fromDate),
    })),
  };
  if (row.billed_through !== null) connection.billedThrough = wireDay(row.billed_through);
  if (isFirstBill(scope.term, row)) connection.isFirstBill = true;
  const lastOwn = row.handed_over === null ? null : lastDayBefore(row.handed_over);
  if (lastOwn !== null && lastOwn === connection.billedThrough) connection.isHandedOn = true;
  const statuses = statusesOf(row);
  if (statuses !== null) {
    connection.statusHistory = statuses.map(({ status, fromDate }) => ({
      status,
      fromDate: wireDay(fromDate),
    }));
  }
  if (row.connection_inputs !== null) {
    connection.connectionInputs = row.connection_inputs.map(({ name, value }) => ({ name, value }));
  }
  if (row.quantities !== null) {
    connection.unmeteredInputs = row.quantities.map(({ name, value, fromDate }) =>
      fromDate ? { name, value, fromDate: wireDay(fromDate) } : { name, value },
    );
  }
  addRest(scope, row, connection);
  return connection;
}

/** For the owner before, it ends with the day before it was handed over. */
function statusesOf(row: BilledRow): BilledRow['status_history'] {
  const { handed_over: end } = row;
  if (end === null) return row.status_history;
  const known = row.status_history ?? [{ status: 'Active', fromDate: row.connection_date }];
  const before = known.filter(({ fromDate }) => fromDate < end);
  return [...before, { status: 'Disconnected', fromDate: end }];
}

/** What most subscriptions do not have. */
function addRest(scope: FreezeScope, row: BilledRow, connection: Mutable<FrozenConnection>): void {
  if (row.variants !== null) {
    // Those of another shape are only kept.
    connection.variants = row.variants.flatMap(({ name, value, fromDate, toDate }) => {
      if (name === undefined || value === undefined || value === null) return [];
      const from = fromDate ? { fromDate: wireDay(fromDate) } : {};
      return [{ name, value, ...from, ...(toDate ? { toDate: lastDayBefore(toDate) } : {}) }];
    });
  }
  if (row.add_ons !== null) {
    connection.addOns = row.add_ons.map(({ planId, quantity, fromDate, toDate }) => ({
      tariffCode: scope.planCodes.get(planId) ?? '',
      quantity: quantity ?? '1',
      ...(fromDate ? { fromDate: wireDay(fromDate) } : {}),
      ...(toDate ? { toDate: lastDayBefore(toDate) } : {}),
    }));
  }
  if (row.transfers !== null) {
    const { handed_over: end } = row;
    const own = row.transfers.filter(({ transferDate }) => end === null || transferDate < end);
    connection.transfers = own.map(({ transferDate }) => ({
      transferDate: wireDay(transferDate),
    }));
  }
}

/** True if nothing was billed since the connection, by this system or by the one before it. */
function isFirstBill(term: Term, row: BilledRow): boolean {
  return row.billed_through === null
    ? row.connection_date >= term.start_date
    : row.billed_through < row.connection_date;
}

type PlainUsage = Record<string, UploadedUsage>;

/**
 * Uploaded use by input. Where bills are made in advance, use is known only afterwards: what
 * carries no date, or a date before the term, is of the term before.
 */
function usageOf(
  rows: readonly UsageRow[],
  previous: FrozenPreviousTerm | null,
): { current: PlainUsage | null; past: PlainUsage | null } {
  if (rows.length === 0) return { current: null, past: null };
  const current: PlainUsage = {};
  const past: PlainUsage = {};
  for (const { input, usage_date: date, quantity } of rows) {
    const isPast = previous !== null && (date === null || isOfTermBefore(date, previous));
    const usage = isPast ? past : current;
    // What is of the whole term comes last.
    const known = usage[input];
    const row = date === null ? { quantity } : { quantity, date: wireDay(date) };
    if (Array.isArray(known)) usage[input] = [...known, row];
    else usage[input] = date === null ? quantity : [row];
  }
  return { current: filled(current), past: filled(past) };
}

function isOfTermBefore(isoDate: string, { term, usedThrough }: FrozenPreviousTerm): boolean {
  return isoDate <= isoDay(usedThrough ?? term.endDate);
}

function filled<Entry>(entries: Record<string, Entry>): Record<string, Entry> | null {
  return Object.keys(entries).length === 0 ? null : entries;
}

/** Billed quantities by input, newest first; a term without an input counts as one without use. */
function addHistory(frozen: Mutable<FrozenInputs>, known: readonly HistoryEntry[]): void {
  const history = billedOnly(known);
  const inputs = inputsOf(history);
  if (inputs.length > 0) {
    const usageHistory: Record<string, HistoryTerm[]> = {};
    for (const input of inputs) {
      usageHistory[input] = history.map((entry) => historyTerm(entry, input));
    }
    frozen.usageHistory = usageHistory;
  }
  for (const input of history === known ? inputs : inputsOf(known)) {
    const carried = carriedOf(known, input);
    if (carried !== undefined) frozen.carriedUnits = { ...frozen.carriedUnits, [input]: carried };
    const estimates = history === known ? undefined : estimatesOf(known, input);
    if (estimates) frozen.estimatesBefore = { ...frozen.estimatesBefore, [input]: estimates };
  }
}

function inputsOf(history: readonly HistoryEntry[]): string[] {
  const inputs: string[] = [];
  for (const { usage } of history) {
    for (const input in usage) if (!inputs.includes(input)) inputs.push(input);
  }
  return inputs.sort();
}

function historyTerm(entry: HistoryEntry, input: string): HistoryTerm {
  const { label, days, usage } = entry;
  const used = usage[input];
  const term: Mutable<HistoryTerm> = { label, quantity: used?.quantity ?? '0' };
  if (days !== undefined) term.days = days;
  if (used?.type !== undefined) term.type = used.type;
  if (entry.isOfFormerOwner) term.isOfFormerOwner = true;
  return term;
}

function previousTermOf(
  scope: FreezeScope,
  { row, accountStatus, inputsBefore }: Inputs,
  connection: FrozenConnection,
): FrozenPreviousTerm | null {
  if (scope.term.bills_after_period) return null;
  const newest = accountStatus.history?.[0];
  const last = lastDayOfUse(scope.term, row);
  if (newest === undefined) return daysNotBilled(scope, row, last);
  const term = scope.earlierTerms.get(newest.termId ?? 0);
  if (!term || (term.end_date >= scope.term.start_date && !isOver(scope.term, row))) {
    return last < scope.term.start_date ? null : daysNotBilled(scope, row, last);
  }
  const months = term.months === '1' ? 1 : term.months;
  const isUseBilled = term.term_type === 'Final' && (row.billed_through ?? '') < term.end_date;
  const usedFrom = isUseBilled ? dayAfter(row.billed_through ?? '') : null;
  const isLonger = isUseBilled || term.end_date !== last;
  const textOf = (minor: number) => minorUnitsText(minor, scope.currencyDecimals);
  const billed = Object.entries(accountStatus.billed ?? {}).map(
    ([component, minor]) => [component, minor === null ? null : textOf(minor)] as const,
  );
  return {
    term: {
      label: term.label,
      startDate: wireDay(term.start_date),
      endDate: wireDay(term.end_date),
      months,
    },
    ...(newest.fromDate === undefined ? {} : { billedFrom: wireDay(newest.fromDate) }),
    ...(usedFrom === null ? {} : { usedFrom }),
    ...(isLonger ? { usedThrough: wireDay(last) } : {}),
    ...(accountStatus.billed === null ? {} : { billed: Object.fromEntries(billed) }),
    ...(inputsBefore === null ? {} : inputsOfItsBill(inputsBefore, connection)),
  };
}

/** True if all days are billed and only usage remains, whichever days the last bill was for. */
function isOver(term: Term, row: BilledRow): boolean {
  const { billed_through: billed } = row;
  const off = offAfter(term, row);
  return billed !== null && off !== undefined && storedDay(off) <= storedDay(billed) + 1;
}

/** The first day of a term, or before it, since when it was not Active again. */
function offAfter(term: Term, row: BilledRow): string | undefined {
  const states = (statusesOf(row) ?? []).filter(({ fromDate }) => fromDate <= term.end_date);
  return states[states.findLastIndex(({ status }) => status === 'Active') + 1]?.fromDate;
}

/**
 * The last day whose usage is on the bill: the day before the term. No bill follows the Final bill
 * of an owner who leaves inside its term, so that bill also has the usage of its own days.
 */
function lastDayOfUse(term: Term, row: BilledRow): string {
  const before = isoDay(lastDayBefore(term.start_date));
  if (term.term_type !== 'Final' && !isOver(term, row)) return before;
  const off = offAfter(term, row);
  if (off === undefined) return before;
  const last = isoDay(lastDayBefore(off));
  return last > before ? last : before;
}

/**
 * Days without an earlier bill: those of the first bill, or of an owner who leaves inside the term.
 */
function daysNotBilled({ term, frozenTerm }: FreezeScope, row: BilledRow, last: string) {
  const billed = row.billed_through ?? (last < term.start_date ? last : null);
  if (billed !== null && billed >= last) return null;
  const usedFrom = billed === null ? frozenTerm.startDate : dayAfter(billed);
  return { term: frozenTerm, usedFrom, usedThrough: wireDay(last) };
}

function dayAfter(isoDate: string): string {
  return formatDay(storedDay(isoDate) + 1);
}

function inputsOfItsBill(before: InputsBefore, now: FrozenConnection): Partial<FrozenPreviousTerm> {
  const { account, is_first_bill: isFirstBill, meters } = before;
  const { connection_inputs: connectionInputs, quantities: unmeteredInputs } = before;
  const { carried_units: carriedUnits, estimates_before: estimatesBefore } = before;
  return {
    account: account ?? {},
    isFirstBill,
    ...(isSame(connectionInputs, now.connectionInputs)
      ? {}
      : { connectionInputs: connectionInputs ?? [] }),
    ...(isSame(unmeteredInputs, now.unmeteredInputs)
      ? {}
      : { unmeteredInputs: unmeteredInputs ?? [] }),
    ...(meters === null ? {} : { meters }),
    ...(carriedUnits ? { carriedUnits } : {}),
    ...(estimatesBefore ? { estimatesBefore } : {}),
  };
}

function isSame(then: unknown, now: unknown): boolean {
  return JSON.stringify(then ?? null) === JSON.stringify(now ?? null);
}

function accountOf(scope: FreezeScope, inputs: Inputs): FrozenAccount | null {
  const { accountStatus, overdue } = inputs;
  const { accountNames, currencyDecimals } = scope;
  const text = (minor: number) => minorUnitsText(minor, currencyDecimals);
  const account: Mutable<FrozenAccount> = {};
  if (accountStatus.receivable !== 0) account.arrears = text(accountStatus.receivable);
  const unpaid = overdue.filter((item) => item.settledOn === undefined);
  const open = unpaid.reduce((sum, item) => sum + item.open, 0);
  if (accountNames.has('overdue') && open !== 0) account.overdue = text(open);
  if (accountNames.has('overdueAmountDays')) {
    const amountDays = overdueAmountDays(scope.term, inputs);
    if (amountDays !== 0) account.overdueAmountDays = text(amountDays);
  }
  if (accountNames.has('wallet') && accountStatus.wallet !== 0)
    account.wallet = text(accountStatus.wallet);
  if (accountNames.has('deposit') && accountStatus.deposit !== 0)
    account.deposit = text(accountStatus.deposit);
  return Object.keys(account).length === 0 ? null : account;
}

/**
 * Amount times the days of the term on which it was overdue, the day of a payment included. Days
 * that another bill was made for are counted on that one.
 */
function overdueAmountDays(term: Term, { row, overdue }: Inputs): number {
  const before = storedDay(term.start_date) - 1;
  const billed = row.billed_through === null ? before : storedDay(row.billed_through);
  const end = storedDay(term.end_date);
  return overdue.reduce((sum, { open, dueDate, settledOn }) => {
    const last = settledOn === undefined ? end : Math.min(end, storedDay(settledOn));
    const days = last - Math.max(storedDay(dueDate), before, billed);
    return sum + open * Math.max(0, days);
  }, 0);
}
