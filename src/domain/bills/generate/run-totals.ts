// Sums over the bills of a run, kept as text: together they may be more than a number holds.
import { decimalText, exactFrom } from '../../../base/numbers/decimal-text.ts';
import { add, type Exact, zero } from '../../../base/numbers/exact.ts';
import type { MadeBill } from './made-bill.ts';
import type { RunTotals } from './runs-store.ts';

export type Sums = {
  subscriptions: number;
  bills: number;
  errors: number;
  holds: number;
  currentCharges: WholeSum;
  taxAmount: WholeSum;
  arrears: WholeSum;
  payable: WholeSum;
  components: Map<string, { label: string; amount: WholeSum }>;
  usage: Map<string, { unit: string | null; quantity: Exact }>;
};

/** Of minor units: a number as long as that is exact, and beyond a bigint, which costs more. */
class WholeSum {
  #far = 0n;
  #near = 0;

  add(amount: number): void {
    const sum = this.#near + amount;
    if (Number.isSafeInteger(sum)) {
      this.#near = sum;
    } else {
      this.addFar(BigInt(this.#near));
      this.#near = amount;
    }
  }

  addFar(amount: bigint): void {
    this.#far += amount;
  }

  toString(): string {
    return String(this.#far + BigInt(this.#near));
  }
}

export function emptySums(): Sums {
  return {
    subscriptions: 0,
    bills: 0,
    errors: 0,
    holds: 0,
    currentCharges: new WholeSum(),
    taxAmount: new WholeSum(),
    arrears: new WholeSum(),
    payable: new WholeSum(),
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
  sums.currentCharges.add(made.currentCharges);
  sums.taxAmount.add(made.taxAmount);
  sums.arrears.add(made.arrears);
  sums.payable.add(made.payable);
  for (const { component, label, amount } of made.lines) {
    componentOf(sums, component, label).add(amount);
  }
  for (const { input, unit, quantity } of made.usage) {
    addUsage(sums, input, unit, exactFrom(quantity) ?? zero);
  }
}

function componentOf(sums: Sums, name: string, label: string): WholeSum {
  const known = sums.components.get(name);
  if (known !== undefined) return known.amount;
  const amount = new WholeSum();
  sums.components.set(name, { label, amount });
  return amount;
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
  sums.currentCharges.addFar(BigInt(totals.currentCharges));
  sums.taxAmount.addFar(BigInt(totals.taxAmount));
  sums.arrears.addFar(BigInt(totals.arrears));
  sums.payable.addFar(BigInt(totals.payable));
  for (const [name, { label, amount }] of Object.entries(totals.components)) {
    componentOf(sums, name, label).addFar(BigInt(amount));
  }
  for (const [input, { unit, quantity }] of Object.entries(totals.usage)) {
    addUsage(sums, input, unit, exactFrom(quantity) ?? zero);
  }
}
