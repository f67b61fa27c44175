// The security deposit that a new subscriber owes from the beginning.
import { formatDate } from '../../base/calendar.ts';
import { securityLines } from '../rating/rate/security-deposit.ts';
import { frozenConnectionOf } from './facts.ts';
import type { DepositDemand, Draft } from './new-subscription.ts';

/** By the plan; where the plan says nothing of deposits, the default of the context. */
export function depositDemands(draft: Draft): DepositDemand[] {
  const { context, plan, connectionDate } = draft;
  const facts = frozenConnectionOf(draft);
  const lines = securityLines(context.book, plan.code, formatDate(connectionDate), facts);
  const isPriced = lines.some(({ attribute }) => {
    return (attribute.amount ?? null) !== null || typeof attribute.formula === 'string';
  });
  if (isPriced) {
    return lines
      .filter(({ attribute, amount }) => attribute.dueAt !== 'FirstBill' && amount > 0)
      .map(({ name, amount }) => ({ name, amount }));
  }
  const { security_deposit: amount } = context.row;
  return amount ? [{ name: 'Security deposit', amount }] : [];
}
