// Changes of subscriptions that take effect with a new day, for all of a workspace at once.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';

export type StatusChange = { subscription_number: string; before: string; after: string };

/** Takes each subscription whose day has come one step further in its history of states. */
export async function takeNextSteps(
  tx: Tx,
  tenantId: number,
  day: Temporal.PlainDate,
  stamp: Stamp,
): Promise<StatusChange[]> {
  const { rows } = await sql<StatusChange>`
    update subscriptions s
    set status = due.status, next_change_date = due.next_change_date,
      disconnection_kind = due.disconnection_kind,
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(s.ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    from (
      select d.subscription_id, d.status as before, step.item ->> 'status' as status,
        case when step.item ->> 'status' = 'Disconnected'
          then coalesce(step.item ->> 'kind', 'Temporary') end as disconnection_kind,
        (d.status_history -> step.place::integer ->> 'fromDate')::date as next_change_date
      from subscriptions d
      cross join lateral (
        -- Of several that begin on the day, the first that is not taken yet.
        select h.item, h.place
        from jsonb_array_elements(d.status_history) with ordinality as h (item, place)
        where (h.item ->> 'fromDate')::date >= d.next_change_date
        order by h.place
        limit 1
      ) step
      where d.tenant_id = ${tenantId} and d.next_change_date <= ${day}
      order by d.subscription_id
      for no key update of d
    ) due
    where s.tenant_id = ${tenantId} and s.subscription_id = due.subscription_id
    returning s.subscription_number, due.before, s.status as after
  `.execute(tx);
  return rows;
}

/**
 * Activates subscriptions that waited for papers or a deposit and now have them, unless their party
 * is archived.
 */
export async function serveReady(
  tx: Tx,
  tenantId: number,
  day: Temporal.PlainDate,
  stamp: Stamp,
): Promise<StatusChange[]> {
  const date = day.toString();
  const { rows } = await sql<StatusChange>`
    update subscriptions s
    set status = 'Active', connection_date = ${day},
      billed_through = ${day.subtract({ days: 1 })},
      status_history = s.status_history
        || jsonb_build_array(jsonb_build_object('status', 'Active', 'fromDate', ${date}::text)),
      plan_history = jsonb_set(s.plan_history, '{0,fromDate}', to_jsonb(${date}::text)),
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(s.ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    from (
      select w.subscription_id
      from subscriptions w
      join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = w.context_id
      join pricing_context_versions v
        on v.tenant_id = ${tenantId} and v.context_id = c.context_id and v.version = c.version
      left join subscription_balances b
        on b.tenant_id = ${tenantId} and b.subscription_id = w.subscription_id
        and b.party_id = w.party_id
      join parties p on p.tenant_id = ${tenantId} and p.party_id = w.party_id and not p.archived
      where w.tenant_id = ${tenantId} and w.status = 'Pending' and w.connection_date <= ${day}
        and w.status_history -> -1 ->> 'kind' in ('Documents', 'Deposit')
        and coalesce(c.required_documents, '[]') <@ w.documents
        and (coalesce(v.definition ->> 'requireDeposit', '0') <> '1'
          or coalesce(b.receivable, 0) <= 0)
      order by w.subscription_id
      for no key update of w
    ) ready
    where s.tenant_id = ${tenantId} and s.subscription_id = ready.subscription_id
    returning s.subscription_number, 'Pending' as before, s.status as after
  `.execute(tx);
  return rows;
}

/** Closes those that were cut off for good, once the last day is billed and all is settled. */
export async function closeSettled(
  tx: Tx,
  tenantId: number,
  day: Temporal.PlainDate,
  stamp: Stamp,
): Promise<StatusChange[]> {
  const step = { status: 'Closed', fromDate: day.toString(), reason: 'Final bill settled' };
  const { rows } = await sql<{ subscription_id: number; subscription_number: string }>`
    update subscriptions s
    set status = 'Closed', disconnection_kind = null,
      status_history = s.status_history || jsonb_build_array(${JSON.stringify(step)}::jsonb),
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(s.ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    from (
      select w.subscription_id
      from subscriptions w
      left join subscription_balances b
        on b.tenant_id = ${tenantId} and b.subscription_id = w.subscription_id
        and b.party_id = w.party_id
      where w.tenant_id = ${tenantId} and w.status = 'Disconnected'
        and w.disconnection_kind = 'Permanent' and w.next_change_date is null
        and w.billed_through >= (w.status_history -> -1 ->> 'fromDate')::date - 1
        and w.billed_through >= w.connection_date
        and coalesce(b.receivable, 0) = 0 and coalesce(b.deposit, 0) = 0
        and coalesce(b.disputed, 0) = 0
      order by w.subscription_id
      for no key update of w
    ) settled
    where s.tenant_id = ${tenantId} and s.subscription_id = settled.subscription_id
    returning s.subscription_id, s.subscription_number
  `.execute(tx);
  const ids = rows.map((row) => row.subscription_id);
  await sql`
    delete from subscription_unique_inputs
    where tenant_id = ${tenantId} and subscription_id = any(${ids}::bigint[])
  `.execute(tx);
  return rows.map(({ subscription_number }) => ({
    subscription_number,
    before: 'Disconnected',
    after: 'Closed',
  }));
}
