// The checks made before a context or plan is saved: everything that will hold together on some day
// from the change on is checked together, so that no plan of the context can break.
import { firstDay, formatDay, parseDay } from '../../base/days.ts';
import {
  AppError,
  definitionErrors,
  type ErrorCode,
  type ErrorDetail,
  errorCodes,
  errorFromDetails,
} from '../../base/errors.ts';
import { type CheckResult, checkPlans } from '../rating/check/check-plan.ts';
import type { PlanProblem } from '../rating/check/plan-problem.ts';
import type { Definitions } from '../rating/compile/price-book.ts';
import type {
  ComponentRule,
  ContextDefinition,
  PlanDefinition,
  Version,
} from '../rating/definitions/definitions.ts';

/** Days on which something changes that are looked at; of more, the first and the last ones. */
const daysMax = 24;
const detailsMax = 500;

/** What is wrong from a day (DD/MM/YYYY) on, and what is probably not meant on that day. */
export function checkFrom(definitions: Definitions, from: string): CheckResult {
  const problems = new Map<string, PlanProblem>();
  let warnings: readonly PlanProblem[] | undefined;
  for (const day of changeDays(definitions, parseDay(from) ?? firstDay)) {
    const context = onDay(definitions.contexts, day)?.definition;
    if (context === undefined) throw new Error('definitions without a context');
    const byCode = Map.groupBy(definitions.plans, (version) => version.definition.code);
    const plans = [...byCode.values()].flatMap((versions) => {
      const version = onDay(versions, day);
      return version === undefined ? [] : [version.definition];
    });
    const found = checkPlans(context, plans);
    warnings ??= found.warnings;
    for (const problem of found.errors) {
      const { code, tariffCode, field, position } = problem;
      const key = JSON.stringify([code, tariffCode, field, position]);
      if (problems.has(key)) continue;
      const since = day === parseDay(from) ? '' : ` (from ${formatDay(day)} on)`;
      problems.set(key, { ...problem, message: `${problem.message}${since}` });
    }
  }
  return { errors: [...problems.values()], warnings: warnings ?? [] };
}

function changeDays(definitions: Definitions, from: number): number[] {
  const days = new Set<number>();
  for (const { effectiveDate } of [...definitions.contexts, ...definitions.plans]) {
    const day = effectiveDate === null ? undefined : parseDay(effectiveDate);
    if (day !== undefined && day > from) days.add(day);
  }
  return [from, ...[...days].sort((a, b) => a - b).slice(1 - daysMax)];
}

/** A later version with an earlier date replaces the ones before it from that date on. */
function onDay<D>(versions: readonly Version<D>[], day: number): Version<D> | undefined {
  const sorted = [...versions].sort((a, b) => a.version - b.version);
  return sorted.findLast(({ effectiveDate }) => {
    const from = effectiveDate === null ? firstDay : (parseDay(effectiveDate) ?? firstDay);
    return from <= day;
  });
}

/** Where the request holds the context and plans that it brings. */
export type RequestPlaces = { context: string | null; plans: ReadonlyMap<string, string> };

export function assertSound(problems: readonly PlanProblem[], places: RequestPlaces): void {
  if (problems.length === 0) return;
  const details = problemDetails(problems, places);
  throw places.context === null ? errorFromDetails(details) : contextError(details);
}

