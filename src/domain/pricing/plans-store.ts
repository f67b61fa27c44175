import { rethrowViolation } from '../../base/db/faults.ts';
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { eventsOf, insertEvents } from '../events/events-store.ts';
import type { PlanDefinition } from '../rating/definitions/definitions.ts';
import type { PlanSettings } from './context.ts';

export type PlanRow = {
  plan_id: number;
  context_id: number;
  context_code: string;
  charging_type: string;
  code: string;
  name: string;
  unique_label: string;
  description: string | null;
  parent_code: string | null;
  plan_type: string;
  abstract: boolean;
  custom: boolean;
  visibility: string;
  billing_period_id: number | null;
  archived: boolean;
  version: number;
  effective_date: string | null;
  /** The newest version. */
  definition: PlanDefinition;
  subscriptions: number;
  created_at: Temporal.Instant;
  created_by: string;
  modified_at: Temporal.Instant;
  modified_by: string;
  ts: number;
};

const columns = sql.raw(`p.plan_id, p.context_id, c.code as context_code, c.charging_type, p.code,
  p.name, p.unique_label, p.description, parent.code as parent_code, p.plan_type, p.abstract,
  p.custom, p.visibility, p.billing_period_id, p.archived, p.version, v.effective_date,
  coalesce(s.subscriptions, 0) as subscriptions,
  p.created_at, p.created_by, p.modified_at, p.modified_by, p.ts`);

const joined = (tenantId: number) => sql`plans p
  join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = p.context_id
  join plan_versions v
    on v.tenant_id = ${tenantId} and v.plan_id = p.plan_id and v.version = p.version
  left join plans parent
    on parent.tenant_id = ${tenantId} and parent.plan_id = p.parent_plan_id
  left join plan_subscriptions s
    on s.tenant_id = ${tenantId} and s.plan_id = p.plan_id`;

const whole = sql.raw('v.definition');
/** A list shows no formulas, so it need not read them. */
const brief = sql.raw(
  `jsonb_build_object('securityAttributes', v.definition -> 'securityAttributes')`,
);

export type PlanFilter = {
  contextCode: string | null;
  planId: number | null;
  /** Leaves out this plan and all that inherit from it. */
  exceptSubtree: number | null;
};

export async function listPlans(
  tx: Tx,
  tenantId: number,
  filter: PlanFilter,
  options: { afterId: number; limit: number },
): Promise<PlanRow[]> {
  const { rows } = await sql<PlanRow>`
    with recursive ${subtree(tenantId, filter)}
    select ${columns}, ${filter.planId === null ? brief : whole} as definition
    from ${joined(tenantId)}
    where ${matches(tenantId, filter)} and p.plan_id > ${options.afterId}
    order by p.plan_id
    limit ${options.limit}
  `.execute(tx);
  return rows;
}

