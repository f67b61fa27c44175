import { rethrowViolation } from '../../base/db/faults.ts';
import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import type { ContextType } from '../ledger/accounts.ts';
import type { PostType, TermDates, TermStage, TermStatus, TermType } from './term.ts';

/** A term as lists show it. */
export type TermRow = {
  term_id: number;
  context_id: number;
  context_code: string;
  /** Of subscriptions whose group and plan name none. */
  context_period_id: number;
  batch_id: number;
  batch_code: string;
  billing_period_id: number;
  term_type: TermType;
  label: string;
  /** YYYY-MM-DD, as the others. */
  start_date: string;
  end_date: string;
  due_date: string;
  issue_date: string | null;
  post_type: PostType;
  status: TermStatus;
  stage: TermStage;
  is_stale: boolean;
  readings_posted_at: Temporal.Instant | null;
  run_number: number;
  cancel_reason: string | null;
  created_at: Temporal.Instant;
  created_by: string;
  modified_at: Temporal.Instant;
  modified_by: string;
  ts: number;
};

/** A term with what its bills need of its context and its billing period. */
export type Term = TermRow & {
  context_name: string;
  context_type: ContextType;
  context_created_at: Temporal.Instant;
  charging_type: 'Postpaid' | 'Prepaid';
  bills_after_period: boolean;
  business_unit_id: number;
  due_date_offset: number;
  minimum_days_to_pay: number;
  book_version: number;
  /** Of the billing period, as decimal text. */
  months: string;
  /** True if estimates were asked for when readings were posted last. */
  is_estimated: boolean;
  /** When another term that takes readings of the same meters last locked some. */
  others_read_at: Temporal.Instant | null;
  /** True if a term for some customers alone has days of this one. */
  is_beside: boolean;
};

export const termColumns = sql.raw(`t.term_id, t.context_id, c.code as context_code,
  c.billing_period_id as context_period_id, t.batch_id, b.code as batch_code,
  t.billing_period_id, t.term_type, t.label, t.start_date, t.end_date, t.due_date, t.issue_date,
  t.post_type, t.status, t.stage, t.is_stale, t.readings_posted_at, t.run_number,
  t.cancel_reason, t.created_at, t.created_by, t.modified_at, t.modified_by, t.ts`);

export const termTables = (tenantId: number) => sql`terms t
  join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = t.context_id
  join batches b on b.tenant_id = ${tenantId} and b.batch_id = t.batch_id`;

export type NewTerm = TermDates & {
  termId: number;
  contextId: number;
  batchId: number;
  billingPeriodId: number;
  type: TermType;
  label: string;
  postType: PostType;
  /** The cancelled bill that the term bills again. */
  replacesBillId: number | null;
};

export async function insertTerm(
  tx: Tx,
  tenantId: number,
  term: NewTerm,
  stamp: Stamp,
): Promise<void> {
  await sql`
    insert into terms (
      tenant_id, term_id, context_id, batch_id, billing_period_id, term_type, label,
      start_date, end_date, due_date, post_type, status, stage, replaces_bill_id,
      created_at, created_by, modified_at, modified_by, ts
    )
    values (
      ${tenantId}, ${term.termId}, ${term.contextId}, ${term.batchId}, ${term.billingPeriodId},
      ${term.type}, ${term.label}, ${term.startDate}, ${term.endDate}, ${term.dueDate},
      ${term.postType}, 'Open', 'Created', ${term.replacesBillId},
      ${stamp.at}, ${stamp.by}, ${stamp.at}, ${stamp.by}, ${stamp.at.epochMilliseconds}
    )
  `
    .execute(tx)
    .catch((error) =>
      rethrowViolation(error, violations(term.label, term.billingPeriodId, 'startDate')),
    );
}

/** The field is the one that was sent and can be in the way of another term. */
function violations(label: string, billingPeriodId: number, dateField: 'startDate' | 'endDate') {
  return {
    terms_overlap: () =>
      new AppError('TERM_OVERLAP', {
        message:
          'Another regular term of this batch and billing period has some of these days. ' +
          'get-terms shows it: change the dates, or cancel the other term.',
        field: `data.${dateField}`,
      }),
    terms_label_key: () =>
      new AppError('DUPLICATE', {
        message: `The batch has a term with the label '${label}'. Choose another label.`,
        field: 'data.label',
      }),
    terms_period_fkey: () =>
      new AppError('PERIOD_NOT_FOUND', {
        message: `No billing period has the id ${billingPeriodId}`,
        field: 'data.billingPeriodID',
      }),
  };
}