/** Plans that a simulation sends together with a context; they keep the codes of their mistakes. */
const ofSentPlan = /^tariffs\[/;

/**
 * A request that brings a context is refused with one code; `details` have the codes of its
 * formulas, and of the formulas of stored plans that the context would break.
 */
export function contextError(details: ErrorDetail[]): AppError {
  const error = errorFromDetails(details);
  const { code, message, field } = error;
  if (!definitionErrors.includes(code) || ofSentPlan.test(field ?? '')) return error;
  return new AppError('DEFINITION_INVALID', {
    message,
    ...(field === null ? {} : { field }),
    details: error.details,
  });
}

/** Problems of what was sent come first; those of other plans name the plan. */
function problemDetails(problems: readonly PlanProblem[], places: RequestPlaces): ErrorDetail[] {
  const isSent = ({ tariffCode }: PlanProblem) =>
    tariffCode === null ? places.context !== null : places.plans.has(tariffCode);
  const ordered = [...problems.filter(isSent), ...problems.filter((one) => !isSent(one))];
  return ordered.slice(0, detailsMax).map((problem) => {
    const { tariffCode, position } = problem;
    const place =
      tariffCode === null ? places.context : (places.plans.get(tariffCode) ?? `[${tariffCode}]`);
    const isOther = tariffCode !== null && !places.plans.has(tariffCode);
    const message = isOther ? `plan ${tariffCode}: ${problem.message}` : problem.message;
    return {
      field: place === null ? problem.field : `${place}.${problem.field}`,
      code: codeOf(problem),
      message,
      ...(position === null ? {} : { position }),
    };
  });
}

function codeOf({ code }: PlanProblem): ErrorCode {
  return Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : 'DEFINITION_INVALID';
}

/**
 * Refuses rules over the previous term that would never charge: those of a context that is billed
 * after the period, and those of surcharges, which belong to the bill that they are on.
 */
export function assertLooksBack(
  plan: PlanDefinition,
  { isAllowed, late }: { isAllowed: boolean; late: readonly string[] },
): void {
  const details = (plan.componentRules ?? []).flatMap((rule, index): ErrorDetail[] => {
    const isLate = late.includes(rule.component);
    if (!looksBack(rule) || (isAllowed && !isLate)) return [];
    const message = isLate
      ? `${rule.component} is a LateSurcharge: its rule cannot have window Previous`
      : 'window Previous is for contexts that are billed in advance (postBilling 0)';
    return [
      { field: `tariff.componentRules[${index}].window`, code: 'DEFINITION_INVALID', message },
    ];
  });
  if (details.length > 0) throw errorFromDetails(details);
}

/** Refuses to bill after the period what some plan prices over the term before. */
export function assertNoneLooksBack({ plans }: Definitions): void {
  const newest = new Map(plans.map(({ definition }) => [definition.code, definition]));
  const plan = [...newest.values()].find((one) => (one.componentRules ?? []).some(looksBack));
  if (!plan) return;
  throw new AppError('DEFINITION_INVALID', {
    message: `Plan ${plan.code} has a rule with window Previous: it is billed in advance`,
    field: 'service.postBilling',
  });
}

function looksBack(rule: ComponentRule): boolean {
  return rule.window === 'Previous' && rule.exclude !== 1;
}

const namedArrays = [
  'values',
  'components',
  'connectionInputs',
  'meteredInputs',
  'unmeteredInputs',
] as const;

/**
 * Refuses a context that no longer has something a plan uses. The plan is valid with the missing
 * item, so the error names the item of the context, not the plan.
 */
export async function assertNoUsageIsSkipped(
  problems: readonly PlanProblem[],
  change: { before: ContextDefinition; after: ContextDefinition },
  check: (context: ContextDefinition) => Promise<readonly PlanProblem[]>,
): Promise<void> {
  const broken = problems.filter((problem) => problem.tariffCode !== null);
  if (broken.length === 0 || broken.length < problems.length) return;
  for (const array of namedArrays) {
    const kept: readonly { name: string }[] = change.after[array] ?? [];
    const names = new Set(kept.map((item) => item.name));
    const left = (change.before[array] ?? []).filter((item) => !names.has(item.name));
    if (left.length === 0) continue;
    const restored = await check({ ...change.after, [array]: [...kept, ...left] });
    if (restored.length >= problems.length) continue;
    const plan = broken[0]?.tariffCode;
    const words = left.map((item) => item.name).join(', ');
    throw new AppError('IN_USE', {
      message: `Plan ${plan} uses what ${array} would no longer have (${words.slice(0, 200)})`,
      field: `service.${array}`,
      details: problemDetails(broken, { context: 'service', plans: new Map() }),
    });
  }
}
