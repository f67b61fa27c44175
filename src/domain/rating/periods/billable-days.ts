// Which days a bill covers: runs of consecutive active days that are not billed yet.
import { firstDay, lastDay, parseDay } from '../../../base/days.ts';
import type { FrozenConnection } from '../frozen-inputs.ts';
import { RatingError } from '../rating-error.ts';

export type Run = { readonly from: number; readonly to: number };

/** A longer gap is not a late reading but probably a mistake, which an operator should check. */
const catchUpDaysMax = 366;

export function requiredDay(text: unknown, what: string): number {
  const day = typeof text === 'string' ? parseDay(text) : undefined;
  if (day === undefined) throw new RatingError('INVALID_DATE', `${what} is not a date: ${text}`);
  return day;
}

export function optionalDay(text: unknown, otherwise: number, what: string): number {
  return text === null || text === undefined ? otherwise : requiredDay(text, what);
}

/**
 * Billable runs of a term. Days before its start that no earlier term billed come as runs of their
 * own, so that no run crosses the start of the term.
 */
export function billableRuns(connection: FrozenConnection, start: number, end: number): Run[] {
  const connected = optionalDay(connection.connectionDate, firstDay, 'connectionDate');
  const active = activeRuns(connection, connected);
  const before = Math.max(start, connected) - 1;
  const first = optionalDay(connection.billedThrough, before, 'billedThrough') + 1;
  if (first >= start) return within(active, first, end);
  const missed = within(active, first, start - 1);
  const missedDays = missed.reduce((sum, run) => sum + run.to - run.from + 1, 0);
  if (missedDays > catchUpDaysMax) {
    const message =
      `${missedDays} days are not billed yet, more than ${catchUpDaysMax}: ` +
      'bill the first of them by an OffCycle term';
    throw new RatingError('CATCH_UP_TOO_LONG', message);
  }
  return [...missed, ...within(active, start, end)];
}

/** Active days between two dates, whatever was billed of them. */
export function runsBetween(connection: FrozenConnection, start: number, end: number): Run[] {
  const connected = optionalDay(connection.connectionDate, firstDay, 'connectionDate');
  return within(activeRuns(connection, connected), start, end);
}

function activeRuns(connection: FrozenConnection, connected: number): Run[] {
  const history = connection.statusHistory ?? null;
  if (history === null || history.length === 0) {
    const to = optionalDay(connection.disconnectDate, lastDay + 1, 'disconnectDate') - 1;
    return [{ from: connected, to }];
  }
  const changes = history.map((entry) => ({
    day: requiredDay(entry.fromDate, 'statusHistory.fromDate'),
    isActive: entry.status === 'Active',
  }));
  changes.sort((a, b) => a.day - b.day);
  const runs: Run[] = [];
  let since: number | null = null;
  for (const { day, isActive } of changes) {
    if (isActive && since === null) since = day;
    if (!isActive && since !== null) {
      if (day > since) runs.push({ from: since, to: day - 1 });
      since = null;
    }
  }
  if (since !== null) runs.push({ from: since, to: lastDay });
  return runs;
}

function within(runs: readonly Run[], from: number, to: number): Run[] {
  let inside: Run[] | null = null;
  for (const run of runs) {
    const first = Math.max(run.from, from);
    const last = Math.min(run.to, to);
    if (first <= last) inside = appended(inside, { from: first, to: last });
  }
  return inside ?? [];
}

/** For lists that nearly always have one item: pushed to, an empty one makes room for seventeen. */
export function appended<Item>(list: Item[] | null, item: Item): Item[] {
  if (list === null) return [item];
  list.push(item);
  return list;
}
