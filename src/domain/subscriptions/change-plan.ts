// Changes the plan of a subscription from a day on.

import { formatDate } from '../../base/calendar.ts';
import { firstDay, formatDay, parseDay, storedDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError, errorFromDetails } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import type { CompiledPlan } from '../rating/compile/compiled-plan.ts';
import { compiledPlanOn } from '../rating/compile/price-book.ts';
import {
  assertNotBefore,
  assertState,
  assertUnbilled,
  type Changed,
  type DatedChange,
  enterReadings,
  type GivenReading,
  lockForChange,
} from './changes.ts';
import { planProblem } from './check-parts.ts';
import { findLastBilling, listPlanChoices, type PlanChoice } from './lookups-store.ts';
import type { KnownContext } from './new-subscription.ts';
import { contextOf, type Workspace } from './resolve.ts';
import { type SubscriptionRow, updateSubscription } from './store.ts';

export type WantedPlan = DatedChange & { planCode: string; readings: readonly GivenReading[] };

export async function changePlanOf(
  tx: Tx,
  workspace: Workspace,
  change: WantedPlan,
  stamp: Stamp,
): Promise<Changed> {
  const { tenantId } = workspace;
  const before = await lockForChange(tx, tenantId, change);
  const { date, dateField } = change;
  assertState(before, date, ['Pending', 'Active', 'Disconnected']);
  const context = await contextOf(tx, workspace, before.context_id);
  const plan = await findChoice(tx, tenantId, before, context, change);
  const newest = before.plan_history.at(-1);
  assertNotBefore(newest?.fromDate ?? before.connection_date, date, dateField);
  await assertRerateable(tx, tenantId, before, { context, plan, change });
  await enterReadings(tx, tenantId, before, { ...change, usualType: 'Check' }, stamp);
  const fromDate = date.toString();
  const kept = before.plan_history.filter((step) => step.fromDate < fromDate);
  const after = await updateSubscription(
    tx,
    tenantId,
    {
      ...before,
      plan_id: plan.plan_id,
      plan_history: [...kept, { planId: plan.plan_id, fromDate }],
    },
    stamp,
  );
  return { before, after };
}

async function findChoice(
  tx: Tx,
  tenantId: number,
  row: SubscriptionRow,
  { row: context }: KnownContext,
  { planCode }: WantedPlan,
): Promise<PlanChoice> {
  const plans = await listPlanChoices(tx, tenantId, {
    contextIds: [row.context_id],
    codes: [planCode],
    labels: [],
    exceptSubscription: row.subscription_id,
  });
  const plan = plans.find((one) => one.code === planCode);
  if (!plan) {
    throw new AppError('PLAN_NOT_FOUND', {
      message: `${context.code} has no plan with the code ${planCode}`,
      field: 'data.tariffCode',
    });
  }
  const wrong = planProblem('data.tariffCode', plan, row.party_id);
  if (wrong) throw errorFromDetails([wrong]);
  if (plan.plan_id === row.plan_id) {
    throw new AppError('DUPLICATE', {
      message: `${row.subscription_number} has the plan ${planCode} already`,
      field: 'data.tariffCode',
    });
  }
  return plan;
}

/**
 * Days that were billed are priced again with the next bill, which adds the difference. That goes
 * back over one bill, and for rules that price segments of the billed term: all that recur, of both
 * plans.
 */
async function assertRerateable(
  tx: Tx,
  tenantId: number,
  row: SubscriptionRow,
  { context, plan, change }: { context: KnownContext; plan: PlanChoice; change: WantedPlan },
): Promise<void> {
  const { date, dateField } = change;
  const day = date.toString();
  if (row.billed_through === null || day > row.billed_through) return;
  const last = await findLastBilling(tx, tenantId, row.subscription_id);
  if (last === undefined || last.priced_from > day) return assertUnbilled(row, date, dateField);
  const from = parseDay(formatDate(date)) ?? firstDay;
  const compiledPlans = [last.plan_code, plan.code].map((code) =>
    compiledPlanOn(context.book, code, from),
  );
  if (!compiledPlans.every(hasRecurringRules)) assertUnbilled(row, date, dateField);
  const days = { from, to: storedDay(row.billed_through) };
  for (const compiledPlan of compiledPlans) assertBySegments(row, compiledPlan, days, dateField);
}

function hasRecurringRules({ segmentRules }: CompiledPlan): boolean {
  return segmentRules.some((rule) => rule.window === 'Current');
}

/** What a Term rule charged by days is recurring, too, and nothing would bring its difference. */
function assertBySegments(
  row: SubscriptionRow,
  compiledPlan: CompiledPlan,
  days: { from: number; to: number },
  field: string,
): void {
  const rule = compiledPlan.termRules.find(
    ({ window, isProrated, from, to }) =>
      window === 'Current' && isProrated && from <= days.to && to >= days.from,
  );
  if (rule === undefined) return;
  const billed = formatDay(days.to);
  const { name } = rule.component.definition;
  throw new AppError('DATE_IN_POSTED_TERM', {
    message:
      `${row.subscription_number} is billed up to ${billed}, and ${compiledPlan.code} ` +
      `charges ${name} for the term, which is not priced again`,
    field,
    current: billed,
  });
}
