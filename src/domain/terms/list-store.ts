// Terms as they are listed: by what a caller asks for, a page or all of them.

import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import { type TermRow, termColumns, termTables } from './store.ts';
import type { TermStage, TermStatus, TermType } from './term.ts';

const orders = {
  newest: sql.raw('t.start_date desc, t.term_id desc'),
  oldest: sql.raw('t.start_date, t.term_id'),
};

export type TermFilter = {
  /** Only terms of services that have metered subscriptions. */
  isMetered?: boolean;
  contextCode: string | null;
  termId: number | null;
  type: TermType | null;
  status: TermStatus | null;
  stage: TermStage | null;
  billId: number | null;
  batchCode: string | null;
  subscriptionNumber: string | null;
  fromDate: Temporal.PlainDate | null;
  toDate: Temporal.PlainDate | null;
  updatedSince: number | null;
  search: string | null;
};

/** By start, then by id. */
export async function listTermsAt(
  tx: Tx,
  tenantId: number,
  filter: TermFilter,
  window: { offset: number; limit: number; oldestFirst: boolean },
): Promise<TermRow[]> {
  const { rows } = await sql<TermRow>`
    select ${termColumns} from ${termTables(tenantId)}
    where ${matches(tenantId, filter)}
    order by ${orders[window.oldestFirst ? 'oldest' : 'newest']}
    limit ${window.limit} offset ${window.offset}
  `.execute(tx);
  return rows;
}

export async function listTermsAfter(
  tx: Tx,
  tenantId: number,
  filter: TermFilter,
  options: { after: TermRow | undefined; limit: number; oldestFirst: boolean },
): Promise<TermRow[]> {
  const { after, oldestFirst } = options;
  const beyond = oldestFirst ? sql`>` : sql`<`;
  const rest = after
    ? sql`(t.start_date, t.term_id) ${beyond} (${after.start_date}::date, ${after.term_id})`
    : sql`true`;
  const { rows } = await sql<TermRow>`
    select ${termColumns} from ${termTables(tenantId)}
    where ${matches(tenantId, filter)} and ${rest}
    order by ${orders[oldestFirst ? 'oldest' : 'newest']}
    limit ${options.limit}
  `.execute(tx);
  return rows;
}

export async function countTerms(tx: Tx, tenantId: number, filter: TermFilter): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${termTables(tenantId)} where ${matches(tenantId, filter)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

function matches(tenantId: number, filter: TermFilter): Sql {
  const conditions = [sql`t.tenant_id = ${tenantId}`];
  if (filter.isMetered) {
    conditions.push(sql`exists (
      select from subscription_counts k
      where k.tenant_id = ${tenantId} and k.context_id = t.context_id
        and k.is_metered and k.subscriptions > 0
    )`);
  }
  if (filter.contextCode !== null) conditions.push(sql`c.code = ${filter.contextCode}`);
  if (filter.termId !== null) conditions.push(sql`t.term_id = ${filter.termId}`);
  if (filter.type !== null) conditions.push(sql`t.term_type = ${filter.type}`);
  if (filter.status !== null) conditions.push(sql`t.status = ${filter.status}`);
  if (filter.stage !== null) conditions.push(sql`t.stage = ${filter.stage}`);
  if (filter.batchCode !== null) conditions.push(sql`b.code = ${filter.batchCode}`);
  if (filter.fromDate !== null) conditions.push(sql`t.start_date >= ${filter.fromDate}`);
  if (filter.toDate !== null) conditions.push(sql`t.start_date <= ${filter.toDate}`);
  if (filter.updatedSince !== null) conditions.push(sql`t.ts >= ${filter.updatedSince}`);
  if (filter.search !== null) {
    const pattern = `%${filter.search.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`;
    conditions.push(sql`lower(t.label) like ${pattern}`);
  }
  if (filter.billId !== null) {
    conditions.push(sql`t.term_id = (
      select term_id from bills where tenant_id = ${tenantId} and bill_id = ${filter.billId}
    )`);
  }
  if (filter.subscriptionNumber !== null) {
    conditions.push(sql`t.term_id in (
      select o.term_id from subscriptions s
      cross join lateral (
        select term_id from bills
        where tenant_id = ${tenantId} and subscription_id = s.subscription_id
        union all
        select b.term_id from bill_parts p
        join bills b on b.tenant_id = ${tenantId} and b.bill_id = p.bill_id
        where p.tenant_id = ${tenantId} and p.subscription_id = s.subscription_id
      ) o
      where s.tenant_id = ${tenantId} and s.subscription_number = ${filter.subscriptionNumber}
    )`);
  }
  return sql.join(conditions, sql` and `);
}

export type EarlierTermRow = {
  term_id: number;
  term_type: string;
  label: string;
  start_date: string;
  end_date: string;
  months: string;
};

export async function listTermsByIds(
  tx: Tx,
  tenantId: number,
  termIds: readonly number[],
): Promise<EarlierTermRow[]> {
  if (termIds.length === 0) return [];
  const { rows } = await sql<EarlierTermRow>`
    select t.term_id, t.term_type, t.label, t.start_date, t.end_date,
      trim_scale(p.months)::text as months
    from terms t
    join billing_periods p on p.tenant_id = ${tenantId} and p.period_id = t.billing_period_id
    where t.tenant_id = ${tenantId} and t.term_id = any(${termIds}::bigint[])
  `.execute(tx);
  return rows;
}
