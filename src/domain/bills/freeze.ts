// Turns what was read of a subscription into the frozen inputs of its bill. Pure: the same rows
// give the same facts, in the same order, so that the same bill has the same bytes.
import { parseDay } from '../../base/days.ts';
import { decimalText, exactFrom, minorUnitsText } from '../../base/numbers/decimal-text.ts';
import { add, type Exact, zero } from '../../base/numbers/exact.ts';
import type {
  AccountFacts,
  ConnectionFacts,
  Facts,
  HistoryTerm,
  MeterFacts,
  PreviousTermFacts,
  ReadingFacts,
  TermFacts,
  UploadedUsage,
} from '../rating/facts.ts';
import type { HistoryEntry } from '../terms/usage-history-store.ts';
import type { BilledTerm, EarlierTermRow } from './billed-terms-store.ts';
import type { BilledRow, ManualRow, MeterRow, ReadingRow, UsageRow } from './inputs-store.ts';
import type { StandingRow } from './standings-store.ts';

/** Everything that was read for one subscription. */
export type Inputs = {
  readonly row: BilledRow;
  readonly accountLabel: string;
  readonly standing: StandingRow;
  readonly meters: readonly MeterRow[];
  /** By assignment and position, where a bill may need more than the readings locked. */
  readonly readings: ReadonlyMap<string, readonly ReadingRow[]> | null;
  readonly manual: readonly ManualRow[];
  readonly usage: readonly UsageRow[];
  readonly overdue: readonly { open: number; dueDate: string }[];
};

/** What is the same for all bills of a run. */
export type FreezeScope = {
  readonly term: BilledTerm;
  readonly termFacts: TermFacts;
  readonly currencyDecimals: number;
  readonly planCodes: ReadonlyMap<number, string>;
  /** Terms before this one, by id; only where bills are made in advance. */
  readonly earlierTerms: ReadonlyMap<number, EarlierTermRow>;
  /** Inputs without which a plan cannot be billed, by plan. */
  readonly isRequired: (planId: number, input: string) => boolean;
  /** Figures of the account that formulas of the context read. */
  readonly accountNames: ReadonlySet<string>;
};

export function termFactsOf(term: BilledTerm): TermFacts {
  return {
    label: term.label,
    startDate: wireDay(term.start_date),
    endDate: wireDay(term.end_date),
    dueDate: wireDay(term.due_date),
    months: term.months === '1' ? 1 : term.months,
  };
}

