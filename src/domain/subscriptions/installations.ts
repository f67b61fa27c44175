// The meters that new subscriptions ask for, checked and installed by domain/meters.
import { formatDate } from '../../base/calendar.ts';
import { firstDay, parseDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { ErrorDetail } from '../../base/errors.ts';
import { checkInstallations } from '../meters/assign.ts';
import type { MeterInstallation, WantedInstallation } from '../meters/installation.ts';
import type { MeteredInput } from '../pricing/context.ts';
import { compiledPlanOn, type PriceBook } from '../rating/compile/price-book.ts';
import type { Draft } from './new-subscription.ts';

/** The meters of each draft, in order; problems of all are added. */
export async function checkMeters(
  tx: Tx,
  tenantId: number,
  drafts: readonly (Draft | undefined)[],
  problems: ErrorDetail[],
): Promise<(readonly MeterInstallation[])[]> {
  const wanted = drafts.map((draft) => (draft ? installationOf(draft) : undefined));
  const asked = wanted.filter((one) => one !== undefined);
  const checked = await checkInstallations(tx, tenantId, asked);
  problems.push(...checked.problems);
  const found = checked.installations.values();
  return wanted.map((one) => (one ? (found.next().value ?? []) : []));
}

/** A subscription that has ended needs no meter. */
function installationOf(draft: Draft): WantedInstallation | undefined {
  const { wanted, context, plan, connectionDate } = draft;
  const isEmpty = wanted.meters.length + wanted.bindings.length === 0;
  if (wanted.status === 'Closed' && isEmpty) return undefined;
  const inputs = (context.definitionOn(connectionDate).meteredInputs ?? []) as MeteredInput[];
  return {
    field: wanted.field,
    installDate: connectionDate,
    inputs,
    requiredInputs: requiredInputs(context.book, plan.code, connectionDate),
    meters: wanted.meters,
    bindings: wanted.bindings,
  };
}

/** The inputs that a plan cannot be billed without. */
function requiredInputs(book: PriceBook, planCode: string, day: Temporal.PlainDate): string[] {
  const compiledPlan = compiledPlanOn(book, planCode, parseDay(formatDate(day)) ?? firstDay);
  return compiledPlan.requiredInputs.filter((input) => !input.isAgreed).map((input) => input.name);
}
