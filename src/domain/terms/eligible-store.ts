// Which subscriptions a term bills: those of its context and batch whose billing period is the
// term's, and that were Active on an unbilled day up to its end. Also those that were billed in
// advance and whose usage, or change of plan, is not billed yet.

import type { Tx } from '../../base/db/pool.ts';
import { cutIntoRanges, type IdRange } from '../../base/db/ranges.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import { isPlanOther } from './backdated-plans-store.ts';
import type { TermRow } from './store.ts';

export type EligibleTerm = Pick<
  TermRow,
  | 'term_id'
  | 'context_id'
  | 'context_period_id'
  | 'batch_id'
  | 'billing_period_id'
  | 'term_type'
  | 'start_date'
  | 'end_date'
>;

/**
 * A condition on a subscription `s`. The days of one that was always Active are not examined. The
 * condition on the connection date is written so that PostgreSQL does not use an index for it: it
 * excludes hardly any subscription.
 */
export function isEligible(tenantId: number, term: EligibleTerm): Sql {
  return sql`s.tenant_id = ${tenantId} and s.context_id = ${term.context_id}
      and s.batch_id = ${term.batch_id} and s.status <> 'Pending'
      and (s.connection_date <= ${term.end_date}::date) is true
      and coalesce(s.billed_through, ${term.start_date}::date - 1) < ${term.end_date}::date
      and (
        (s.status = 'Active' and jsonb_array_length(s.status_history) = 1)
        or is_active_between(s.status_history,
          coalesce(s.billed_through, ${term.start_date}::date - 1) + 1,
          least(${term.end_date}::date, ${handedOver(tenantId, term)} - 1))
        or ${hasUnbilledUsage(tenantId, term)}
      )
      and ${isForTerm(tenantId, term)}`;
}

/** Why a term does not bill a subscription, in the order in which they are looked for. */
export const exclusions = [
  'OtherBatch',
  'Pending',
  'NotConnected',
  'AlreadyBilled',
  'OtherPeriod',
  'Closed',
  'Disconnected',
] as const;
export type Exclusion = (typeof exclusions)[number];

/**
 * Why `s` is not eligible: the first condition of `isEligible` that it does not meet. What meets
 * all others was not Active on an unbilled day.
 */
export function exclusionOf(tenantId: number, term: EligibleTerm): Sql<Exclusion> {
  return sql`case
      when s.batch_id <> ${term.batch_id} then 'OtherBatch'
      when s.status = 'Pending' then 'Pending'
      when s.connection_date > ${term.end_date}::date then 'NotConnected'
      when s.billed_through >= ${term.end_date}::date then 'AlreadyBilled'
      when not ${isForTerm(tenantId, term)} then 'OtherPeriod'
      when s.status = 'Closed' then 'Closed'
      else 'Disconnected' end`;
}

/** A term, or the day for which the unbilled rest is asked. */
type LeavingTerm = Pick<EligibleTerm, 'term_type' | 'start_date' | 'end_date'> & {
  context_id: number | Sql;
};

/**
 * Whether `s` was billed in advance up to its last day, so that only the usage of the last term, or
 * the difference to another plan, is still to be billed. A regular term bills it if the next day is
 * one of its own.
 */
export function hasUnbilledUsage(tenantId: number, term: LeavingTerm): Sql {
  const isOwn = sql`s.billed_through >= ${term.start_date}::date - 1`;
  const isOff = sql`s.billed_through + 1 = ${offSince(term.end_date)}`;
  return sql`(${isInAdvance(tenantId, term)}
    ${term.term_type === 'Regular' ? sql`and ${isOwn}` : sql``}
    and ${term.term_type === 'Final' ? sql`(${isOff} or ${isHandedOn(term)})` : sql`${isOff}`}
    and ${isNewestBilled(tenantId)} and ${isBilledAfterwards(tenantId, term)})`;
}

/**
 * True if the unbilled usage is that of the former owner of `s`: it was transferred when the billed
 * term ended.
 */
export function isUsageOfFormerOwner(tenantId: number, term: LeavingTerm): Sql {
  return sql`case when s.transferred_on > s.billed_through then ${isInAdvance(tenantId, term)}
      and ${isHandedOn(term)} and ${isNewestBilled(tenantId)}
      and ${isBilledAfterwards(tenantId, term)}
    else false end`;
}

function isInAdvance(tenantId: number, term: LeavingTerm): Sql {
  return sql`exists (
      select from pricing_contexts c
      where c.tenant_id = ${tenantId} and c.context_id = ${term.context_id}
        and not c.bills_after_period
    )`;
}

