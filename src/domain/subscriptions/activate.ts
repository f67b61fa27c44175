// A subscription that waited is served from a day on.
import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import type { ContextInUse } from './lookups-store.ts';
import { findBalances, type SubscriptionRow } from './store.ts';
import { statusColumns } from './subscription.ts';

/**
 * The caller confirms that the papers are in order. Only the deposit can be owed at this point, and
 * must be paid if the context requires it.
 */
export async function activate(
  tx: Tx,
  tenantId: number,
  row: SubscriptionRow,
  options: { today: Temporal.PlainDate; isForced: boolean; context: ContextInUse },
): Promise<SubscriptionRow> {
  const { today, isForced, context } = options;
  if (row.status !== 'Pending') {
    throw new AppError('INVALID_STATE', {
      message: `Subscription ${row.subscription_number} is ${row.status}`,
      field: 'data.activate',
      current: row.status,
      allowed: ['Pending'],
    });
  }
  const waitsFor = row.status_history.at(-1)?.kind;
  if (waitsFor === 'Deposit' && !isForced) await assertDepositPaid(tx, tenantId, row);
  const documents = [...new Set([...row.documents, ...(context.required_documents ?? [])])];
  return { ...row, ...servedFrom(row, today), documents };
}

async function assertDepositPaid(tx: Tx, tenantId: number, row: SubscriptionRow): Promise<void> {
  const key = { subscriptionId: row.subscription_id, partyId: row.party_id };
  const { receivable } = await findBalances(tx, tenantId, key);
  if (receivable <= 0) return;
  throw new AppError('DEPOSIT_UNPAID', {
    message: `The security deposit of ${row.subscription_number} is not paid`,
    field: 'data.activate',
  });
}

/** From the day on which it is served, everything of it begins. */
function servedFrom(row: SubscriptionRow, day: Temporal.PlainDate) {
  const fromDate = day.toString();
  const pending = row.status_history.filter(
    (step) => step.status === 'Pending' && step.fromDate < fromDate,
  );
  const history = [...pending, { status: 'Active' as const, fromDate }];
  const { status, nextChangeDate } = statusColumns(history, day);
  const [plan, ...laterPlans] = row.plan_history;
  if (!plan) throw new Error(`subscription ${row.subscription_number} has no plan`);
  return {
    status,
    status_history: history,
    next_change_date: nextChangeDate,
    connection_date: fromDate,
    billed_through: day.subtract({ days: 1 }).toString(),
    plan_history: [{ ...plan, fromDate }, ...laterPlans],
  };
}
