// Making and changing plans. The context is held while a plan is saved, so that every save is
// checked against what the ones before it stored.

import { formatDate } from '../../base/calendar.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import { assertNotStale } from '../../base/stale.ts';
import type { Stamp } from '../../base/stamp.ts';
import type { PlanProblem } from '../rating/check/plan-problem.ts';
import { takeNumbers } from '../tenants/numbers-store.ts';
import { checkDefinitionsFrom } from './calculator.ts';
import { assertLooksBack, assertSound } from './check-definitions.ts';
import {
  type PlanPricing,
  type PlanSettings,
  type PlanVersion,
  planDefinition,
} from './context.ts';
import type { Workspace } from './contexts.ts';
import { advanceBook, type ContextRow, lockContext } from './contexts-store.ts';
import {
  findPlan,
  insertPlan,
  insertPlanVersion,
  listPlanIdsByCode,
  type PlanRow,
  updatePlan,
} from './plans-store.ts';
import { loadDefinitions } from './price-books.ts';

export type NewPlan = {
  contextCode: string;
  chargeType: string;
  settings: PlanSettings;
  pricing: PlanPricing;
  today: Temporal.PlainDate;
};

export async function createPlan(
  tx: Tx,
  workspace: Workspace,
  plan: NewPlan,
  stamp: Stamp,
): Promise<{ after: PlanRow; warnings: PlanProblem[] }> {
  const { tenantId } = workspace;
  const { settings } = plan;
  const context = await lockContext(tx, tenantId, plan.contextCode);
  if (!context) {
    throw new AppError('SERVICE_NOT_FOUND', {
      message: `No pricing context has the code ${plan.contextCode}`,
      field: 'tariff.serviceCode',
    });
  }
  if (plan.chargeType !== context.charging_type) {
    throw new AppError('CHARGE_TYPE_MISMATCH', {
      message: `chargeType must be ${context.charging_type}, as of ${context.code}`,
      field: 'tariff.chargeType',
      allowed: [context.charging_type],
    });
  }
  const key = { contextCode: context.code, code: settings.code };
  if (await findPlan(tx, tenantId, key)) {
    throw new AppError('DUPLICATE', {
      message: `${context.code} has a plan with the code ${settings.code} already`,
      field: 'tariff.code',
    });
  }
  const parentId = await parentOf(tx, tenantId, context, settings.parentCode);
  const definition = planDefinition(settings, plan.pricing);
  const version = { version: 1, effectiveDate: null, definition };
  const warnings = await checkPlan(tx, workspace, context, version, formatDate(plan.today));
  const id = await takeNumbers(tx, tenantId, 'plan', 1);
  const stored = { id, contextId: context.context_id, parentId, settings };
  await insertPlan(tx, tenantId, stored, stamp);
  const first = { planId: id, version: 1, effectiveDate: null, definition };
  await insertPlanVersion(tx, tenantId, first, stamp);
  await advanceBook(tx, tenantId, context.context_id);
  return { after: await getStored(tx, tenantId, key), warnings };
}

async function getStored(
  tx: Tx,
  tenantId: number,
  key: { contextCode: string; code: string },
): Promise<PlanRow> {
  const row = await findPlan(tx, tenantId, key);
  if (!row) throw new Error(`no plan ${key.code} in ${key.contextCode}`);
  return row;
}

async function parentOf(
  tx: Tx,
  tenantId: number,
  context: ContextRow,
  parentCode: string | null,
): Promise<number | null> {
  if (parentCode === null) return null;
  const found = await listPlanIdsByCode(tx, tenantId, parentCode);
  const own = found.find((plan) => plan.context_id === context.context_id);
  if (own) return own.plan_id;
  throw new AppError(found.length > 0 ? 'PARENT_OTHER_SERVICE' : 'PARENT_NOT_FOUND', {
    message:
      found.length > 0
        ? `Plan ${parentCode} belongs to another pricing context than ${context.code}`
        : `${context.code} has no plan with the code ${parentCode}`,
    field: 'tariff.parentTariffCode',
  });
}

/**
 * Checks a version that is not stored yet with all plans of the context, from a day on. Returns
 * warnings about what is probably a mistake in it, or in the context with it.
 */