/**
 * Whether plans of the context bill use afterwards, or `s` took another plan on days of its newest
 * bill after that was made. Few have had two plans, and of others no bill is looked at.
 */
function isBilledAfterwards(tenantId: number, term: LeavingTerm): Sql {
  return sql`case when exists (
      select from plans n
      join plan_versions v on v.tenant_id = ${tenantId} and v.plan_id = n.plan_id
        and v.definition @? '$.componentRules[*] ? (@.window == "Previous")'
      where n.tenant_id = ${tenantId} and n.context_id = ${term.context_id}
    ) then true
    when jsonb_array_length(s.plan_history) > 1 then ${isPlanOther(tenantId)}
    else false end`;
}

/** True if the newest bill of `s` is that of a whole term, and its usage is not billed yet. */
function isNewestBilled(tenantId: number): Sql {
  return sql`exists (
      select from usage_histories h
      where h.tenant_id = ${tenantId} and h.subscription_id = s.subscription_id
        and (h.terms[1] ->> 'endDate')::date = s.billed_through
    )`;
}

/** Whether `s` was transferred on the day after the last billed day. */
function isHandedOn({ end_date: end }: LeavingTerm): Sql {
  return sql`(s.billed_through < ${end}::date and exists (
      select from jsonb_array_elements(s.transfers) t
      where (t ->> 'transferDate')::date = s.billed_through + 1
    ))`;
}

/**
 * The first day of the next owner of a subscription `s`, where a Final term ends with it: it is for
 * who had it first.
 */
export function handedOver(tenantId: number, term: EligibleTerm): Sql {
  if (term.term_type !== 'Final') return sql`null::date`;
  return sql`(select w.day from ${finalTransfer(tenantId, term)} w)`;
}

/**
 * The transfer with which a Final term ends: that of the owner whose usage is unbilled, or else of
 * the owner on the first unbilled day. An owner without supply on all days is passed over for the
 * next owner who leaves, and is otherwise billed nothing.
 */
export function finalTransfer(
  tenantId: number,
  term: LeavingTerm,
  start: Sql = sql`${term.start_date}::date`,
): Sql {
  const first = sql`coalesce(s.billed_through + 1, ${start})`;
  const isFormer = isUsageOfFormerOwner(tenantId, term);
  return transferAfter(
    sql`case when ${isFormer} then s.billed_through else ${first} end`,
    sql`case when ${isFormer} then s.billed_through else ${firstActive(first)} end`,
  );
}

/** The states of `s`, each with the day on which the next one begins. */
const statusRuns = sql`(
  select h ->> 'status' as status, (h ->> 'fromDate')::date as from_date,
    lead((h ->> 'fromDate')::date) over (order by (h ->> 'fromDate')::date, number) as next_date
  from jsonb_array_elements(s.status_history) with ordinality as e (h, number)
)`;

/** The first Active day of `s` from a day on, or that day. */
export function firstActive(from: Sql): Sql {
  return sql`coalesce((
    select greatest(r.from_date, ${from})
    from ${statusRuns} r
    where r.status = 'Active'
      and greatest(r.from_date, ${from}) < coalesce(r.next_date, 'infinity')
    order by r.from_date
    limit 1
  ), ${from})`;
}

/** The day since which `s` is not Active on a given day, whatever follows; null if it is Active. */
export function offSince(date: string): Sql {
  const next = sql`${date}::date + 1`;
  return sql`case when jsonb_array_length(s.status_history) > 1 then (
    select nullif(max(least(r.next_date, ${next})), ${next})
    from ${statusRuns} r
    where r.status = 'Active' and r.from_date < least(r.next_date, ${next})
  ) end`;
}

/** The day of the first transfer of `s` after another day. */
export function firstTransfer(after: Sql): Sql {
  return sql`(select w.day from ${transferAfter(after)} w)`;
}

/** The first transfer of `s` after a day, rather after a later one, and who had it until then. */
export function transferAfter(after: Sql, rather: Sql = after): Sql {
  return sql`(
    select (t ->> 'fromPartyId')::bigint as party_id, (t ->> 'fromAccountId')::bigint as account_id,
      (t ->> 'transferDate')::date as day
    from jsonb_array_elements(s.transfers) t
    where s.transfers <> '[]' and (t ->> 'transferDate')::date > ${after}
    order by (t ->> 'transferDate')::date > ${rather} desc, t ->> 'transferDate'
    limit 1
  )`;
}

