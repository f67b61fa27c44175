// Sums over the bills of a run. Amounts are whole minor units that may be more than a number holds,
// so they are added as bigint and kept as text.
import { decimalText, exactFrom } from '../../base/numbers/decimal-text.ts';
import { add, type Exact, zero } from '../../base/numbers/exact.ts';
import type { MadeBill } from './made-bill.ts';
import type { RunTotals } from './runs-store.ts';

export type Sums = {
  subscriptions: number;
  bills: number;
  errors: number;
  holds: number;
  currentCharges: bigint;
  taxAmount: bigint;
  arrears: bigint;
  payable: bigint;
  components: Map<string, { label: string; amount: bigint }>;
  usage: Map<string, { unit: string | null; quantity: Exact }>;
};

export function emptySums(): Sums {
  return {
    subscriptions: 0,
    bills: 0,
    errors: 0,
    holds: 0,
    currentCharges: 0n,
    taxAmount: 0n,
    arrears: 0n,
    payable: 0n,
    components: new Map(),
    usage: new Map(),
  };
}

/** A bill in Error counts as a subscription with an error; its sums are zero. */
export function addBill(sums: Sums, made: MadeBill, isOnHold: boolean): void {
  sums.subscriptions += made.subscriptions;
  if (made.status === 'Error') {
    sums.errors += 1;
    return;
  }
  sums.bills += 1;
  if (isOnHold) sums.holds += 1;
  sums.currentCharges += BigInt(made.currentCharges);
  sums.taxAmount += BigInt(made.taxAmount);
  sums.arrears += BigInt(made.arrears);
  sums.payable += BigInt(made.payable);
  for (const line of made.lines)
    addComponent(sums, line.component, line.label, BigInt(line.amount));
  for (const { input, unit, quantity } of made.usage) {
    addUsage(sums, input, unit, exactFrom(quantity) ?? zero);
  }
}

function addComponent(sums: Sums, name: string, label: string, amount: bigint): void {
  const known = sums.components.get(name);
  if (known === undefined) sums.components.set(name, { label, amount });
  else known.amount += amount;
}

function addUsage(sums: Sums, input: string, unit: string | null, quantity: Exact): void {
  const known = sums.usage.get(input);
  if (known === undefined) sums.usage.set(input, { unit, quantity });
  else known.quantity = add(known.quantity, quantity);
}

export function totalsText(sums: Sums): RunTotals {
  const components = [...sums.components].map(
    ([name, { label, amount }]) => [name, { label, amount: String(amount) }] as const,
  );
  const usage = [...sums.usage].map(
    ([input, { unit, quantity }]) => [input, { unit, quantity: decimalText(quantity) }] as const,
  );
  return {
    subscriptions: sums.subscriptions,
    bills: sums.bills,
    errors: sums.errors,
    holds: sums.holds,
    currentCharges: String(sums.currentCharges),
    taxAmount: String(sums.taxAmount),
    arrears: String(sums.arrears),
    payable: String(sums.payable),
    components: Object.fromEntries(components),
    usage: Object.fromEntries(usage),
  };
}

/** Adds totals that were written down before. */
export function addTotals(sums: Sums, totals: RunTotals): void {
  sums.subscriptions += totals.subscriptions;
  sums.bills += totals.bills;
  sums.errors += totals.errors;
  sums.holds += totals.holds;
  sums.currentCharges += BigInt(totals.currentCharges);
  sums.taxAmount += BigInt(totals.taxAmount);
  sums.arrears += BigInt(totals.arrears);
  sums.payable += BigInt(totals.payable);
  for (const [name, { label, amount }] of Object.entries(totals.components)) {
    addComponent(sums, name, label, BigInt(amount));
  }
  for (const [input, { unit, quantity }] of Object.entries(totals.usage)) {
    addUsage(sums, input, unit, exactFrom(quantity) ?? zero);
  }
}