async function checkPlan(
  tx: Tx,
  workspace: Workspace,
  context: ContextRow,
  version: PlanVersion,
  from: string,
): Promise<PlanProblem[]> {
  const { contexts, plans } = await loadDefinitions(tx, workspace.tenantId, context, workspace);
  const components = contexts.at(-1)?.definition.components ?? [];
  assertLooksBack(version.definition, {
    isAllowed: !context.bills_after_period,
    late: components.filter((one) => one.type === 'LateSurcharge').map((one) => one.name),
  });
  const { code } = version.definition;
  const all = { contexts, plans: [...plans, version] };
  const { errors, warnings } = await checkDefinitionsFrom(workspace.tenantId, all, from);
  assertSound(errors, { context: null, plans: new Map([[code, 'tariff']]) });
  return warnings.filter(({ tariffCode }) => tariffCode === null || tariffCode === code);
}

export type PlanChange = {
  contextCode: string;
  code: string;
  /** Sent although they cannot change. */
  planType: string | undefined;
  chargeType: string | undefined;
  abstract: boolean | undefined;
  /** Absent ones stay as they are. */
  settings: Partial<PlanSettings>;
  pricing: PlanPricing;
  effectiveDate: Temporal.PlainDate;
  seenTs: number | undefined;
};

export async function changePlan(
  tx: Tx,
  workspace: Workspace,
  change: PlanChange,
  stamp: Stamp,
): Promise<{ before: PlanRow; after: PlanRow; warnings: PlanProblem[] }> {
  const { tenantId } = workspace;
  const context = await lockContext(tx, tenantId, change.contextCode);
  const key = { contextCode: change.contextCode, code: change.code };
  const before = context && (await findPlan(tx, tenantId, key));
  if (!before) {
    throw new AppError('PLAN_NOT_FOUND', {
      message: `${change.contextCode} has no plan with the code ${change.code}`,
      field: 'tariff.code',
    });
  }
  assertUnchanged(before, change);
  const settings = { ...settingsOf(before), ...change.settings };
  const { valueFormulas, componentRules, usageData, securityAttributes } = before.definition;
  const kept = { valueFormulas, componentRules, usageData, securityAttributes } as PlanPricing;
  const definition = planDefinition(settings, { ...kept, ...change.pricing });
  const parentId = await parentOf(tx, tenantId, context, settings.parentCode);
  const version = before.version + 1;
  const from = formatDate(change.effectiveDate);
  const next = { version, effectiveDate: from, definition };
  const warnings = await checkPlan(tx, workspace, context, next, from);
  const stored = { id: before.plan_id, contextId: context.context_id, parentId, settings };
  await updatePlan(tx, tenantId, stored, stamp);
  const { effectiveDate } = change;
  const row = { planId: before.plan_id, version, effectiveDate, definition };
  await insertPlanVersion(tx, tenantId, row, stamp);
  await advanceBook(tx, tenantId, context.context_id);
  return { before, after: await getStored(tx, tenantId, key), warnings };
}

function assertUnchanged(before: PlanRow, change: PlanChange): void {
  assertNotStale(change.seenTs, before, { what: `Plan ${before.code}`, field: 'tariff.ts' });
  if (change.planType !== undefined && change.planType !== before.plan_type) {
    throw new AppError('PLAN_TYPE_IMMUTABLE', {
      message: `planType of ${before.code} is ${before.plan_type} and cannot change`,
      field: 'tariff.planType',
      current: before.plan_type,
    });
  }
  if (change.chargeType !== undefined && change.chargeType !== before.charging_type) {
    throw new AppError('FIELD_IMMUTABLE', {
      message: `chargeType of ${before.code} is ${before.charging_type} and cannot change`,
      field: 'tariff.chargeType',
      current: before.charging_type,
    });
  }
  if (change.abstract !== undefined && change.abstract !== before.abstract) {
    throw new AppError('FIELD_IMMUTABLE', {
      message: `abstract of ${before.code} cannot change`,
      field: 'tariff.abstract',
      current: before.abstract ? 1 : 0,
    });
  }
}

function settingsOf(row: PlanRow): PlanSettings {
  return {
    code: row.code,
    name: row.name,
    uniqueLabel: row.unique_label,
    description: row.description,
    parentCode: row.parent_code,
    planType: row.plan_type,
    abstract: row.abstract,
    custom: row.custom,
    visibility: row.visibility,
    billingPeriodId: row.billing_period_id,
    archived: row.archived,
  };
}
