// Lists of subscriptions: which ones, in which order, and how many. What is shown of them is in
// views-store.

import {
  countFound,
  idsByBlock,
  orderBy,
  rowsAfter,
  searchCall,
  type Window,
} from '../../base/db/lists.ts';
import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import { folded } from '../parties/party.ts';
import type { SubscriptionStatus } from './subscription.ts';

export type SubscriptionFilter = {
  contextCode: string | null;
  planCode: string | null;
  batchCode: string | null;
  chargingType: string | null;
  isMetered: boolean | null;
  hasQuantities: boolean | null;
  status: SubscriptionStatus | null;
  number: string | null;
  referenceNumber: string | null;
  meterNumber: number | null;
  partyId: number | null;
  accountLabel: string | null;
  billingGroupId: number | null;
  city: string | null;
  block: string | null;
  society: string | null;
  fromDate: Temporal.PlainDate | null;
  toDate: Temporal.PlainDate | null;
  search: string | null;
  updatedSince: number | null;
};

const sortColumns = {
  id: 'subscription_id',
  connectionNumber: 'subscription_number',
  connectionDate: 'connection_date',
  ts: 'ts',
} as const;
export const subscriptionSortNames = ['id', 'connectionNumber', 'connectionDate', 'ts'] as const;
export type SubscriptionSort = { by: keyof typeof sortColumns; descending: boolean };

/** A filter with ids in place of its codes, labels and numbers. */
export type Narrowed = Omit<
  SubscriptionFilter,
  'contextCode' | 'planCode' | 'batchCode' | 'chargingType' | 'meterNumber' | 'accountLabel'
> & {
  contextIds: number[] | null;
  planIds: number[] | null;
  batchIds: number[] | null;
  accountIds: number[] | null;
  subscriptionIds: number[] | null;
};

type Ids = Record<'contexts' | 'plans' | 'batches' | 'accounts' | 'subscriptions', number[] | null>;

/** undefined if a code, label or number is unknown: then the list is empty. */
export async function narrow(
  tx: Tx,
  tenantId: number,
  filter: SubscriptionFilter,
): Promise<Narrowed | undefined> {
  const { contextCode, planCode, batchCode, chargingType, meterNumber, accountLabel } = filter;
  const asked = {
    contexts: contextCode !== null || chargingType !== null,
    plans: planCode !== null,
    batches: batchCode !== null,
    accounts: accountLabel !== null,
    subscriptions: meterNumber !== null,
  };
  const isAsked = Object.values(asked).some(Boolean);
  const found = isAsked ? await findIds(tx, tenantId, filter) : undefined;
  for (const [name, isOne] of Object.entries(asked) as [keyof Ids, boolean][]) {
    if (isOne && !found?.[name]) return undefined;
  }
  return {
    ...filter,
    // A plan or batch is of one context, and its own index is enough.
    contextIds: asked.contexts && !asked.plans && !asked.batches ? (found?.contexts ?? []) : null,
    planIds: asked.plans ? (found?.plans ?? []) : null,
    batchIds: asked.batches ? (found?.batches ?? []) : null,
    accountIds: asked.accounts ? (found?.accounts ?? []) : null,
    subscriptionIds: asked.subscriptions ? (found?.subscriptions ?? []) : null,
  };
}