export async function countPlans(tx: Tx, tenantId: number, filter: PlanFilter): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with recursive ${subtree(tenantId, filter)}
    select count(*) as count
    from plans p
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = p.context_id
    where ${matches(tenantId, filter)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

function matches(tenantId: number, filter: PlanFilter) {
  const conditions = [sql`p.tenant_id = ${tenantId}`];
  if (filter.contextCode !== null) conditions.push(sql`c.code = ${filter.contextCode}`);
  if (filter.planId !== null) conditions.push(sql`p.plan_id = ${filter.planId}`);
  if (filter.exceptSubtree !== null) {
    conditions.push(sql`p.plan_id not in (select plan_id from subtree)`);
  }
  return sql.join(conditions, sql` and `);
}

/** union, not union all: it ends even if plans should ever form a circle. */
function subtree(tenantId: number, filter: PlanFilter) {
  return sql`subtree (plan_id) as (
    select plan_id from plans
    where tenant_id = ${tenantId} and plan_id = ${filter.exceptSubtree}::bigint
    union
    select p.plan_id from plans p join subtree s on p.parent_plan_id = s.plan_id
    where p.tenant_id = ${tenantId}
  )`;
}

export async function findPlan(
  tx: Tx,
  tenantId: number,
  key: { contextCode: string; code: string },
): Promise<PlanRow | undefined> {
  const { rows } = await sql<PlanRow>`
    select ${columns}, ${whole} as definition
    from ${joined(tenantId)}
    where p.tenant_id = ${tenantId} and c.code = ${key.contextCode} and p.code = ${key.code}
  `.execute(tx);
  return rows[0];
}

export async function hasPlanId(tx: Tx, tenantId: number, planId: number): Promise<boolean> {
  const { rows } = await sql`
    select 1 from plans where tenant_id = ${tenantId} and plan_id = ${planId}
  `.execute(tx);
  return rows.length === 1;
}

/** Plans of a code in any context: at most one in each. */
export async function listPlanIdsByCode(
  tx: Tx,
  tenantId: number,
  code: string,
): Promise<{ plan_id: number; context_id: number }[]> {
  const { rows } = await sql<{ plan_id: number; context_id: number }>`
    select plan_id, context_id from plans where tenant_id = ${tenantId} and code = ${code}
  `.execute(tx);
  return rows;
}

type StoredPlan = {
  id: number;
  contextId: number;
  parentId: number | null;
  settings: PlanSettings;
};

export async function insertPlan(
  tx: Tx,
  tenantId: number,
  plan: StoredPlan,
  stamp: Stamp,
): Promise<void> {
  const { settings } = plan;
  await sql`
    insert into plans (
      tenant_id, plan_id, context_id, code, name, unique_label, description, parent_plan_id,
      plan_type, abstract, custom, visibility, billing_period_id, archived, version,
      created_at, created_by, modified_at, modified_by, ts
    )
    values (
      ${tenantId}, ${plan.id}, ${plan.contextId}, ${settings.code}, ${settings.name},
      ${settings.uniqueLabel}, ${settings.description}, ${plan.parentId}, ${settings.planType},
      ${settings.abstract}, ${settings.custom}, ${settings.visibility},
      ${settings.billingPeriodId}, ${settings.archived}, 1,
      ${stamp.at}, ${stamp.by}, ${stamp.at}, ${stamp.by}, ${stamp.at.epochMilliseconds}
    )
  `
    .execute(tx)
    .catch((error) => rethrowViolation(error, violations(settings)));
  await insertEvents(tx, tenantId, eventsOf('plan.created', 'tariffID', [plan.id]), stamp.at);
}

export async function updatePlan(
  tx: Tx,
  tenantId: number,
  plan: StoredPlan,
  stamp: Stamp,
): Promise<void> {
  const { settings } = plan;
  await sql`
    update plans
    set name = ${settings.name}, unique_label = ${settings.uniqueLabel},
      description = ${settings.description}, parent_plan_id = ${plan.parentId},
      custom = ${settings.custom}, visibility = ${settings.visibility},
      billing_period_id = ${settings.billingPeriodId}, archived = ${settings.archived},
      version = version + 1, modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId} and plan_id = ${plan.id}
  `
    .execute(tx)
    .catch((error) => rethrowViolation(error, violations(settings)));
  await insertEvents(tx, tenantId, eventsOf('plan.updated', 'tariffID', [plan.id]), stamp.at);
}

function violations(settings: PlanSettings) {
  return {
    plans_code_key: () =>
      new AppError('DUPLICATE', {
        message: `The pricing context has a plan with the code ${settings.code} already`,
        field: 'tariff.code',
      }),
    plans_unique_label_key: () =>
      new AppError('DUPLICATE', {
        message: `A plan with the label '${settings.uniqueLabel}' exists already`,
        field: 'tariff.uniqueLabel',
      }),
    plans_period_fkey: () =>
      new AppError('PERIOD_NOT_FOUND', {
        message: `No billing period has the id ${settings.billingPeriodId}`,
        field: 'tariff.billingPeriodID',
      }),
  };
}

export async function insertPlanVersion(
  tx: Tx,
  tenantId: number,
  version: {
    planId: number;
    version: number;
    effectiveDate: Temporal.PlainDate | null;
    definition: PlanDefinition;
  },
  stamp: Stamp,
): Promise<void> {
  await sql`
    insert into plan_versions (
      tenant_id, plan_id, version, effective_date, definition, created_at, created_by
    )
    values (
      ${tenantId}, ${version.planId}, ${version.version}, ${version.effectiveDate},
      ${JSON.stringify(version.definition)}::jsonb, ${stamp.at}, ${stamp.by}
    )
  `.execute(tx);
}

export type PlanVersionRow = {
  plan_id: number;
  version: number;
  effective_date: string | null;
  definition: PlanDefinition;
};

export type VersionOfPlan = PlanVersionRow & { created_at: Temporal.Instant; created_by: string };

/** Versions of one plan, the newest first. */
export async function listVersionsOfPlan(
  tx: Tx,
  tenantId: number,
  planId: number,
  options: { before: number | null; limit: number },
): Promise<VersionOfPlan[]> {
  const { rows } = await sql<VersionOfPlan>`
    select plan_id, version, effective_date, definition, created_at, created_by
    from plan_versions
    where tenant_id = ${tenantId} and plan_id = ${planId}
      and (${options.before}::integer is null or version < ${options.before}::integer)
    order by version desc
    limit ${options.limit}
  `.execute(tx);
  return rows;
}

export async function countVersionsOfPlan(
  tx: Tx,
  tenantId: number,
  planId: number,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from plan_versions
    where tenant_id = ${tenantId} and plan_id = ${planId}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

/** All versions of all plans of a context. */
export async function listPlanVersions(
  tx: Tx,
  tenantId: number,
  contextId: number,
): Promise<PlanVersionRow[]> {
  const { rows } = await sql<PlanVersionRow>`
    select v.plan_id, v.version, v.effective_date, v.definition
    from plans p
    join plan_versions v on v.tenant_id = ${tenantId} and v.plan_id = p.plan_id
    where p.tenant_id = ${tenantId} and p.context_id = ${contextId}
    order by v.plan_id, v.version
  `.execute(tx);
  return rows;
}
