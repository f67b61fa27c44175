// What is credited, paid and still open of each component of a bill. Nothing of it is stored: it
// follows from the lines of the bill, its credit notes and the amounts that settled it.
import type { SettlementMethod } from '../ledger/settle.ts';

/** A component as the pricing context had it when the bill was posted. */
export type PostedComponent = {
  name: string;
  type: string;
  account: string | null;
  settlementPriority: number | null;
  sequence: number | null;
};

/** The rules of a term's bills. */
export type TermComponents = {
  components: ReadonlyMap<string, PostedComponent>;
  method: SettlementMethod;
};

export type Charge = { component: string; type: string; amount: bigint };

/** What is billed for one subscription, and what settled it, in minor units. */
export type BilledPart = {
  billId: number;
  subscriptionId: number;
  charges: readonly Charge[];
  /** With the rounding of the bill. */
  amount: bigint;
  paid: bigint;
  /** By credit notes and adjustments. */
  credited: bigint;
  /** Of that, what credit notes name by component; without one, the rounding of the bill. */
  creditLines: readonly CreditedLine[];
  /** Written off, moved to the next owner, or in dispute. */
  gone: bigint;
};

export type CreditedLine = { component: string | null; amount: bigint };

export type BilledComponent = Charge & {
  credited: bigint;
  paid: bigint;
  gone: bigint;
  outstanding: bigint;
};

/** Lines of one component add up. */
export function chargesOf(
  lines: readonly { component: string; type: string; amount: number }[],
): Charge[] {
  const sums = new Map<string, Charge>();
  for (const { component, type, amount } of lines) {
    const before = sums.get(component)?.amount ?? 0n;
    sums.set(component, { component, type, amount: before + BigInt(amount) });
  }
  return [...sums.values()];
}

/**
 * In the order of settlement. What credit notes name is taken off its component. Negative charges
 * and the rounding reduce the last components first; other credits, payments and the rest are
 * poured over what is left.
 */
export function componentsOf(part: BilledPart, rules: TermComponents): BilledComponent[] {
  const side = part.amount < 0n ? -1n : 1n;
  const named = part.creditLines.reduce((sum, line) => sum + line.amount, 0n);
  const rows = inOrder(part.charges, rules).map((charge) => {
    const credited = creditedOf(part, charge.component);
    return { ...charge, credited, paid: 0n, gone: 0n, left: side * (charge.amount - credited) };
  });
  net(rows, side * (part.amount - named));
  const pourInto = (field: 'credited' | 'paid' | 'gone', amount: bigint) => {
    let rest = side * amount;
    for (const row of rows) {
      const share = smaller(rest, row.left);
      rest -= share;
      row.left -= share;
      row[field] += side * share;
    }
  };
  pourInto('credited', part.credited - named);
  pourInto('paid', part.paid);
  pourInto('gone', part.gone);
  return rows.map(({ left, ...row }) => ({ ...row, outstanding: side * left }));
}

/** By credit notes; null is the rounding of the bill. */
export function creditedOf({ creditLines }: BilledPart, component: string | null): bigint {
  return creditLines
    .filter((line) => line.component === component)
    .reduce((sum, line) => sum + line.amount, 0n);
}

/** The remaining amounts of the rows, none below zero, add up to the total. */
function net(rows: { left: bigint }[], total: bigint): void {
  for (const row of rows) if (row.left < 0n) row.left = 0n;
  let excess = rows.reduce((sum, row) => sum + row.left, 0n) - total;
  for (const row of rows.toReversed()) {
    const cut = smaller(excess, row.left);
    row.left -= cut;
    excess -= cut;
  }
}

/** Below zero the amount is added as it is: the rounding up of a bill. */
function smaller(amount: bigint, limit: bigint): bigint {
  return amount < limit ? amount : limit;
}

/**
 * Taxes, then the others by priority and sequence. Where the settlement method goes by priority,
 * that comes before taxes.
 */
function inOrder(charges: readonly Charge[], { components, method }: TermComponents): Charge[] {
  const rankOf = (charge: Charge) => {
    const rank = rankIn(components, charge.component, charge.type);
    const { priority, isTax, sequence } = rank;
    const tax = isTax ? 0 : 1;
    return method === 'Component Priority' ? [priority, tax, sequence] : [tax, priority, sequence];
  };
  return charges.toSorted((a, b) => {
    const of = rankOf(b);
    return (
      rankOf(a)
        .map((rank, index) => compare(rank, of[index] ?? 0))
        .find(Boolean) ?? 0
    );
  });
}

/** Numbers to sort by; what has no priority or sequence comes last. */
export function rankIn(
  components: TermComponents['components'],
  name: string,
  type: string,
): { priority: number; isTax: boolean; sequence: number } {
  const { settlementPriority, sequence } = components.get(name) ?? {};
  return {
    priority: settlementPriority ?? Number.POSITIVE_INFINITY,
    isTax: type === 'Tax',
    sequence: sequence ?? Number.POSITIVE_INFINITY,
  };
}

function compare(a: number, b: number): number {
  return a < b ? -1 : Number(a > b);
}
