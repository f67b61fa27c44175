// Allocations that the payer asks for.
import type { RowProblem } from '../../base/errors.ts';
import { compareAge, type OpenItem } from '../ledger/open-item.ts';
import { type Allocation, type SettlementMethod, settle } from '../ledger/settle.ts';
import type { Payer, WantedAllocation, WantedPayment } from './payment.ts';

type Allocated = { allocations: Allocation[]; problems: RowProblem[] };

type Laid = Pick<WantedPayment, 'allocations' | 'amount'> & { by: Payer; row: number };

/** What a payment settles: as the caller asks for, or by the method of the payer. */
export function allocationsOf(payment: Laid, items: readonly OpenItem[]): Allocated {
  const { by, amount, row } = payment;
  if (payment.allocations.length > 0) return allocate(payment, items, row);
  const method = by.settlementMethod as SettlementMethod;
  const allocations = settle(items, amount, { method, subscriptionId: by.subscriptionId });
  return { allocations, problems: [] };
}

/**
 * What each bill is given, its surcharge first, then of a bill of several subscriptions the one
 * that was named, then the others by id.
 */
export function allocate(
  payment: Pick<WantedPayment, 'allocations' | 'amount'> & { by: Pick<Payer, 'subscriptionId'> },
  items: readonly OpenItem[],
  row: number,
): Allocated {
  const { by, amount, allocations: wanted } = payment;
  const allocations: Allocation[] = [];
  const problems: RowProblem[] = [];
  const refuse = (name: string, rejectedValue: unknown, message: string) =>
    problems.push({ row, name, code: 'OVER_ALLOCATED', message, rejectedValue });
  const isNamed = (item: OpenItem) => item.subscriptionId === by.subscriptionId;
  wanted.forEach((one, index) => {
    const ofBill = items
      .filter((item) => item.billId === one.billId && item.open > 0)
      .toSorted((a, b) => Number(isNamed(b)) - Number(isNamed(a)) || compareAge(a, b));
    let left = one.amount;
    for (const item of ofBill) {
      const share = Math.min(left, item.open);
      if (share <= 0) continue;
      left -= share;
      item.open -= share;
      allocations.push({ item, amount: share });
    }
    const message = `More than is open on bill ${one.billId}`;
    if (left > 0) refuse(`allocations[${index}].amount`, null, message);
  });
  const total = wanted.reduce((sum, one) => sum + one.amount, 0);
  if (total > amount) refuse('allocations', null, 'The allocations are more than the payment');
  return { allocations, problems };
}

/** Allocations to bills that are not of the payer. */
export function foreignBills(
  { allocations, by }: { allocations: readonly WantedAllocation[]; by: Pick<Payer, 'partyId'> },
  owners: ReadonlyMap<number, number>,
  row: number,
): RowProblem[] {
  return allocations.flatMap(({ billId }, index) => {
    if (owners.get(billId) === by.partyId) return [];
    const name = `allocations[${index}].billID`;
    const code = owners.has(billId) ? 'BILL_OF_OTHER_PARTY' : 'BILL_NOT_FOUND';
    const message = owners.has(billId)
      ? `Bill ${billId} is of another party than the payer`
      : `No posted bill has the id ${billId}`;
    return [{ row, name, code, message, rejectedValue: billId }];
  });
}