export function freeze(scope: FreezeScope, inputs: Inputs): Facts {
  const { row, standing } = inputs;
  const facts: Mutable<Facts> = { term: scope.termFacts, connection: connectionOf(scope, row) };
  const meters = metersOf(scope, inputs);
  if (meters.length > 0) facts.meters = meters;
  const previous = previousTermOf(scope, standing);
  const { current, past } = usageOf(inputs.usage, previous);
  if (current !== null) facts.uploadedUsage = current;
  const { history } = standing;
  if (history !== null && history.length > 0) addHistory(facts, history);
  if (previous !== null) {
    facts.previousTerm = past === null ? previous : { ...previous, usage: past };
  }
  if (inputs.manual.length > 0) {
    facts.manual = inputs.manual.map(({ component, value, is_left_out }) => {
      const entry = [row.subscription_number, component, value] as const;
      return is_left_out ? ([...entry, lastDayBefore(scope.term.start_date)] as const) : entry;
    });
  }
  const account = accountOf(scope, inputs);
  if (account !== null) facts.account = account;
  return facts;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** YYYY-MM-DD -> DD/MM/YYYY. */
export function wireDay(isoDate: string): string {
  return `${isoDate.slice(8, 10)}/${isoDate.slice(5, 7)}/${isoDate.slice(0, 4)}`;
}

/** DD/MM/YYYY -> YYYY-MM-DD. */
export function isoDay(wireDate: string): string {
  return `${wireDate.slice(6)}-${wireDate.slice(3, 5)}-${wireDate.slice(0, 2)}`;
}

/** Stored ends are the first day on which something no longer holds; facts name the last. */
function lastDayBefore(isoDate: string): string {
  return wireDay(Temporal.PlainDate.from(isoDate).subtract({ days: 1 }).toString());
}

function connectionOf(scope: FreezeScope, row: BilledRow): ConnectionFacts {
  const connection: Mutable<ConnectionFacts> = {
    connectionNumber: row.subscription_number,
    connectionDate: wireDay(row.connection_date),
    tariffHistory: row.plan_history.map(({ planId, fromDate }) => ({
      tariffCode: scope.planCodes.get(planId) ?? '',
      fromDate: wireDay(fromDate),
    })),
  };
  if (row.billed_through !== null) connection.billedThrough = wireDay(row.billed_through);
  if (isFirstBill(scope.term, row)) connection.isFirstBill = true;
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
function addRest(scope: FreezeScope, row: BilledRow, connection: Mutable<ConnectionFacts>): void {
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

/** Nothing was billed since the connection: by us, or by whoever did it before. */
export function isFirstBill(term: BilledTerm, row: BilledRow): boolean {
  return row.billed_through === null
    ? row.connection_date >= term.start_date
    : row.billed_through < row.connection_date;
}

function metersOf(scope: FreezeScope, inputs: Inputs): MeterFacts[] {
  const facts: MeterFacts[] = [];
  for (const meter of inputs.meters) {
    const isLocked = meter.reading_date !== null;
    if (!isLocked && !isMissed(scope, inputs.row, meter)) continue;
    const further = furtherOf(inputs, meter);
    const fact: Mutable<MeterFacts> = {
      number: meter.number,
      digits: meter.digits,
      input: meter.input,
      register: meter.register,
    };
    if (meter.mf !== 1) fact.mf = meter.mf;
    if (meter.kind !== 'Cumulative') fact.kind = meter.kind;
    const previous = previousOf(meter, further);
    if (previous !== null) fact.previous = previous;
    const current = currentOf(meter, further);
    if (current !== null) fact.current = current;
    else if (scope.term.is_estimated && meter.kind === 'Cumulative') fact.unestimated = true;
    if (isLocked && further.length > 0) {
      const between = further.filter((reading) => isBetween(reading, meter));
      if (between.length > 0) fact.readings = between.map(readingFact);
    }
    facts.push(fact);
  }
  return facts;
}

const noReadings: readonly ReadingRow[] = [];

function furtherOf({ readings }: Inputs, meter: MeterRow): readonly ReadingRow[] {
  if (readings === null) return noReadings;
  return readings.get(`${meter.assignment_id}/${meter.position}`) ?? noReadings;
}

/** A register that hung there on a day to be billed, and whose input the plan needs. */
function isMissed(scope: FreezeScope, row: BilledRow, meter: MeterRow): boolean {
  if (!isNeeded(scope, row, meter.input)) return false;
  const billedThrough = row.billed_through ?? '';
  return meter.remove_date === null || meter.remove_date > billedThrough;
}

/** Whether a plan that is in force on a day to be billed cannot be billed without an input. */
export function isNeeded(
  { term, isRequired }: Pick<FreezeScope, 'term' | 'isRequired'>,
  row: BilledRow,
  input: string,
): boolean {
  const { plan_history: plans, billed_through: billed } = row;
  if (plans.length === 1) return isRequired(row.plan_id, input);
  const first =
    billed === null ? term.start_date : String(Temporal.PlainDate.from(billed).add({ days: 1 }));
  return plans.some(({ planId, fromDate }, index) => {
    const next = plans[index + 1]?.fromDate;
    const isInForce = fromDate <= term.end_date && (next === undefined || next > first);
    return isInForce && isRequired(planId, input);
  });
}

/** Without a locked reading, the last one that was accepted: it only shows what is missing. */
function previousOf(meter: MeterRow, further: readonly ReadingRow[]): ReadingFacts | null {
  const { previous_date: date, previous_value: value, previous_type: type } = meter;
  if (date !== null && value !== null) return readingOf(date, value, type, false);
  if (meter.reading_date !== null) return null;
  const accepted = further.findLast((reading) => reading.status === 'Accepted');
  return accepted ? readingFact(accepted) : null;
}

function currentOf(meter: MeterRow, further: readonly ReadingRow[]): ReadingFacts | null {
  if (meter.reading_date !== null && meter.value !== null) {
    const { reading_date: date, value, reading_type: type, rollover } = meter;
    return readingOf(date, value, type, rollover === true);
  }
  const waiting = further.findLast((reading) => reading.status === 'Review');
  return waiting ? { ...readingFact(waiting), status: 'Review' } : null;
}

function readingFact(reading: ReadingRow): ReadingFacts {
  const { reading_date: date, value, reading_type: type, rollover } = reading;
  return readingOf(date, value, type, rollover);
}

function readingOf(
  date: string,
  value: string,
  type: string | null,
  isRollover: boolean,
): ReadingFacts {
  const reading: Mutable<ReadingFacts> = { date: wireDay(date), value };
  if (type !== null) reading.type = type;
  if (isRollover) reading.rollover = true;
  return reading;
}

/** Read and accepted, and neither the one the term begins from nor the one it ends with. */
function isBetween(reading: ReadingRow, meter: MeterRow): boolean {
  if (reading.status !== 'Accepted' || reading.is_stand_in) return false;
  const isStart =
    reading.reading_date === meter.previous_date && reading.value === meter.previous_value;
  const isEnd = reading.reading_date === meter.reading_date && reading.value === meter.value;
  return !isStart && !isEnd;
}

type PlainUsage = Record<string, UploadedUsage>;

/**
 * Uploaded use by input. Where bills are made in advance, use is known only afterwards: what
 * carries no date, or a date before the term, is of the term before.
 */
function usageOf(
  rows: readonly UsageRow[],
  previous: PreviousTermFacts | null,
): { current: PlainUsage | null; past: Record<string, string> | null } {
  if (rows.length === 0) return { current: null, past: null };
  const current: PlainUsage = {};
  const past = new Map<string, Exact>();
  for (const { input, usage_date: date, quantity } of rows) {
    const isPast = previous !== null && (date === null || isNotAfter(date, previous.term));
    if (isPast) past.set(input, add(past.get(input) ?? zero, exactFrom(quantity) ?? zero));
    else {
      // What is of the whole term comes last.
      const known = current[input];
      const row = date === null ? { quantity } : { quantity, date: wireDay(date) };
      if (Array.isArray(known)) current[input] = [...known, row];
      else current[input] = date === null ? quantity : [row];
    }
  }
  const totals = [...past].map(([input, total]) => [input, decimalText(total)] as const);
  return { current: filled(current), past: filled(Object.fromEntries(totals)) };
}

function isNotAfter(isoDate: string, term: TermFacts): boolean {
  return isoDate <= isoDay(term.endDate);
}

function filled<Entry>(entries: Record<string, Entry>): Record<string, Entry> | null {
  return Object.keys(entries).length === 0 ? null : entries;
}

/** Billed quantities by input, newest first; a term without an input counts as one without use. */
function addHistory(facts: Mutable<Facts>, history: readonly HistoryEntry[]): void {
  const inputs: string[] = [];
  for (const { usage } of history) {
    for (const input in usage) if (!inputs.includes(input)) inputs.push(input);
  }
  if (inputs.length === 0) return;
  const usageHistory: Record<string, HistoryTerm[]> = {};
  for (const input of inputs.sort()) {
    usageHistory[input] = history.map((entry) => historyTerm(entry, input));
  }
  facts.usageHistory = usageHistory;
  const newest = history[0]?.usage ?? {};
  for (const input in newest) {
    const carried = newest[input]?.carried;
    if (carried === undefined) continue;
    facts.carriedUnits = { ...facts.carriedUnits, [input]: carried };
  }
}

function historyTerm({ label, days, usage }: HistoryEntry, input: string): HistoryTerm {
  const used = usage[input];
  const term: Mutable<HistoryTerm> = { label, quantity: used?.quantity ?? '0' };
  if (days !== undefined) term.days = days;
  if (used?.type !== undefined) term.type = used.type;
  return term;
}

function previousTermOf(scope: FreezeScope, standing: StandingRow): PreviousTermFacts | null {
  if (scope.term.bills_after_period) return null;
  const newest = standing.history?.[0];
  const term = scope.earlierTerms.get(newest?.termId ?? 0);
  if (!term || term.end_date >= scope.term.start_date) return null;
  const months = term.months === '1' ? 1 : term.months;
  const textOf = (minor: number) => minorUnitsText(minor, scope.currencyDecimals);
  const billed = Object.entries(standing.billed ?? {}).map(
    ([component, minor]) => [component, minor === null ? null : textOf(minor)] as const,
  );
  return {
    term: {
      label: term.label,
      startDate: wireDay(term.start_date),
      endDate: wireDay(term.end_date),
      months,
    },
    ...(newest?.fromDate === undefined ? {} : { billedFrom: wireDay(newest.fromDate) }),
    ...(standing.billed === null ? {} : { billed: Object.fromEntries(billed) }),
  };
}

function accountOf(scope: FreezeScope, { standing, overdue }: Inputs): AccountFacts | null {
  const { accountNames, currencyDecimals } = scope;
  const text = (minor: number) => minorUnitsText(minor, currencyDecimals);
  const account: Mutable<AccountFacts> = {};
  if (standing.receivable !== 0) account.arrears = text(standing.receivable);
  const open = overdue.reduce((sum, item) => sum + item.open, 0);
  if (accountNames.has('overdue') && open !== 0) account.overdue = text(open);
  if (accountNames.has('overdueAmountDays')) {
    const amountDays = overdueAmountDays(scope.term, overdue);
    if (amountDays !== 0) account.overdueAmountDays = text(amountDays);
  }
  if (accountNames.has('wallet') && standing.wallet !== 0) account.wallet = text(standing.wallet);
  if (accountNames.has('deposit') && standing.deposit !== 0)
    account.deposit = text(standing.deposit);
  return Object.keys(account).length === 0 ? null : account;
}

/** Amount times the days of the term on which it was overdue. */
function overdueAmountDays(term: BilledTerm, overdue: Inputs['overdue']): number {
  const start = dayOf(term.start_date);
  const end = dayOf(term.end_date);
  return overdue.reduce((sum, { open, dueDate }) => {
    const days = end - Math.max(dayOf(dueDate), start - 1);
    return sum + open * Math.max(0, days);
  }, 0);
}

function dayOf(isoDate: string): number {
  return parseDay(wireDay(isoDate)) ?? 0;
}
