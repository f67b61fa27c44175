import type { Tx } from '../../../base/db/pool.ts';
import { type Sql, sql } from '../../../base/db/sql.ts';
import { openOfBill } from '../../ledger/open-amounts-store.ts';
import { withContents } from '../contents-store.ts';
import { chargeOf } from '../generate/booking.ts';
import type { Sums } from '../generate/run-totals.ts';
import type { RunTotals } from '../generate/runs-store.ts';

type SumsRow = Omit<RunTotals, 'components' | 'usage'>;

/**
 * The totals of a term out of its bills, as a run of the whole term adds them up itself. Not out of
 * their documents, which take several times as long to read: names and units are those of sums
 * that were made before.
 */
export async function sumOfTerm(
  tx: Tx,
  tenantId: number,
  termId: number,
  named: Pick<Sums, 'components' | 'usage'>,
): Promise<RunTotals> {
  const { rows } = await sql<SumsRow>`
    select
      coalesce(sum(case when subscription_id is null then (
        select count(*) from bill_parts p
        where p.tenant_id = ${tenantId} and p.bill_id = b.bill_id
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
  const parts = await sumParts(tx, tenantId, { termId, isPosted: false }, 'Counted');
  const components = [...parts.components].map(([name, amount]) => {
    const label = named.components.get(name)?.label ?? name;
    return [name, { label, amount: String(amount) }] as const;
  });
  const usage = [...parts.usage].map(([input, quantity]) => {
    const unit = named.usage.get(input)?.unit ?? null;
    return [input, { unit, quantity }] as const;
  });
  return {
    ...sums,
    components: Object.fromEntries(components),
    usage: Object.fromEntries(usage),
  };
}

/** Of a posted term, what was left out is on no account: only posted bills count. */
export type SummedTerm = { termId: number; isPosted: boolean };

export function summedTerm(term: { term_id: number; status: string }): SummedTerm {
  return { termId: term.term_id, isPosted: ['Posted', 'Published'].includes(term.status) };
}

export function isCounted(isPosted: boolean): Sql {
  return isPosted ? sql`b.status in ('Posted', 'Published')` : sql`b.status <> 'Cancelled'`;
}

export type PartSums = { components: Map<string, bigint>; usage: Map<string, string> };

/** Components and use of the bills that count, as they are now, or of those on hold. */
export async function sumParts(
  tx: Tx,
  tenantId: number,
  { termId, isPosted }: SummedTerm,
  which: 'Counted' | 'Hold',
): Promise<PartSums> {
  const isMeant = which === 'Hold' ? sql`b.status = 'Hold'` : isCounted(isPosted);
  const charged = await sql<{ key: string; amount: string }>`
    select c.key, sum(c.value::bigint)::text as amount
    from bills b
    cross join lateral json_each_text(b.charges) c
    where b.tenant_id = ${tenantId} and b.term_id = ${termId} and ${isMeant}
    group by c.key
  `.execute(tx);
  const used = await sql<{ input: string; quantity: string }>`
    select u.input, trim_scale(sum(u.quantity::numeric))::text as quantity
    from bills b
    cross join lateral (
      select c.key, c.value ->> 'quantity' from json_each(b.usage) c
      union all
      select c ->> 'input', c ->> 'quantity'
      from bill_contents k
      cross join lateral json_array_elements(k.document -> 'sections') section
      cross join json_array_elements(section -> 'usage') c
      where b.usage is null and k.tenant_id = ${tenantId} and k.bill_id = b.bill_id
    ) as u (input, quantity)
    where b.tenant_id = ${tenantId} and b.term_id = ${termId} and ${isMeant}
    group by u.input
  `.execute(tx);
  const components = new Map<string, bigint>();
  for (const { key, amount } of charged.rows) {
    const { component } = chargeOf(key);
    components.set(component, (components.get(component) ?? 0n) + BigInt(amount));
  }
  return { components, usage: new Map(used.rows.map((row) => [row.input, row.quantity])) };
}

/** Live figures of a term's bills; amounts are minor units as text. */
export type TermFigures = {
  bills: number;
  errors: number;
  on_hold: number;
  /** Bills that the amounts are of. */
  counted: number;
  subscriptions: number;
  current_charges: string;
  /** Of the bills that are neither in error nor on hold. */
  ready_charges: string;
  tax_amount: string;
  arrears: string;
  payable: string;
  paid_amount: string;
  outstanding: string;
};

export async function findTermFigures(
  tx: Tx,
  tenantId: number,
  key: SummedTerm & { batchId: number | null },
): Promise<TermFigures> {
  const counted = isCounted(key.isPosted);
  const { rows } = await sql<TermFigures>`
    select (count(*) filter (where b.status <> 'Error'))::integer as bills,
      (count(*) filter (where b.status = 'Error'))::integer as errors,
      (count(*) filter (where b.status = 'Hold'))::integer as on_hold,
      (count(b.subscription_id) + coalesce(sum((
        select count(*) from bill_parts p
        where p.tenant_id = ${tenantId} and p.bill_id = b.bill_id
      )) filter (where b.subscription_id is null), 0))::integer as subscriptions,
      (count(*) filter (where b.status <> 'Error' and ${counted}))::integer as counted,
      coalesce(sum(b.current_charges) filter (where ${counted}), 0)::text as current_charges,
      coalesce(sum(b.current_charges) filter (
        where b.status not in ('Error', 'Hold')), 0)::text as ready_charges,
      coalesce(sum(b.tax_amount) filter (where ${counted}), 0)::text as tax_amount,
      coalesce(sum(b.arrears) filter (where ${counted}), 0)::text as arrears,
      coalesce(sum(b.payable) filter (where ${counted}), 0)::text as payable,
      coalesce(sum(b.paid_amount), 0)::text as paid_amount,
      coalesce(sum(${openOfBill}) filter (
        where b.status in ('Posted', 'Published')), 0)::text as outstanding
    from bills b
    where b.tenant_id = ${tenantId} and b.term_id = ${key.termId} and b.status <> 'Cancelled'
      and (${key.batchId}::bigint is null or b.batch_id = ${key.batchId})
  `.execute(tx);
  const [figures] = rows;
  if (!figures) throw new Error('a sum is one row');
  return figures;
}

/**
 * The regular term before this one of the same batch and period, and what it charged: what its last
 * run made, without bills that are gone since, were left out of posting or cancelled.
 */
export async function findPreviousTerm(
  tx: Tx,
  tenantId: number,
  termId: number,
): Promise<{ term_id: number; current_charges: string | null } | undefined> {
  const { rows } = await sql<{ term_id: number; current_charges: string | null }>`
    select p.term_id, ((r.totals ->> 'currentCharges')::numeric - (
        select coalesce(sum(h.current_charges), 0) from bills h
        where h.tenant_id = ${tenantId} and h.term_id = p.term_id
          and h.status in ('Hold', 'Cancelled') and p.status in ('Posted', 'Published')
      ) - (
        select coalesce(sum(g.current_charges), 0) from superseded_bills g
        where g.tenant_id = ${tenantId} and g.term_id = p.term_id and g.last_run = p.run_number
          and p.status = 'Open'
      ))::text as current_charges
    from (
      select e.term_id, e.status, e.run_number
      from terms t
      join terms e on e.tenant_id = ${tenantId} and e.context_id = t.context_id
        and e.batch_id = t.batch_id and e.billing_period_id = t.billing_period_id
        and e.term_type = 'Regular' and e.status <> 'Cancelled' and e.end_date < t.start_date
      where t.tenant_id = ${tenantId} and t.term_id = ${termId}
      order by e.end_date desc
      limit 1
    ) p
    left join bill_runs r on r.tenant_id = ${tenantId} and r.term_id = p.term_id
      and r.run_number = p.run_number
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
      (array_agg(bill_number order by bill_id desc))[1] as last, count(*) as count,
      retired_reason as reason, retired_at, retired_by
    from bill_numbers
    where tenant_id = ${tenantId} and term_id = ${termId} and retired_at is not null
    group by retired_reason, retired_at, retired_by
    order by retired_at, retired_reason
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
        k.frozen -> 'connection' ->> 'connectionNumber') as connection_number,
      e ->> 'code' as code, e ->> 'message' as message
    from (
      select tenant_id, bill_id from bills
      where tenant_id = ${tenantId} and term_id = ${key.termId} and review_status = 'Error'
        and bill_id > ${options.afterBillId}
        and (${key.batchId}::bigint is null or batch_id = ${key.batchId})
      order by bill_id
      limit ${options.limit}
    ) b
    ${withContents(tenantId)}
    cross join lateral json_array_elements(k.document -> 'errors') with ordinality as x (e, place)
    order by b.bill_id, x.place
  `.execute(tx);
  return rows;
}
