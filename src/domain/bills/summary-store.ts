import { sql } from 'kysely';
import type { Tx } from '../../base/db/pool.ts';
import type { RunTotals } from './runs-store.ts';

type SumsRow = Omit<RunTotals, 'components' | 'usage'>;

/** The totals of a term out of its bills, as a run of the whole term adds them up itself. */
export async function sumOfTerm(tx: Tx, tenantId: number, termId: number): Promise<RunTotals> {
  const { rows } = await sql<SumsRow>`
    select
      coalesce(sum(case when subscription_id is null then (
        select count(*) from bill_parts p
        where p.tenant_id = b.tenant_id and p.bill_id = b.bill_id
      ) else 1 end), 0)::integer as subscriptions,
      (count(*) filter (where status <> 'Error'))::integer as bills,
      (count(*) filter (where status = 'Error'))::integer as errors,
      (count(*) filter (where status = 'Hold'))::integer as holds,
      coalesce(sum(current_charges), 0)::text as "currentCharges",
      coalesce(sum(tax_amount), 0)::text as "taxAmount",
      coalesce(sum(arrears), 0)::text as arrears, coalesce(sum(payable), 0)::text as payable
    from bills b
    where tenant_id = ${tenantId} and term_id = ${termId} and status <> 'Cancelled'
  `.execute(tx);
  const [sums] = rows;
  if (!sums) throw new Error('a sum is one row');
  const components = await sumComponents(tx, tenantId, termId);
  const usage = await sumUsage(tx, tenantId, termId);
  return { ...sums, components, usage };
}

async function sumComponents(
  tx: Tx,
  tenantId: number,
  termId: number,
): Promise<RunTotals['components']> {
  const { rows } = await sql<{ component: string; label: string; amount: string }>`
    select l ->> 'component' as component, min(l ->> 'label') as label,
      sum((l ->> 'amount')::bigint)::text as amount
    from bills b, json_array_elements(b.document -> 'lines') l
    where b.tenant_id = ${tenantId} and b.term_id = ${termId} and b.status <> 'Cancelled'
    group by 1
  `.execute(tx);
  return Object.fromEntries(rows.map(({ component, ...rest }) => [component, rest]));
}

async function sumUsage(tx: Tx, tenantId: number, termId: number): Promise<RunTotals['usage']> {
  const { rows } = await sql<{ input: string; unit: string | null; quantity: string }>`
    select u ->> 'input' as input, min(u ->> 'unit') as unit,
      trim_scale(sum((u ->> 'quantity')::numeric))::text as quantity
    from (
      select json_array_elements(document -> 'usage') as u
      from bills
      where tenant_id = ${tenantId} and term_id = ${termId} and status <> 'Cancelled'
      union all
      select json_array_elements(json_array_elements(document -> 'sections') -> 'usage')
      from bills
      where tenant_id = ${tenantId} and term_id = ${termId} and status <> 'Cancelled'
        and subscription_id is null
    ) used
    group by 1
  `.execute(tx);
  return Object.fromEntries(rows.map(({ input, ...rest }) => [input, rest]));
}

/** Live figures of a term's bills; amounts are minor units as text. */
export type TermFigures = {
  bills: number;
  errors: number;
  on_hold: number;
  subscriptions: number;
  current_charges: string;
  tax_amount: string;
  arrears: string;
  payable: string;
  paid_amount: string;
  outstanding: string;
};