/**
 * True if the term bills the subscription by meter: one is installed, or a removed one measured on
 * unbilled days.
 */
export function isBilledByMeter(tenantId: number, term: EligibleTerm): Sql {
  return sql`(s.is_metered or exists (
    select from meter_assignments m
    join assignment_registers i on i.tenant_id = ${tenantId}
      and i.assignment_id = m.assignment_id and i.input is not null
    where m.tenant_id = ${tenantId} and m.subscription_id = s.subscription_id
      and m.remove_date > coalesce(s.billed_through, ${term.start_date}::date - 1)
  ))`;
}

/**
 * A regular term bills a period; any other term bills the subscriptions chosen for it. Plans and
 * groups are looked up and not joined: with a condition on one table, the planner need not guess
 * how many rows a join returns, and a workspace without groups never searches them.
 */
function isForTerm(tenantId: number, term: EligibleTerm): Sql {
  if (term.term_type === 'Regular') {
    const ofPlan = sql`${planOn(sql`${term.end_date}::date`)} = any(array(
          select plan_id from plans
          where tenant_id = ${tenantId}
            and coalesce(billing_period_id, ${term.context_period_id}) = ${term.billing_period_id}
        ))`;
    return sql`case when exists (
        select from billing_groups where tenant_id = ${tenantId} and billing_period_id is not null
      ) then coalesce((
          select g.billing_period_id = ${term.billing_period_id}
          from billing_accounts a
          join billing_groups g
            on g.tenant_id = ${tenantId} and g.billing_group_id = a.billing_group_id
          where a.tenant_id = ${tenantId} and a.account_id = ${accountOn(term.end_date)}
        ), ${ofPlan})
        else ${ofPlan} end`;
  }
  return sql`exists (
    select from term_subscriptions o
    where o.tenant_id = ${tenantId} and o.term_id = ${term.term_id}
      and o.subscription_id = s.subscription_id
  )`;
}

/** The billing account of `s` on a day, also if `s` is transferred later. */
function accountOn(date: string): Sql {
  return sql`case when s.transferred_on > ${date}::date
    then (select w.account_id from ${transferAfter(sql`${date}::date`)} w) else s.account_id end`;
}

/** The plan of `s` in force on a day: one that was chosen ahead is the newest before it holds. */
export function planOn(day: Sql): Sql {
  return sql`case when jsonb_array_length(s.plan_history) = 1 then s.plan_id else coalesce((
      select (h ->> 'planId')::bigint from jsonb_array_elements(s.plan_history) h
      where (h ->> 'fromDate')::date <= ${day}
      order by h ->> 'fromDate' desc
      limit 1
    ), s.plan_id) end`;
}

/** Ranges of subscriptions that are billed by meter, each with as many as go into one part. */
export function cutMetered(
  tx: Tx,
  tenantId: number,
  term: EligibleTerm,
  size: number,
): Promise<{ chunks: IdRange[]; total: number }> {
  const metered = sql`
    select s.tenant_id, s.subscription_id as id from subscriptions s
    where ${isEligible(tenantId, term)} and ${isBilledByMeter(tenantId, term)}`;
  return cutIntoRanges(tx, tenantId, metered, size);
}

export type RowSubscription = {
  subscription_id: number;
  subscription_number: string;
  is_in_term: boolean;
  /** The first day whose use the term would bill, YYYY-MM-DD. */
  first_date: string;
};

/**
 * The subscriptions that the rows of an upload name, by number. Where bills are made in advance,
 * use is billed afterwards: that of the term before.
 */
export async function findRowSubscriptions(
  tx: Tx,
  tenantId: number,
  term: EligibleTerm,
  numbers: readonly string[],
): Promise<Map<string, RowSubscription>> {
  const { rows } = await sql<RowSubscription>`
    select s.subscription_id, s.subscription_number, (${isEligible(tenantId, term)}) as is_in_term,
      least(coalesce(s.billed_through + 1, ${term.start_date}::date), (
        select max(e.start_date) from terms e
        join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = e.context_id
          and not c.bills_after_period
        where e.tenant_id = ${tenantId} and e.context_id = ${term.context_id}
          and e.batch_id = ${term.batch_id} and e.status <> 'Cancelled'
          and e.end_date < ${term.start_date}::date
      )) as first_date
    from subscriptions s
    join json_array_elements_text(${JSON.stringify(numbers)}::json) as n (number)
      on n.number = s.subscription_number
    where s.tenant_id = ${tenantId}
  `.execute(tx);
  return new Map(rows.map((row) => [row.subscription_number, row]));
}