async function findIds(
  tx: Tx,
  tenantId: number,
  filter: SubscriptionFilter,
): Promise<Ids | undefined> {
  const { contextCode, chargingType } = filter;
  const { rows } = await sql<Ids>`
    with contexts as materialized (
      select context_id from pricing_contexts
      where tenant_id = ${tenantId} and (${contextCode}::text is null or code = ${contextCode})
        and (${chargingType}::text is null or charging_type = ${chargingType})
    )
    select
      (select jsonb_agg(context_id) from contexts) as contexts,
      (select jsonb_agg(plan_id) from plans
        where tenant_id = ${tenantId} and code = ${filter.planCode}
          and context_id in (select context_id from contexts)) as plans,
      (select jsonb_agg(batch_id) from batches
        where tenant_id = ${tenantId} and code = ${filter.batchCode}
          and context_id in (select context_id from contexts)) as batches,
      (select jsonb_agg(account_id) from billing_accounts
        where tenant_id = ${tenantId} and label = ${filter.accountLabel}) as accounts,
      (select jsonb_agg(a.subscription_id)
        from meters m
        join meter_assignments a
          on a.tenant_id = ${tenantId} and a.meter_id = m.meter_id and a.remove_date is null
        where m.tenant_id = ${tenantId} and m.number = ${filter.meterNumber}) as subscriptions
  `.execute(tx);
  return rows[0];
}

/** The ids of a page. */
export async function listIdsAt(
  tx: Tx,
  tenantId: number,
  filter: Narrowed,
  sort: SubscriptionSort,
  window: Window,
): Promise<number[]> {
  if (isCounted(filter) && sort.by === 'id') {
    if (!sort.descending) return idsOf(tx, countedIds(tenantId, filter, window));
    // The page from the end is one from the beginning, turned round.
    const total = await countSubscriptions(tx, tenantId, filter);
    const end = Math.max(0, total - window.offset);
    const offset = Math.max(0, end - window.limit);
    const turned = countedIds(tenantId, filter, { offset, limit: end - offset });
    return (await idsOf(tx, turned)).reverse();
  }
  const search = onlySearch(filter);
  const keys = keysOf(sort);
  if (search && sort.by === 'id') return idsOf(tx, idsFound(tenantId, search, sort, window));
  return idsOf(
    tx,
    sql`
      select subscription_id from subscriptions
      where ${matches(tenantId, filter)}
      order by ${orderBy(keys)}
      limit ${window.limit} offset ${window.offset}
    `,
  );
}

/** Sorts and cuts what was found by its ids alone. */
function idsFound(tenantId: number, search: Sql, sort: SubscriptionSort, window: Window): Sql {
  return sql`
    select found.subscription_id
    from tenants own
    cross join lateral ${search} as found (subscription_id)
    where own.tenant_id = ${tenantId}
    order by ${orderBy(keysOf(sort), 'found.')}
    limit ${window.limit} offset ${window.offset}
  `;
}

/** What a row is followed by in every order that there is. */
export type ListPlace = {
  subscription_id: number;
  subscription_number: string;
  connection_date: string;
  ts: number;
};

/** The ids of the chunk that follows a row in the list's order. */
export async function listIdsAfter(
  tx: Tx,
  tenantId: number,
  filter: Narrowed,
  sort: SubscriptionSort,
  options: { after: ListPlace | undefined; limit: number },
): Promise<number[]> {
  const { after } = options;
  const keys = keysOf(sort);
  const place = after && { value: after[keys.column], id: after.subscription_id };
  return idsOf(
    tx,
    sql`
      select subscription_id from subscriptions
      where ${matches(tenantId, filter)} and ${place ? rowsAfter(keys, place) : sql`true`}
      order by ${orderBy(keys)}
      limit ${options.limit}
    `,
  );
}

export async function countSubscriptions(
  tx: Tx,
  tenantId: number,
  filter: Narrowed,
): Promise<number> {
  const search = onlySearch(filter);
  if (search) return countFound(tx, tenantId, search);
  const { rows } = isCounted(filter)
    ? await sql<{ count: number }>`
        select coalesce(sum(subscriptions), 0)::bigint as count from subscription_counts
        where ${counted(tenantId, filter)}
      `.execute(tx)
    : await sql<{ count: number }>`
        select count(*) as count from subscriptions where ${matches(tenantId, filter)}
      `.execute(tx);
  return rows[0]?.count ?? 0;
}

function keysOf({ by, descending }: SubscriptionSort) {
  return { column: sortColumns[by], id: 'subscription_id' as const, descending };
}

