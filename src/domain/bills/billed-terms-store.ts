import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';
import type { ContextType } from '../ledger/accounts.ts';
import { termNotFound } from '../terms/store.ts';
import type { PostType, TermStage, TermStatus, TermType } from '../terms/term.ts';

/** A term with what its bills need of its context, batch and billing period. */
export type BilledTerm = {
  term_id: number;
  context_id: number;
  context_code: string;
  context_name: string;
  context_type: ContextType;
  context_created_at: Temporal.Instant;
  context_period_id: number;
  charging_type: 'Postpaid' | 'Prepaid';
  bills_after_period: boolean;
  business_unit_id: number;
  due_date_offset: number;
  minimum_days_to_pay: number;
  book_version: number;
  batch_id: number;
  batch_code: string;
  billing_period_id: number;
  /** Of the billing period, as decimal text. */
  months: string;
  term_type: TermType;
  label: string;
  start_date: string;
  end_date: string;
  due_date: string;
  post_type: PostType;
  status: TermStatus;
  stage: TermStage;
  is_stale: boolean;
  is_read: boolean;
  /** Whether estimates were asked for when readings were posted last. */
  is_estimated: boolean;
  /** When another term that takes readings of the same meters last locked some. */
  others_read_at: Temporal.Instant | null;
  /** Whether a term for some customers alone has days of this one. */
  is_beside: boolean;
  run_number: number;
  created_at: Temporal.Instant;
};

/** A locked term does not change until the transaction ends. */
export async function findBilledTerm(
  tx: Tx,
  tenantId: number,
  termId: number,
  options: { lock?: 'update' | 'share' } = {},
): Promise<BilledTerm | undefined> {
  const lock = { update: sql`for no key update of t`, share: sql`for share of t` };
  const { rows } = await sql<BilledTerm>`
    select t.term_id, t.context_id, c.code as context_code, c.name as context_name,
      c.context_type, c.created_at as context_created_at, c.billing_period_id as context_period_id,
      c.charging_type, c.bills_after_period, c.business_unit_id, c.due_date_offset,
      c.minimum_days_to_pay, c.book_version,
      t.batch_id, b.code as batch_code, t.billing_period_id,
      trim_scale(p.months)::text as months, t.term_type, t.label, t.start_date, t.end_date,
      t.due_date, t.post_type, t.status, t.stage, t.is_stale,
      t.readings_posted_at is not null as is_read, t.is_estimated, (
        select max(o.readings_posted_at) from terms o
        where o.tenant_id = ${tenantId} and o.context_id = t.context_id
          and o.batch_id = t.batch_id and o.term_id <> t.term_id and o.status <> 'Cancelled'
          and o.start_date <= t.end_date
      ) as others_read_at, exists (
        select from terms o
        where o.tenant_id = ${tenantId} and o.context_id = t.context_id
          and o.term_type <> 'Regular' and o.term_id <> t.term_id
          and o.start_date <= t.end_date and o.end_date >= t.start_date
      ) as is_beside, t.run_number, t.created_at
    from terms t
    join pricing_contexts c on c.tenant_id = t.tenant_id and c.context_id = t.context_id
    join batches b on b.tenant_id = t.tenant_id and b.batch_id = t.batch_id
    join billing_periods p on p.tenant_id = t.tenant_id and p.period_id = t.billing_period_id
    where t.tenant_id = ${tenantId} and t.term_id = ${termId}
    ${options.lock ? lock[options.lock] : sql``}
  `.execute(tx);
  return rows[0];
}

export async function getBilledTerm(
  tx: Tx,
  tenantId: number,
  termId: number,
  options: { lock?: 'update' | 'share' } = {},
): Promise<BilledTerm> {
  const term = await findBilledTerm(tx, tenantId, termId, options);
  if (!term) throw termNotFound(termId);
  return term;
}

export type TermStep = {
  stage: TermStage;
  status?: TermStatus;
  isStale?: boolean;
  runNumber?: number;
};

export async function updateTermStage(
  tx: Tx,
  tenantId: number,
  termId: number,
  step: TermStep,
  stamp: Stamp,
): Promise<void> {
  await sql`
    update terms
    set stage = ${step.stage}, status = coalesce(${step.status ?? null}, status),
      is_stale = coalesce(${step.isStale ?? null}, is_stale),
      run_number = coalesce(${step.runNumber ?? null}, run_number),
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId} and term_id = ${termId}
  `.execute(tx);
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
    join billing_periods p on p.tenant_id = t.tenant_id and p.period_id = t.billing_period_id
    where t.tenant_id = ${tenantId} and t.term_id = any(${termIds}::bigint[])
  `.execute(tx);
  return rows;
}
