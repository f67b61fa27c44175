// What was billed of subscriptions in their last terms, as posting writes it down.

import type { Tx } from '../../../base/db/pool.ts';
import { type Sql, sql } from '../../../base/db/sql.ts';
import { historyTerms } from '../../terms/usage-history-store.ts';
import { withContents } from '../contents-store.ts';

/**
 * More terms are kept than a bill shows, so that they are available when the newest are unposted.
 */
const keptTerms = historyTerms + 3;

export type HistoryTerm = {
  bills: readonly { billId: number }[];
  term: { termId: number; label: string; startDate: string; endDate: string };
  keepsCharges: boolean;
  isCombined: boolean;
};

/**
 * Terms to add again to the history `h` when its newest term, of the bill of `p`, is unposted:
 * those that were dropped when it was posted, read from their posted bills.
 */
export function forgottenTerms(tenantId: number): Sql {
  return sql`case when cardinality(h.terms) > ${historyTerms} then '{}' else array(
    select (jsonb_build_object('termId', t.term_id, 'label', t.label, 'endDate', t.end_date,
        'days', o.days, 'amount', o.amount, 'usage', o.usage)
      || case when o.rounding <> 0 then jsonb_build_object('rounding', o.rounding) else '{}' end
      || case when not c.bills_after_period and o.previously_billed_to >= t.start_date
        then jsonb_build_object('fromDate', o.previously_billed_to + 1) else '{}' end)::json
    from (${rememberedBills(tenantId)} offset 0) o
    join terms t on t.tenant_id = ${tenantId} and t.term_id = o.term_id
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = t.context_id
    where o.billed_to <= p.billed_to and not exists (
      select from unnest(h.terms) as known (term)
      where (known.term ->> 'termId')::bigint = o.term_id
    )
    order by o.billed_to desc
    limit ${historyTerms + 1} - cardinality(h.terms)
  ) end`;
}

/** All posted bills of the subscription of `p`, as histories tell of them: looked up by it. */
function rememberedBills(tenantId: number): Sql {
  return sql`
    select b.term_id, b.billed_to, b.previously_billed_to, b.days, b.current_charges as amount,
      0 as rounding, b.usage::jsonb as usage
    from bills b
    where b.tenant_id = ${tenantId} and b.subscription_id = p.subscription_id
      and b.status in ('Posted', 'Published')
    union all
    select b.term_id, o.billed_to, o.previously_billed_to, o.days, ${subtotal},
      o.amount - ${subtotal},
      ${usageObject(sql`e.section -> 'usage'`)}
    from bill_parts o
    join bills b on b.tenant_id = ${tenantId} and b.bill_id = o.bill_id
      and b.status in ('Posted', 'Published')
    ${withContents(tenantId)}
    cross join lateral json_array_elements(k.document -> 'sections') as e (section)
    where o.tenant_id = ${tenantId} and o.subscription_id = p.subscription_id
      and (e.section ->> 'connectionID')::bigint = p.subscription_id`;
}

/**
 * Puts the new term of each subscription before the others of its history. An upsert would lock
 * every row before it is written. `offset 0` keeps functions of dates out of the update itself,
 * where a cluster refuses them.
 */
export async function extendHistories(
  tx: Tx,
  tenantId: number,
  history: HistoryTerm,
): Promise<number> {
  const { count } = await sql`
    update usage_histories h
    set terms = ${newestTerm(history)} || h.terms[1:${sql.lit(keptTerms - 1)}],
      brought_forward = n.brought_forward, received = n.received, billed = n.billed
    from (${historyRows(tenantId, history)} offset 0) n
    where h.tenant_id = ${tenantId} and h.subscription_id = n.subscription_id
  `.execute(tx);
  return count;
}

/** Histories of those that have none: this is their first bill. */
export async function beginHistories(
  tx: Tx,
  tenantId: number,
  history: HistoryTerm,
): Promise<number> {
  const { count } = await sql`
    insert into usage_histories
      (tenant_id, subscription_id, terms, brought_forward, received, billed)
    select n.tenant_id, n.subscription_id, ${newestTerm(history)}, n.brought_forward, n.received,
      n.billed
    from (${historyRows(tenantId, history)}) n
    where not exists (
      select from usage_histories h
      where h.tenant_id = ${tenantId} and h.subscription_id = n.subscription_id
    )
  `.execute(tx);
  return count;
}

/** Of row `n`, as an array of one. */
function newestTerm({ term, keepsCharges }: HistoryTerm): Sql {
  // Put together as text, which is a fraction of what it costs to build it of its parts.
  const head = `${JSON.stringify({
    termId: term.termId,
    label: term.label,
    endDate: term.endDate,
  }).slice(0, -1)},"days":`;
  return sql`array[(${head}::text || n.days || ',"amount":' || n.amount
    || ',"usage":' || n.usage ${keepsCharges ? sql`|| n.since` : sql``} || '}')::json]`;
}

