// Which subscriptions a term bills, which it does not and why, and what is different from the term
// before it. Until a term is posted, `isEligible` decides, as it does for generating. Afterwards
// the bills that were posted decide.

import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import { exclusionOf, exclusions, isEligible } from './eligible-store.ts';
import type { TermRow } from './store.ts';

/** Besides those of `isEligible`: the bill was left out of posting, or cancelled. */
export const populationReasons = [...exclusions, 'Skipped', 'Cancelled'] as const;
export type PopulationReason = (typeof populationReasons)[number];

export const populationChanges = ['New', 'Gone'] as const;
export type PopulationChange = (typeof populationChanges)[number];

/** A term, and the regular term of the same batch and period before it. */
export type MembersTerm = TermRow & { previous: PreviousTerm | undefined };
export type PreviousTerm = Pick<TermRow, 'term_id' | 'label' | 'post_type'>;

export type MemberFilter = {
  isIncluded: boolean | null;
  reason: PopulationReason | null;
  change: PopulationChange | null;
};

export type MemberRow = {
  subscription_id: number;
  subscription_number: string;
  status: string;
  party_number: number;
  party_name: string;
  plan_code: string;
  batch_code: string;
  is_included: boolean;
  reason: PopulationReason | null;
  was_billed: boolean;
};

export async function findTermBefore(
  tx: Tx,
  tenantId: number,
  term: TermRow,
): Promise<PreviousTerm | undefined> {
  const { rows } = await sql<PreviousTerm>`
    select term_id, label, post_type from terms
    where tenant_id = ${tenantId} and context_id = ${term.context_id}
      and batch_id = ${term.batch_id} and billing_period_id = ${term.billing_period_id}
      and term_type = 'Regular' and status in ('Posted', 'Published')
      and end_date < ${term.start_date}::date
    order by end_date desc
    limit 1
  `.execute(tx);
  return rows[0];
}

/** In the order of their ids. */
export async function listMembers(
  tx: Tx,
  tenantId: number,
  term: MembersTerm,
  filter: MemberFilter,
  window: { offset: number; limit: number },
): Promise<MemberRow[]> {
  const { rows } = await sql<MemberRow>`
    select m.subscription_id, m.subscription_number, m.status, m.is_included, m.was_billed,
      case when m.is_included then null else m.reason end as reason,
      p.party_number, p.name as party_name, n.code as plan_code, b.code as batch_code
    from (
      select * from ${membersOf(tenantId, term, filter)} s
      where ${matches(filter)}
      order by s.subscription_id
      limit ${window.limit} offset ${window.offset}
    ) m
    join parties p on p.tenant_id = ${tenantId} and p.party_id = m.party_id
    join plans n on n.tenant_id = ${tenantId} and n.plan_id = m.plan_id
    join batches b on b.tenant_id = ${tenantId} and b.batch_id = m.batch_id
    order by m.subscription_id
  `.execute(tx);
  return rows;
}

