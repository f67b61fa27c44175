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