/** A locked term does not change until the transaction ends. */
export async function findTerm(
  tx: Tx,
  tenantId: number,
  termId: number,
  options: { lock?: 'update' | 'share' } = {},
): Promise<Term | undefined> {
  const lock = { update: sql`for no key update of t`, share: sql`for share of t` };
  const { rows } = await sql<Term>`
    select ${termColumns}, c.name as context_name, c.context_type,
      c.created_at as context_created_at, c.charging_type, c.bills_after_period,
      c.business_unit_id, c.due_date_offset, c.minimum_days_to_pay, c.book_version,
      trim_scale(p.months)::text as months, t.is_estimated, (
        select max(o.readings_posted_at) from terms o
        where o.tenant_id = ${tenantId} and o.context_id = t.context_id
          and o.batch_id = t.batch_id and o.term_id <> t.term_id and o.status <> 'Cancelled'
          and o.start_date <= t.end_date
      ) as others_read_at, exists (
        select from terms o
        where o.tenant_id = ${tenantId} and o.context_id = t.context_id
          and o.term_type <> 'Regular' and o.term_id <> t.term_id
          and o.start_date <= t.end_date and o.end_date >= t.start_date
      ) as is_beside
    from ${termTables(tenantId)}
    join billing_periods p on p.tenant_id = ${tenantId} and p.period_id = t.billing_period_id
    where t.tenant_id = ${tenantId} and t.term_id = ${termId}
    ${options.lock ? lock[options.lock] : sql``}
  `.execute(tx);
  return rows[0];
}

export async function getTerm(
  tx: Tx,
  tenantId: number,
  termId: number,
  options: { lock?: 'update' | 'share'; field?: string } = {},
): Promise<Term> {
  const term = await findTerm(tx, tenantId, termId, options);
  if (!term) throw termNotFound(termId, options.field);
  return term;
}

function termNotFound(termId: number, field = 'data.termID'): AppError {
  return new AppError('TERM_NOT_FOUND', { message: `No term has the id ${termId}`, field });
}

