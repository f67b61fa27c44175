import { rethrowViolation } from '../../base/db/faults.ts';
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';

export type BillingGroupRow = {
  billing_group_id: number;
  name: string;
  billing_period_id: number | null;
};

type WrittenGroup = {
  id: number;
  name: string;
  billingPeriodId: number | null;
  description: string | null;
};

export async function insertBillingGroup(
  tx: Tx,
  tenantId: number,
  group: WrittenGroup,
  stamp: Stamp,
): Promise<void> {
  await sql`
    insert into billing_groups (
      tenant_id, billing_group_id, name, description, billing_period_id,
      created_at, created_by, modified_at, modified_by, ts
    )
    values (
      ${tenantId}, ${group.id}, ${group.name}, ${group.description}, ${group.billingPeriodId},
      ${stamp.at}, ${stamp.by}, ${stamp.at}, ${stamp.by}, ${stamp.at.epochMilliseconds}
    )
  `
    .execute(tx)
    .catch((error) => rethrowRefused(error, group, ''));
}

/** Until the end of the transaction no other call changes the group. */
export async function lockGroupToChange(tx: Tx, tenantId: number, groupId: number): Promise<void> {
  await sql`
    select 1 from billing_groups
    where tenant_id = ${tenantId} and billing_group_id = ${groupId}
    for no key update
  `.execute(tx);
}

export async function updateBillingGroup(
  tx: Tx,
  tenantId: number,
  group: WrittenGroup,
  stamp: Stamp,
): Promise<void> {
  await sql`
    update billing_groups
    set name = ${group.name}, description = ${group.description},
      billing_period_id = ${group.billingPeriodId},
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId} and billing_group_id = ${group.id}
  `
    .execute(tx)
    .catch((error) => rethrowRefused(error, group, 'data.'));
}

/** `place` is where the call has the fields of the group. */
function rethrowRefused(error: unknown, group: WrittenGroup, place: string): never {
  return rethrowViolation(error, {
    billing_groups_name_key: () =>
      new AppError('DUPLICATE', {
        message: `A billing group named '${group.name}' exists already`,
        field: `${place}name`,
      }),
    billing_groups_period_fkey: () =>
      new AppError('PERIOD_NOT_FOUND', {
        message: `No billing period has the id ${group.billingPeriodId}`,
        field: `${place}billingPeriodID`,
      }),
  });
}

export async function listBillingGroups(
  tx: Tx,
  tenantId: number,
  options: { afterId: number; limit: number },
): Promise<BillingGroupRow[]> {
  const { rows } = await sql<BillingGroupRow>`
    select billing_group_id, name, billing_period_id
    from billing_groups
    where tenant_id = ${tenantId} and billing_group_id > ${options.afterId} and not archived
    order by billing_group_id
    limit ${options.limit}
  `.execute(tx);
  return rows;
}

export async function countBillingGroups(tx: Tx, tenantId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from billing_groups where tenant_id = ${tenantId} and not archived
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

export type BillingGroupView = BillingGroupRow & {
  description: string | null;
  archived: boolean;
  created_at: Temporal.Instant;
  created_by: string;
  modified_at: Temporal.Instant;
  modified_by: string;
  ts: number;
};

export function findBillingGroup(
  tx: Tx,
  tenantId: number,
  billingGroupId: number,
): Promise<BillingGroupView | undefined> {
  return tx.lookUp(listBillingGroupViews, tenantId, billingGroupId);
}

async function listBillingGroupViews(
  tx: Tx,
  tenantId: number,
  billingGroupIds: readonly number[],
): Promise<Map<number, BillingGroupView>> {
  const { rows } = await sql<BillingGroupView>`
    select g.* from unnest(${billingGroupIds}::bigint[]) as wanted (billing_group_id)
    cross join lateral (
      select billing_group_id, name, billing_period_id, description, archived,
        created_at, created_by, modified_at, modified_by, ts
      from billing_groups
      where tenant_id = ${tenantId} and billing_group_id = wanted.billing_group_id
      limit 1
    ) g
  `.execute(tx);
  return new Map(rows.map((row) => [row.billing_group_id, row]));
}

export type GroupTotals = { account_count: number; outstanding: string };

/** How many accounts a group has, and what is owed on all their subscriptions. */
export async function findGroupTotals(
  tx: Tx,
  tenantId: number,
  billingGroupId: number,
): Promise<GroupTotals> {
  const totals = await tx.lookUp(listGroupTotals, tenantId, billingGroupId);
  return totals ?? { account_count: 0, outstanding: '0' };
}

async function listGroupTotals(
  tx: Tx,
  tenantId: number,
  billingGroupIds: readonly number[],
): Promise<Map<number, GroupTotals>> {
  const { rows } = await sql<GroupTotals & { billing_group_id: number }>`
    select wanted.billing_group_id, t.*
    from unnest(${billingGroupIds}::bigint[]) as wanted (billing_group_id)
    cross join lateral (
      select count(distinct a.account_id) as account_count,
        coalesce(sum(b.receivable), 0)::text as outstanding
      from billing_accounts a
      left join subscriptions s on s.tenant_id = ${tenantId} and s.account_id = a.account_id
      left join subscription_balances b
        on b.tenant_id = ${tenantId} and b.subscription_id = s.subscription_id
        and b.party_id = s.party_id
      where a.tenant_id = ${tenantId} and a.billing_group_id = wanted.billing_group_id
    ) t
  `.execute(tx);
  return new Map(rows.map((row) => [row.billing_group_id, row]));
}

/** The group stays while accounts are put in or taken out. False if it does not exist. */
export async function lockGroup(
  tx: Tx,
  tenantId: number,
  billingGroupId: number,
): Promise<boolean> {
  const { rows } = await sql`
    select 1 from billing_groups
    where tenant_id = ${tenantId} and billing_group_id = ${billingGroupId}
    for key share
  `.execute(tx);
  return rows.length === 1;
}
