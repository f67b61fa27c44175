// The unbilled rest of a subscription whose owner is leaving, and the terms that can bill it.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { finalTransfer, hasUnbilledUsage, offSince, planOn } from './eligible-store.ts';
import type { TermPlace } from './store.ts';

export type Leaving = {
  subscription_id: number;
  context_id: number;
  context_code: string;
  /** Days from the end of a term until its bills are due. */
  due_date_offset: number;
  minimum_days_to_pay: number;
  is_archived: boolean;
  batch_id: number;
  batch_code: string;
  status: string;
  /** The first unbilled day, YYYY-MM-DD. */
  first_date: string;
  /** The last day of the leaving owner; null if no owner is leaving. */
  last_date: string | null;
  is_left_to_bill: boolean;
  /** Billed in advance up to the last day: what was used until then is not. */
  is_use_left: boolean;
  period_id: number;
  period_unit: 'Day' | 'Week' | 'Month' | 'Year' | 'Once';
  period_count: number;
  anchor_day: number | null;
};

/** Locks the batch: no other call opens a term for it until the transaction ends. */
export async function lockLeaving(
  tx: Tx,
  tenantId: number,
  { number, today }: { number: string; today: Temporal.PlainDate },
): Promise<Leaving | undefined> {
  const first = sql`coalesce(s.billed_through + 1, s.connection_date)`;
  const day = today.toString();
  const context = sql.ref<number>('s.context_id');
  const ending = {
    context_id: context,
    term_type: 'Final',
    start_date: day,
    end_date: day,
  } as const;
  const { rows } = await sql<Leaving>`
    select s.subscription_id, c.context_id, c.code as context_code, c.due_date_offset,
      c.minimum_days_to_pay, c.archived as is_archived, b.batch_id, b.code as batch_code, s.status,
      d.first_date, d.last_date,
      d.last_date is not null
        and is_active_between(s.status_history, d.first_date, d.last_date) as is_left_to_bill,
      ${hasUnbilledUsage(tenantId, ending)} as is_use_left,
      p.period_id, p.unit as period_unit, p.unit_count as period_count, p.anchor_day
    from subscriptions s
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = s.context_id
    join batches b on b.tenant_id = ${tenantId} and b.batch_id = s.batch_id
    left join lateral ${finalTransfer(tenantId, ending, sql`s.connection_date`)} w
      on w.day <= ${today}::date
    cross join lateral (
      select ${first} as first_date, least(w.day, ${offSince(today.toString())}) - 1 as last_date
    ) d
    left join billing_accounts a on a.tenant_id = ${tenantId}
      and a.account_id = coalesce(w.account_id, s.account_id)
    left join billing_groups g on g.tenant_id = ${tenantId}
      and g.billing_group_id = a.billing_group_id
    left join plans n on n.tenant_id = ${tenantId} and n.plan_id = ${planOn(sql`d.last_date`)}
    join billing_periods p on p.tenant_id = ${tenantId} and p.period_id
      = coalesce(g.billing_period_id, n.billing_period_id, c.billing_period_id)
    where s.tenant_id = ${tenantId} and s.subscription_number = ${number}
    for no key update of s, b
  `.execute(tx);
  return rows[0];
}

/** The days of a term, YYYY-MM-DD. */
export type TermDays = { label: string; start_date: string; end_date: string };

/** The regular term of a context, batch and billing period that has the day. */
export async function findRegularOn(
  tx: Tx,
  tenantId: number,
  place: Pick<TermPlace, 'contextId' | 'batchId' | 'billingPeriodId'>,
  day: Temporal.PlainDate,
): Promise<TermDays | undefined> {
  const { rows } = await sql<TermDays>`
    select label, start_date, end_date from terms
    where tenant_id = ${tenantId} and context_id = ${place.contextId}
      and batch_id = ${place.batchId} and billing_period_id = ${place.billingPeriodId}
      and term_type = 'Regular' and status <> 'Cancelled'
      and start_date <= ${day} and end_date >= ${day}
  `.execute(tx);
  return rows[0];
}

/** A Final term of these days that can take further subscriptions and is not due yet. */
export async function findOpenFinal(
  tx: Tx,
  tenantId: number,
  place: TermPlace,
  today: Temporal.PlainDate,
): Promise<{ term_id: number; label: string } | undefined> {
  const { rows } = await sql<{ term_id: number; label: string }>`
    select term_id, label from terms
    where tenant_id = ${tenantId} and context_id = ${place.contextId}
      and batch_id = ${place.batchId} and billing_period_id = ${place.billingPeriodId}
      and term_type = 'Final' and status = 'Open' and stage <> 'Posting'
      and start_date = ${place.startDate} and end_date = ${place.endDate}
      and due_date >= ${today}
    order by term_id
    limit 1
    for no key update
  `.execute(tx);
  return rows[0];
}

/** The due date of a term is this one, or stays if it is later. */
export async function putOffDueDate(
  tx: Tx,
  tenantId: number,
  termId: number,
  dueDate: Temporal.PlainDate,
): Promise<void> {
  await sql`
    update terms set due_date = ${dueDate}
    where tenant_id = ${tenantId} and term_id = ${termId} and due_date < ${dueDate}
  `.execute(tx);
}

/** A label that no term of the batch has: this one, or this one with a number. */
export async function freeLabel(
  tx: Tx,
  tenantId: number,
  place: Pick<TermPlace, 'contextId' | 'batchId'>,
  label: string,
): Promise<string> {
  const { rows } = await sql<{ label: string }>`
    select l.label from generate_series(1, 10000) as n (number)
    cross join lateral (
      select case when n.number = 1 then ${label}::text
        else ${label}::text || ' (' || n.number || ')' end as label
    ) l
    where not exists (
      select from terms t
      where t.tenant_id = ${tenantId} and t.context_id = ${place.contextId}
        and t.batch_id = ${place.batchId} and t.label = l.label and t.status <> 'Cancelled'
    )
    order by n.number
    limit 1
  `.execute(tx);
  return rows[0]?.label ?? label;
}