function historyRows(tenantId: number, history: HistoryTerm): Sql {
  const { keepsCharges, isCombined, term } = history;
  const start = sql`${term.startDate}`;
  return sql`
    select b.tenant_id, b.subscription_id, b.days, b.current_charges::text as amount,
      b.arrears + b.bill_amount as brought_forward, b.received, b.usage::text as usage,
      ${keepsCharges ? chargesOf(sql`null::text`, start) : sql`null::jsonb`} as billed
      ${keepsCharges ? sql`, ${sinceText(sql`b`, term.startDate)} as since` : sql``}
    from bills b
    ${keepsCharges ? withContents(tenantId) : sql``}
    where ${isOfHistory(tenantId, history)} and b.subscription_id is not null
    ${isCombined ? sql`union all ${combinedRows(tenantId, history)}` : sql``}`;
}

function combinedRows(tenantId: number, history: HistoryTerm): Sql {
  const { bills, keepsCharges, term } = history;
  const start = sql`${term.startDate}`;
  return sql`
    select b.tenant_id, p.subscription_id, p.days, ${subtotal} || case when p.amount <> ${subtotal}
        then ',"rounding":' || p.amount - ${subtotal} else '' end,
      p.arrears + p.amount, p.received,
      ${usageObject(sql`e.section -> 'usage'`)}::text,
      ${keepsCharges ? chargesOf(numberOfSection, start) : sql`null::jsonb`}
      ${keepsCharges ? sql`, ${sinceText(sql`p`, term.startDate)}` : sql``}
    from bills b
    ${withContents(tenantId)}
    cross join lateral json_array_elements(k.document -> 'sections') as e (section)
    join bill_parts p on p.tenant_id = ${tenantId} and p.bill_id = b.bill_id
      and p.bill_id = any(${bills.map((one) => one.billId)}::bigint[])
      and p.subscription_id = (e.section ->> 'connectionID')::bigint
    where ${isOfHistory(tenantId, history)} and b.subscription_id is null`;
}

/** Bill `b` is one that was just posted. The range is there for the plan, as it is in posting. */
function isOfHistory(tenantId: number, { bills }: HistoryTerm): Sql {
  const ids = bills.map((one) => one.billId);
  return sql`b.tenant_id = ${tenantId} and b.bill_id between ${ids[0]} and ${ids.at(-1)}
      and b.bill_id = any(${ids}::bigint[])`;
}

/** Where days of the term were billed before, the first that was left: only these are compared. */
function sinceText(part: Sql, startDate: string): Sql {
  const first = sql`to_char(${part}.previously_billed_to + 1, 'YYYY-MM-DD')`;
  return sql`case when ${part}.previously_billed_to >= ${startDate}::date
    then ',"fromDate":"' || ${first} || '"' else '' end`;
}

/** [{input, quantity, estimated?, carried?}] -> {input: {quantity, type, carried?}} */
function usageObject(usage: Sql): Sql {
  return sql`coalesce((
    select jsonb_object_agg(u ->> 'input', jsonb_strip_nulls(jsonb_build_object(
      'quantity', u ->> 'quantity',
      'type', case when u ->> 'estimated' is null then 'Actual' else 'Estimated' end,
      'carried', u ->> 'carried')))
    from json_array_elements(${usage}) u
  ), '{}')`;
}

/** Without the rounding of the bill, which one of its parts has taken. */
const subtotal = sql`(e.section ->> 'subtotal')::bigint`;
const numberOfSection = sql`e.section ->> 'connectionNumber'`;

/**
 * What bill `b` with contents `k` computed for days of its own term, by component: the next one
 * compares it with what is known then. Days it caught up on are of no such comparison, nor is what
 * was given by hand for the term, which is null. Of a bill of several subscriptions, what the one
 * with the number was charged.
 */
export function chargesOf(number: Sql, startDate: Sql): Sql {
  return sql`(coalesce((
    select jsonb_object_agg(c.component, c.amount)
    from (
      select l ->> 'component' as component, sum((l ->> 'amount')::bigint) as amount
      from json_array_elements(k.document -> 'lines') l
      where l ->> 'lineType' is null
        and (${number} is null or l ->> 'connectionNumber' = ${number})
        and coalesce(to_date(l ->> 'fromDate', 'DD/MM/YYYY'), b.billed_from) >= ${startDate}::date
      group by 1
    ) c
  ), '{}') || coalesce((
    select jsonb_object_agg(m.given ->> 1, null::text)
    from (
      select json_array_elements(k.frozen -> 'manual')
      union all
      select json_array_elements(f -> 'manual')
      from json_array_elements(k.frozen -> 'subscriptions') f
    ) as m (given)
    where m.given ->> 3 is null and (${number} is null or m.given ->> 0 = ${number})
  ), '{}'))`;
}