export async function countMembers(
  tx: Tx,
  tenantId: number,
  term: MembersTerm,
  filter: MemberFilter,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from ${membersOf(tenantId, term, filter)} s
    where s.tenant_id = ${tenantId} and ${matches(filter)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

export type MemberCounts = {
  included: number;
  /** Subscriptions that the term before it did not bill. */
  added: number;
  /** Subscriptions that it bills and the term before it billed. */
  kept: number;
  reasons: Partial<Record<PopulationReason, number>>;
};

/** One pass over the batch. Of other batches the number is the rest of the context. */
export async function countByReason(
  tx: Tx,
  tenantId: number,
  term: MembersTerm,
): Promise<MemberCounts> {
  const all: MemberFilter = { isIncluded: null, reason: null, change: null };
  const { rows } = await sql<{
    reason: PopulationReason | null;
    was_billed: boolean;
    count: number;
  }>`
    select case when s.is_included then null else s.reason end as reason, s.was_billed,
      count(*) as count
    from ${membersOf(tenantId, term, all)} s
    where s.tenant_id = ${tenantId}
    group by 1, 2
  `.execute(tx);
  const counts: MemberCounts = { included: 0, added: 0, kept: 0, reasons: {} };
  for (const { reason, was_billed: wasBilled, count } of rows) {
    if (reason !== null) {
      counts.reasons[reason] = (counts.reasons[reason] ?? 0) + count;
      continue;
    }
    counts.included += count;
    if (wasBilled) counts.kept += count;
    else if (term.previous) counts.added += count;
  }
  if (term.term_type !== 'Regular') return counts;
  const seen = rows.reduce((sum, { count }) => sum + count, 0);
  const others = (await countContext(tx, tenantId, term.context_id)) - seen;
  if (others > 0) counts.reasons.OtherBatch = (counts.reasons.OtherBatch ?? 0) + others;
  return counts;
}

async function countContext(tx: Tx, tenantId: number, contextId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select coalesce(sum(subscriptions), 0)::bigint as count from subscription_counts
    where tenant_id = ${tenantId} and context_id = ${contextId}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

/** Subscriptions on posted bills of a term. */
export async function countBilled(tx: Tx, tenantId: number, termId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(b.subscription_id) + coalesce(sum((
        select count(*) from bill_parts p
        where p.tenant_id = ${tenantId} and p.bill_id = b.bill_id
      )) filter (where b.subscription_id is null), 0) as count
    from bills b
    where b.tenant_id = ${tenantId} and b.term_id = ${termId}
      and b.status in ('Posted', 'Published')
  `.execute(tx);
  return Number(rows[0]?.count ?? 0);
}

/** `s`, with what the term makes of it. Without a filter, the subscriptions of the batch. */
function membersOf(tenantId: number, term: MembersTerm, filter: MemberFilter): Sql {
  const own = { term_id: term.term_id, post_type: term.post_type };
  const isPosted = term.status === 'Posted' || term.status === 'Published';
  const isIncluded = isPosted
    ? isBilledBy(tenantId, own, sql`b.status in ('Posted', 'Published')`)
    : isEligible(tenantId, term);
  const isSkipped = isBilledBy(tenantId, own, sql`b.status in ('Error', 'Hold')`);
  const isCancelled = isBilledBy(tenantId, own, sql`b.status = 'Cancelled'`);
  const exclusion = exclusionOf(tenantId, term);
  const reason = isPosted
    ? sql`case when ${isSkipped} then 'Skipped' when ${isCancelled} then 'Cancelled'
        else ${exclusion} end`
    : exclusion;
  const wasBilled = term.previous
    ? isBilledBy(tenantId, term.previous, sql`b.status in ('Posted', 'Published')`)
    : sql`false`;
  return sql`(
    select s.tenant_id, s.subscription_id, s.subscription_number, s.status, s.party_id, s.plan_id,
      s.batch_id, (${isIncluded}) as is_included, ${reason} as reason, ${wasBilled} as was_billed
    from subscriptions s
    where s.tenant_id = ${tenantId} and s.context_id = ${term.context_id}
      and ${isLookedAt(tenantId, term, filter)}
  )`;
}

/** A regular term looks at its batch, any other term at the subscriptions chosen for it. */
function isLookedAt(tenantId: number, term: MembersTerm, filter: MemberFilter): Sql {
  if (term.term_type !== 'Regular') {
    return sql`exists (
      select from term_subscriptions o
      where o.tenant_id = ${tenantId} and o.term_id = ${term.term_id}
        and o.subscription_id = s.subscription_id
    )`;
  }
  if (filter.reason === 'OtherBatch') return sql`s.batch_id <> ${term.batch_id}`;
  if (filter.change === 'Gone') return wasBilledBefore(tenantId, term);
  return sql`s.batch_id = ${term.batch_id}`;
}

/** Begins from the bills of the last term, because their subscriptions may now be in any batch. */
function wasBilledBefore(tenantId: number, { previous }: MembersTerm): Sql {
  if (!previous) return sql`false`;
  return sql`s.subscription_id in (
    select b.subscription_id from bills b
    where b.tenant_id = ${tenantId} and b.term_id = ${previous.term_id}
      and b.status in ('Posted', 'Published') and b.subscription_id is not null
    union all
    select p.subscription_id from bills b
    join bill_parts p on p.tenant_id = ${tenantId} and p.bill_id = b.bill_id
    where b.tenant_id = ${tenantId} and b.term_id = ${previous.term_id}
      and b.status in ('Posted', 'Published') and b.subscription_id is null
  )`;
}

function matches({ isIncluded, reason, change }: MemberFilter): Sql {
  const conditions = [sql`true`];
  if (isIncluded !== null) conditions.push(sql`s.is_included = ${isIncluded}`);
  if (reason !== null) conditions.push(sql`not s.is_included and s.reason = ${reason}`);
  if (change === 'New') conditions.push(sql`s.is_included and not s.was_billed`);
  if (change === 'Gone') conditions.push(sql`s.was_billed and not s.is_included`);
  return sql.join(conditions, sql` and `);
}

/** Whether `s` is on a bill of the term with that status: looked up by the key of the bill. */
function isBilledBy(
  tenantId: number,
  term: { term_id: number; post_type: string },
  hasStatus: Sql,
): Sql {
  if (term.post_type === 'Post Subscription') {
    return sql`exists (
      select from bills b
      where b.tenant_id = ${tenantId} and b.term_id = ${term.term_id}
        and b.unit_id = s.subscription_id and ${hasStatus}
      offset 0
    )`;
  }
  return sql`(exists (
      select from bills b
      where b.tenant_id = ${tenantId} and b.subscription_id = s.subscription_id
        and b.term_id = ${term.term_id} and ${hasStatus}
      offset 0
    ) or exists (
      select from bill_parts p
      join bills b on b.tenant_id = ${tenantId} and b.bill_id = p.bill_id
        and b.term_id = ${term.term_id} and ${hasStatus}
      where p.tenant_id = ${tenantId} and p.subscription_id = s.subscription_id
      offset 0
    ))`;
}
