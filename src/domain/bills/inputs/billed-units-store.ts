// The billed units of a term: what its bills are made for, by its post type.

import type { Tx } from '../../../base/db/pool.ts';
import { type Sql, sql } from '../../../base/db/sql.ts';
import {
  finalTransfer,
  isBilledByMeter,
  isEligible,
  transferAfter,
} from '../../terms/eligible-store.ts';
import type { Term } from '../../terms/store.ts';

/** By post type: the columns that name the billed unit of a subscription, now and in a transfer. */
const columns = {
  'Post Account': { now: 's.account_id', before: 'account_id' },
  'Post Party': { now: 's.party_id', before: 'party_id' },
};

/**
 * The billed unit, by the term's post type. An account or a party is that of the owner on the
 * billed days, even if the subscription has another owner now.
 */
export function unitColumn(tenantId: number, term: Term): Sql {
  if (term.post_type === 'Post Subscription') return sql`s.subscription_id`;
  const { now, before } = columns[term.post_type];
  const former = sql`(select ${sql.raw(before)} from ${nextTransfer(tenantId, term)} w)`;
  return sql`case when ${isHandedOn(term)} then coalesce(${former}, ${sql.raw(now)})
    else ${sql.raw(now)} end`;
}

/** The few subscriptions whose billed owner may not be the present one are read in every range. */
export function isInRange(tenantId: number, term: Term, range: UnitRange): Sql {
  const within = sql`between ${range.firstId}::bigint and ${range.lastId}::bigint`;
  if (term.post_type === 'Post Subscription') return sql`s.subscription_id ${within}`;
  const now = sql.raw(columns[term.post_type].now);
  return sql`(${now} ${within} or ${isHandedOn(term)})
    and ${unitColumn(tenantId, term)} ${within}`;
}

/** Whether the subscription may have been transferred after days of the term. */
function isHandedOn(term: Term): Sql {
  return term.term_type === 'Final'
    ? sql`s.transferred_on is not null`
    : sql`s.transferred_on > ${term.end_date}::date`;
}

/**
 * The transfer away from the billed owner, whoever owns the subscription now. The billed owner is
 * the one on the last day of the term. A Final term bills the first owner of the unbilled days, so
 * that the next owner is billed for the rest.
 */
function nextTransfer(tenantId: number, term: Term): Sql {
  if (term.term_type === 'Final') return finalTransfer(tenantId, term);
  return transferAfter(sql`${term.end_date}::date`);
}

/** The owner before the transfer of `s`, and the first day of the next owner; null if none. */
export type FormerOwner = { party_id: number; account_id: number | null; day: string };

export function formerOwner(tenantId: number, term: Term): Sql<FormerOwner | null> {
  return sql`case when ${isHandedOn(term)} then (
      select to_jsonb(w) from ${nextTransfer(tenantId, term)} w
    ) end`;
}

export type UnitRange = { firstId: number; lastId: number };

/** Billed units whose ids lie in one range: how many, and how many of them have a bill. */
export type UnitBucket = UnitRange & { count: number; billed: number };

/** The billed units of the term, or one, counted by ranges of ids. Only the ranges are sorted. */
export async function listUnitBuckets(
  tx: Tx,
  tenantId: number,
  term: Term,
  options: { ids: number; unitId: number | null },
): Promise<UnitBucket[]> {
  // Before the first run the term has no bills, and each subscription appears once.
  const isPlain = term.post_type === 'Post Subscription' && term.run_number === 0;
  const units = isPlain ? sql.ref('eligible') : withBilled(tenantId, term);
  const { rows } = await sql<UnitBucket>`
    with eligible as (
      select ${unitColumn(tenantId, term)} as unit_id, false as is_billed
      from subscriptions s
      where s.tenant_id = ${tenantId} and ${isEligible(tenantId, term)}
    )
    select min(unit_id) as "firstId", max(unit_id) as "lastId", count(*) as count,
      count(*) filter (where is_billed) as billed
    from ${units} units
    where ${options.unitId}::bigint is null or unit_id = ${options.unitId}
    group by (unit_id - 1) / ${options.ids}
    order by 1
  `.execute(tx);
  return rows;
}

function withBilled(tenantId: number, term: Term): Sql {
  return sql`(
    select unit_id, bool_or(is_billed) as is_billed
    from (
      select * from eligible
      union all
      select unit_id, true from bills
      where tenant_id = ${tenantId} and term_id = ${term.term_id} and status <> 'Cancelled'
    ) found
    group by unit_id
  )`;
}

/** True if the term bills any subscription by meter. */
export async function hasMetered(tx: Tx, tenantId: number, term: Term): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from subscriptions s
      where ${isEligible(tenantId, term)} and ${isBilledByMeter(tenantId, term)}
    ) as found
    from tenants where tenant_id = ${tenantId}
  `.execute(tx);
  return rows[0]?.found ?? false;
}

/**
 * How many subscriptions the term should bill and has no bill for, or has an outdated bill for,
 * because they were changed, or billed by another term, since it was generated. Only for terms that
 * are generated and not posted.
 */
export async function countStale(tx: Tx, tenantId: number, term: Term): Promise<number> {
  const { wanted, through } = stalenessOf(tenantId, term);
  const { rows } = await sql<{ stale: number }>`
    select count(*) as stale
    from (select ${unitColumn(tenantId, term)} as unit_id, ${wanted} offset 0) w
    full join (
      select unit_id, unit_ts, status, ${through} as through from bills b
      where tenant_id = ${tenantId} and term_id = ${term.term_id} and status <> 'Cancelled'
    ) b on b.unit_id = w.unit_id
    where coalesce(b.status, '') not in ('Posted', 'Published')
      and (b.unit_ts is distinct from w.unit_ts
        or (b.status = 'Draft' and b.through is distinct from w.through))
  `.execute(tx);
  return rows[0]?.stale ?? 0;
}

/** For post type `Post Subscription`: each bill has one subscription, so nothing is grouped. */
function stalenessOf(tenantId: number, term: Term): { wanted: Sql; through: Sql } {
  const eligible = sql`from subscriptions s where ${isEligible(tenantId, term)}`;
  if (term.post_type === 'Post Subscription') {
    return {
      wanted: sql`s.ts as unit_ts, s.billed_through as through ${eligible}`,
      through: sql`b.previously_billed_to`,
    };
  }
  const days = (column: string) => sql`coalesce(${sql.raw(column)} - date '1970-01-01', -1)`;
  return {
    wanted: sql`sum(s.ts) as unit_ts, sum(${days('s.billed_through')}) as through ${eligible}
      group by 1`,
    // Also of an account or a party that has only one.
    through: sql`case when b.subscription_id is not null
        then ${days('b.previously_billed_to')} else (
        select sum(${days('p.previously_billed_to')}) from bill_parts p
        where p.tenant_id = ${tenantId} and p.bill_id = b.bill_id
      ) end`,
  };
}