async function idsOf(tx: Tx, ids: Sql): Promise<number[]> {
  const { rows } = await (ids as Sql<{ subscription_id: number }>).execute(tx);
  return rows.map((row) => row.subscription_id);
}

function countedIds(tenantId: number, filter: Narrowed, window: Window): Sql {
  const blocks = sql`
    select block, sum(subscriptions) as block_rows from subscription_counts
    where ${counted(tenantId, filter)}
    group by block
  `;
  const where = counted(tenantId, filter);
  return idsByBlock({ blocks, table: 'subscriptions', id: 'subscription_id', where }, window);
}

/** Whether the filter asks for nothing that subscription_counts does not know. */
function isCounted(filter: Narrowed): boolean {
  const { contextIds: _c, status: _s, isMetered: _m, hasQuantities: _q, ...others } = filter;
  return Object.values(others).every((value) => value === null);
}

function counted(tenantId: number, filter: Narrowed): Sql {
  return sql.join([sql`tenant_id = ${tenantId}`, ...onCounted(filter)], sql` and `);
}

/** Conditions on columns that subscriptions and their counts have both. */
function onCounted(filter: Narrowed): Sql[] {
  const conditions = [...isOneOf('context_id', filter.contextIds)];
  // As a literal: the index of those that are not Active is for a status the planner can see.
  if (filter.status !== null) conditions.push(sql`status = ${sql.lit(filter.status)}`);
  if (filter.isMetered !== null) conditions.push(sql`is_metered = ${sql.lit(filter.isMetered)}`);
  if (filter.hasQuantities !== null) {
    conditions.push(sql`has_quantities = ${sql.lit(filter.hasQuantities)}`);
  }
  return conditions;
}

/** A single id is compared plainly, so that an index gives its rows in order. */
function isOneOf(column: string, ids: readonly number[] | null): Sql[] {
  if (ids === null) return [];
  if (ids.length === 1) return [sql`${sql.ref(column)} = ${ids[0]}`];
  return [sql`${sql.ref(column)} = any(${ids}::bigint[])`];
}

function matches(tenantId: number, filter: Narrowed): Sql {
  const conditions = [
    sql`tenant_id = ${tenantId}`,
    ...onCounted(filter),
    ...isOneOf('plan_id', filter.planIds),
    ...isOneOf('batch_id', filter.batchIds),
    ...isOneOf('account_id', filter.accountIds),
    ...isOneOf('subscription_id', filter.subscriptionIds),
  ];
  const equals = [
    ['subscription_number', filter.number],
    ['reference_number', filter.referenceNumber],
    ['party_id', filter.partyId],
  ] as const;
  for (const [column, value] of equals) {
    if (value !== null) conditions.push(sql`${sql.ref(column)} = ${value}`);
  }
  for (const column of ['city', 'block', 'society'] as const) {
    const place = filter[column];
    if (place !== null) conditions.push(sql`${sql.ref(column)} = lower(${place})`);
  }
  if (filter.fromDate) conditions.push(sql`connection_date >= ${filter.fromDate}`);
  if (filter.toDate) conditions.push(sql`connection_date <= ${filter.toDate}`);
  if (filter.updatedSince !== null) conditions.push(sql`ts >= ${filter.updatedSince}`);
  if (filter.billingGroupId !== null) {
    conditions.push(sql`account_id in (
      select account_id from billing_accounts
      where tenant_id = ${tenantId} and billing_group_id = ${filter.billingGroupId}
    )`);
  }
  const search = searchOf(filter);
  if (search) conditions.push(sql`subscription_id in (select ${search})`);
  return sql.join(conditions, sql` and `);
}

function searchOf({ search }: Narrowed): Sql | undefined {
  return search === null ? undefined : searchCall('subscriptions', folded(search));
}

/** The search that is all of a filter; undefined when the filter asks for more, or for none. */
function onlySearch(filter: Narrowed): Sql | undefined {
  const { search: _, ...others } = filter;
  return Object.values(others).some((value) => value !== null) ? undefined : searchOf(filter);
}