export async function findTermFigures(
  tx: Tx,
  tenantId: number,
  key: { termId: number; batchId: number | null },
): Promise<TermFigures> {
  const { rows } = await sql<TermFigures>`
    select (count(*) filter (where b.status <> 'Error'))::integer as bills,
      (count(*) filter (where b.status = 'Error'))::integer as errors,
      (count(*) filter (where b.status = 'Hold'))::integer as on_hold,
      (count(b.subscription_id) + coalesce(sum((
        select count(*) from bill_parts p
        where p.tenant_id = b.tenant_id and p.bill_id = b.bill_id
      )) filter (where b.subscription_id is null), 0))::integer as subscriptions,
      coalesce(sum(b.current_charges), 0)::text as current_charges,
      coalesce(sum(b.tax_amount), 0)::text as tax_amount,
      coalesce(sum(b.arrears), 0)::text as arrears, coalesce(sum(b.payable), 0)::text as payable,
      coalesce(sum(b.paid_amount), 0)::text as paid_amount,
      coalesce(sum(b.bill_amount - b.paid_amount) filter (
        where b.status in ('Posted', 'Published')), 0)::text as outstanding
    from bills b
    where b.tenant_id = ${tenantId} and b.term_id = ${key.termId} and b.status <> 'Cancelled'
      and (${key.batchId}::bigint is null or b.batch_id = ${key.batchId})
  `.execute(tx);
  const [figures] = rows;
  if (!figures) throw new Error('a sum is one row');
  return figures;
}

/** The regular term before this one of the same batch and period, and what it charged. */
export async function findPreviousTerm(
  tx: Tx,
  tenantId: number,
  termId: number,
): Promise<{ term_id: number; totals: RunTotals | null } | undefined> {
  const { rows } = await sql<{ term_id: number; totals: RunTotals | null }>`
    select e.term_id, r.totals
    from terms t
    join terms e on e.tenant_id = t.tenant_id and e.context_id = t.context_id
      and e.batch_id = t.batch_id and e.billing_period_id = t.billing_period_id
      and e.term_type = 'Regular' and e.status <> 'Cancelled' and e.end_date < t.start_date
    left join bill_runs r on r.tenant_id = e.tenant_id and r.term_id = e.term_id
      and r.run_number = e.run_number
    where t.tenant_id = ${tenantId} and t.term_id = ${termId}
    order by e.end_date desc
    limit 1
  `.execute(tx);
  return rows[0];
}

/** Numbers of a term that were given and taken back, by the time at which they were. */
export type RetiredRow = {
  first: string;
  last: string;
  count: number;
  reason: string;
  retired_at: Temporal.Instant;
  retired_by: string;
};

export async function listRetired(tx: Tx, tenantId: number, termId: number): Promise<RetiredRow[]> {
  const { rows } = await sql<RetiredRow>`
    select (array_agg(bill_number order by bill_id))[1] as first,
      (array_agg(bill_number order by bill_id desc))[1] as last, count(*) as count, reason,
      retired_at, retired_by
    from retired_numbers
    where tenant_id = ${tenantId} and term_id = ${termId}
    group by reason, retired_at, retired_by
    order by retired_at, reason
  `.execute(tx);
  return rows;
}

export type ExceptionRow = {
  bill_id: number;
  connection_number: string | null;
  code: string;
  message: string;
};

/** What is wrong with bills, in the order of their ids; all errors of a bill come together. */
export async function listExceptions(
  tx: Tx,
  tenantId: number,
  key: { termId: number; batchId: number | null },
  options: { afterBillId: number; limit: number },
): Promise<ExceptionRow[]> {
  const { rows } = await sql<ExceptionRow>`
    select b.bill_id, coalesce(e ->> 'connectionNumber',
        b.facts -> 'connection' ->> 'connectionNumber') as connection_number,
      e ->> 'code' as code, e ->> 'message' as message
    from (
      select bill_id, document, facts from bills
      where tenant_id = ${tenantId} and term_id = ${key.termId} and status = 'Error'
        and bill_id > ${options.afterBillId}
        and (${key.batchId}::bigint is null or batch_id = ${key.batchId})
      order by bill_id
      limit ${options.limit}
    ) b
    cross join lateral json_array_elements(b.document -> 'errors') with ordinality as x (e, place)
    order by b.bill_id, x.place
  `.execute(tx);
  return rows;
}
