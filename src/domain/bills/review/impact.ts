// What other prices would have made of a term: its frozen inputs rated by two books, and the
// differences added up as they come. Nothing is kept of a bill but the largest changes.

import type { Bill } from '../../rating/bill.ts';
import type { PriceBook } from '../../rating/compile/price-book.ts';
import { frozenOf } from '../../rating/frozen-inputs.ts';
import { rateBill } from '../../rating/rate/rate-bill.ts';
import type { FrozenBill } from './impact-store.ts';

export type Sums = { before: bigint; after: bigint };
export type Counts = { bills: number; betterOff: number; worseOff: number; unchanged: number };
export type PlanImpact = Sums & Counts & { tariffCode: string };
export type ComponentImpact = Sums & { component: string; label: string };
export type Change = { billId: number; connectionNumber: string | null } & Sums;
export type Failure = { billId: number; connectionNumber: string; code: string; message: string };

export type Impact = Sums &
  Counts & {
    tax: Sums;
    components: Map<string, ComponentImpact>;
    plans: Map<string, PlanImpact>;
    /** The largest, in either direction, first. */
    changes: Change[];
    /** The bills that change, on the page that was requested. */
    window: { offset: number; limit: number };
    changed: number;
    shown: Change[];
    /** Bills that the other prices could not rate; they are in no sum. */
    failed: number;
    failures: Failure[];
  };

const changesMax = 20;
const failuresMax = 20;

export function noImpact(window: Impact['window']): Impact {
  return {
    ...nothing(),
    tax: { before: 0n, after: 0n },
    components: new Map(),
    plans: new Map(),
    changes: [],
    window,
    changed: 0,
    shown: [],
    failed: 0,
    failures: [],
  };
}

function nothing(): Sums & Counts {
  return { before: 0n, after: 0n, bills: 0, betterOff: 0, worseOff: 0, unchanged: 0 };
}

/** Rates a bill by the prices it was made with and by others, and adds what differs. */
export function addImpact(
  impact: Impact,
  stored: FrozenBill,
  books: { own: PriceBook; other: PriceBook },
): void {
  const inputs = frozenOf(stored.frozen);
  const before = inputs.map((frozen) => rateBill(books.own, frozen));
  if (before.reduce((sum, bill) => sum + bill.currentCharges, 0) !== stored.current_charges) {
    throw new Error(`re-rating bill ${stored.bill_id} gave another result`);
  }
  const after = inputs.map((frozen) => rateBill(books.other, frozen));
  const failed = after.find((bill) => bill.status === 'Error');
  if (failed) {
    addFailure(impact, stored.bill_id, failed);
    return;
  }
  const sums = { before: chargesOf(before), after: chargesOf(after) };
  addSums(impact, sums);
  addCounts(impact, sums);
  addSums(impact.tax, { before: taxOf(before), after: taxOf(after) });
  for (const [index, bill] of before.entries()) {
    addPlan(impact.plans, bill, after[index] as Bill);
  }
  addLines(impact.components, before, 'before');
  addLines(impact.components, after, 'after');
  const [first, ...others] = before;
  const connectionNumber = others.length === 0 ? (first?.connectionNumber ?? null) : null;
  addChange(impact, { billId: stored.bill_id, connectionNumber, ...sums });
}

function chargesOf(bills: readonly Bill[]): bigint {
  return bills.reduce((sum, bill) => sum + BigInt(bill.currentCharges), 0n);
}

function taxOf(bills: readonly Bill[]): bigint {
  return bills.reduce((sum, bill) => sum + BigInt(bill.taxAmount), 0n);
}

function addSums(to: Sums, { before, after }: Sums): void {
  to.before += before;
  to.after += after;
}

function addCounts(to: Counts, { before, after }: Sums): void {
  to.bills += 1;
  if (after < before) to.betterOff += 1;
  else if (after > before) to.worseOff += 1;
  else to.unchanged += 1;
}

/** By the plan that was in force on the last billed day. */
function addPlan(plans: Map<string, PlanImpact>, before: Bill, after: Bill): void {
  const tariffCode = before.tariffCode ?? '';
  const plan = plans.get(tariffCode) ?? { tariffCode, ...nothing() };
  plans.set(tariffCode, plan);
  const sums = { before: chargesOf([before]), after: chargesOf([after]) };
  addSums(plan, sums);
  addCounts(plan, sums);
}

function addLines(
  components: Map<string, ComponentImpact>,
  bills: readonly Bill[],
  side: keyof Sums,
): void {
  for (const { component, label, amount } of bills.flatMap((bill) => bill.lines)) {
    const known = components.get(component) ?? { component, label, before: 0n, after: 0n };
    components.set(component, known);
    known[side] += BigInt(amount);
  }
}

function addChange(impact: Impact, change: Change): void {
  const { changes, window } = impact;
  const size = sizeOf(change);
  if (size === 0n) return;
  const isShown = impact.changed >= window.offset && impact.shown.length < window.limit;
  if (isShown) impact.shown.push(change);
  impact.changed += 1;
  const last = changes.at(-1);
  if (changes.length === changesMax && last && sizeOf(last) >= size) return;
  const place = changes.findIndex((other) => sizeOf(other) < size);
  changes.splice(place === -1 ? changes.length : place, 0, change);
  if (changes.length > changesMax) changes.pop();
}

function sizeOf({ before, after }: Sums): bigint {
  return after > before ? after - before : before - after;
}

function addFailure(impact: Impact, billId: number, bill: Bill): void {
  impact.failed += 1;
  const [error] = bill.errors;
  if (!error || impact.failures.length >= failuresMax) return;
  const connectionNumber = bill.connectionNumber ?? '';
  impact.failures.push({ billId, connectionNumber, code: error.code, message: error.message });
}
