// Published examples of payments that are divided among debts, on the function that settles them.
import { amountText, minorUnitsFrom } from '../../src/base/money.ts';
import type { ItemComponent, OpenItem } from '../../src/domain/ledger/open-item.ts';
import { settle } from '../../src/domain/ledger/settle.ts';
import { type Figure, type Loose, price } from './published-plan.ts';

type Month = { principal: string; interest: string };

function minor(amount: string): number {
  return minorUnitsFrom(amount, 2) ?? 0;
}

/** A bill of a month: principal is settled before interest. */
function billOf({ principal, interest }: Month, index: number): OpenItem {
  const component = (priority: number, open: number): ItemComponent => {
    return { priority, rank: 2, sequence: priority, open };
  };
  const date = `2026-0${index + 1}-15`;
  return {
    ...{ billId: index + 1, itemId: null, accountId: 2, partyId: 1, subscriptionId: 1 },
    ...{ kind: 'Bill', dueDate: date, issueDate: date, component: null },
    open: minor(principal) + minor(interest),
    components: [component(1, minor(principal)), component(2, minor(interest))],
  };
}

/** What is left of principal and interest of bills, each of which is paid by priority. */
function leftOf(months: readonly Month[], bills: readonly OpenItem[]) {
  return bills.reduce(
    (left, bill, index) => {
      const principal = minor(months[index]?.principal ?? '0');
      const interest = minor(months[index]?.interest ?? '0');
      const paid = principal + interest - bill.open;
      const ofPrincipal = Math.min(paid, principal);
      return {
        principal: left.principal + principal - ofPrincipal,
        interest: left.interest + interest - (paid - ofPrincipal),
      };
    },
    { principal: 0, interest: 0 },
  );
}

function paymentAllocation(inputs: Loose, expected: Loose): Figure[] {
  const months: Month[] = inputs.months ?? [inputs];
  const bills = months.map(billOf);
  const method = inputs.order === 'principal_first' ? 'Component Priority' : 'Chronology';
  settle(bills, minor(inputs.payment), { method, subscriptionId: 1 });
  const left = leftOf(months, bills);
  const text = (amount: number) => amountText(BigInt(amount), 2);
  const next = price({
    charges: { interest: `${text(left.principal)} * ${inputs.ratePercentPerMonth}%` },
  });
  return [
    ['principal left', text(left.principal), expected.principalLeft],
    ['interest left', text(left.interest), expected.interestLeft],
    ['next interest', next.amount('interest'), expected.nextInterest],
  ];
}

type Expression = (inputs: Loose, expected: Loose) => Figure[];

export const receivablesModels: Record<string, Expression> = { paymentAllocation };