export async function updateTerm(
  tx: Tx,
  tenantId: number,
  term: Pick<TermRow, 'term_id' | 'label' | 'billing_period_id'> & {
    endDate: Temporal.PlainDate;
    dueDate: Temporal.PlainDate;
    isStale: boolean;
  },
  stamp: Stamp,
): Promise<void> {
  await sql`
    update terms
    set label = ${term.label}, end_date = ${term.endDate}, due_date = ${term.dueDate},
      is_stale = ${term.isStale}, modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId} and term_id = ${term.term_id}
  `
    .execute(tx)
    .catch((error) =>
      rethrowViolation(error, violations(term.label, term.billing_period_id, 'endDate')),
    );
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

/**
 * Notes that one of the steps 3 to 5 changed something. The stage never goes back by them: what
 * changes after bills were generated makes the term stale instead. Only where all readings that
 * were posted are given back, and nothing else was done since, it is as before step 4.
 */
export async function noteInputs(
  tx: Tx,
  tenantId: number,
  termId: number,
  step: {
    stage: TermStage;
    hasChanged: boolean;
    /** How readings were posted, null where none are any more; undefined leaves it as it is. */
    readings?: { postedAt: Temporal.Instant; isEstimated: boolean } | null;
  },
  stamp: Stamp,
): Promise<void> {
  const { stage, readings, hasChanged } = step;
  const posts = readings !== undefined;
  await sql`
    update terms
    set stage = case
        when ${readings === null}::boolean and stage = 'ReadingsPosted' then 'ReadingsUploaded'
        when array_position(${inputStages}, stage) < array_position(${inputStages}, ${stage})
          then ${stage} else stage end,
      is_stale = is_stale
        or (${hasChanged}::boolean and array_position(${inputStages}, stage) is null),
      readings_posted_at = case when ${posts}::boolean
        then ${readings?.postedAt ?? null}::timestamptz else readings_posted_at end,
      is_estimated = case when ${posts}::boolean
        then ${readings?.isEstimated ?? false}::boolean else is_estimated end,
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId} and term_id = ${termId}
  `.execute(tx);
  if (hasChanged) await markStale(tx, tenantId, termId, 'later', stamp.at);
}

/**
 * Marks other terms as stale: those that end later or on the same day, which may have caught up on
 * what this one took in. If balances change, also terms of the batches that the billed
 * subscriptions are in now. If posted bills are taken back, all other terms of the context.
 */
export async function markStale(
  tx: Tx,
  tenantId: number,
  termId: number,
  which: 'later' | 'billed' | 'others',
  at: Temporal.Instant,
): Promise<void> {
  const isMeant = {
    later: sql`o.batch_id = t.batch_id and o.end_date >= t.end_date and o.term_id <> t.term_id`,
    billed: sql`o.batch_id in (select t.batch_id union all ${batchesBilled(tenantId, termId)})
      and o.end_date >= t.end_date and o.term_id <> t.term_id`,
    others: sql`o.term_id <> t.term_id`,
  }[which];
  await sql`
    update terms o
    set is_stale = true, ts = greatest(o.ts + 1, ${at.epochMilliseconds}::bigint)
    from terms t
    where t.tenant_id = ${tenantId} and t.term_id = ${termId}
      and o.tenant_id = ${tenantId} and o.context_id = t.context_id and ${isMeant}
      and o.status = 'Open' and o.stage in ('Generating', 'Generated') and not o.is_stale
  `.execute(tx);
}

/** The present batches of the subscriptions that a term has billed. */
function batchesBilled(tenantId: number, termId: number): Sql {
  return sql`
    select s.batch_id from bills b
    left join bill_parts p on p.tenant_id = ${tenantId} and p.bill_id = b.bill_id
    join subscriptions s on s.tenant_id = ${tenantId}
      and s.subscription_id = coalesce(b.subscription_id, p.subscription_id)
    where b.tenant_id = ${tenantId} and b.term_id = ${termId}`;
}

const inputStages = sql.raw(
  `array['Created', 'ReadingsUploaded', 'ReadingsPosted', 'ComponentsPosted']::text[]`,
);

export async function cancelTerm(
  tx: Tx,
  tenantId: number,
  termId: number,
  reason: string,
  stamp: Stamp,
): Promise<void> {
  await sql`
    update terms
    set status = 'Cancelled', stage = 'Cancelled', is_stale = false, cancel_reason = ${reason},
      issue_date = null, readings_posted_at = null,
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId} and term_id = ${termId}
  `.execute(tx);
  await markStale(tx, tenantId, termId, 'later', stamp.at);
}

/** The place of a term among those of its batch. */
export type TermPlace = Pick<
  NewTerm,
  'contextId' | 'batchId' | 'billingPeriodId' | 'startDate' | 'endDate'
>;

/** The regular terms next to some days, of the same context, batch and billing period. */
export async function findNeighbours(
  tx: Tx,
  tenantId: number,
  term: TermPlace,
): Promise<{ previous: TermEdge | null; next: TermEdge | null }> {
  const same = sql`tenant_id = ${tenantId} and context_id = ${term.contextId}
    and batch_id = ${term.batchId} and billing_period_id = ${term.billingPeriodId}
    and term_type = 'Regular' and status <> 'Cancelled'`;
  const { rows } = await sql<{ previous: TermEdge | null; next: TermEdge | null }>`
    select (
        select json_build_object('label', label, 'date', end_date) from terms
        where ${same} and end_date < ${term.startDate}
        order by end_date desc
        limit 1
      ) as previous, (
        select json_build_object('label', label, 'date', start_date) from terms
        where ${same} and start_date > ${term.endDate}
        order by start_date
        limit 1
      ) as next
    from tenants where tenant_id = ${tenantId}
  `.execute(tx);
  return rows[0] ?? { previous: null, next: null };
}

/** Where a term ends or begins, as YYYY-MM-DD. */
export type TermEdge = { label: string; date: string };

/** Whether the term has a draft, a bill with a number, or one that its customer can see. */
export async function hasBills(
  tx: Tx,
  tenantId: number,
  termId: number,
  which: 'Draft' | 'Posted' | 'Published',
): Promise<boolean> {
  const statuses = which === 'Posted' ? ['Posted', 'Published', 'Cancelled'] : [which];
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from bills
      where tenant_id = ${tenantId} and term_id = ${termId}
        and status = any(${statuses}::text[])
    ) as found
  `.execute(tx);
  return rows[0]?.found ?? false;
}

/**
 * Also for bills skipped by posting: after unposting, the term is posted with them. Prepaid bills
 * are due on the day they were posted, whatever the term says. Overdue amounts of the others are on
 * bills of later terms.
 */
export async function moveDueDateOfBills(
  tx: Tx,
  tenantId: number,
  termId: number,
  dueDate: Temporal.PlainDate,
  stamp: Stamp,
): Promise<void> {
  await sql`
    update bills b
    set due_date = ${dueDate}, modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(b.ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    from pricing_contexts c
    where b.tenant_id = ${tenantId} and b.term_id = ${termId} and b.status <> 'Cancelled'
      and c.tenant_id = ${tenantId} and c.context_id = b.context_id
      and c.charging_type = 'Postpaid'
  `.execute(tx);
  await markStale(tx, tenantId, termId, 'billed', stamp.at);
}
