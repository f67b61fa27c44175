// Rows of reports. Amounts are minor units as text, because sums may be more than a number holds.
import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import { openOfBill } from '../ledger/open-amounts-store.ts';

export type ReportFilter = {
  from: Temporal.PlainDate | null;
  to: Temporal.PlainDate;
  serviceCode: string | null;
};

export type ReportRow = { key: number } & Record<string, string | number | null>;
export type ReportWindow = { after: number; offset: number; limit: number };

/** Of a day column: within the days of the report. */
function within(column: string, { from, to }: ReportFilter): Sql {
  const day = sql.raw(column);
  const begin = from ? sql`${day} >= ${from.toString()}::date` : sql`true`;
  return sql`${begin} and ${day} <= ${to.toString()}::date`;
}

/** Of a context `c`. */
export function isOfService({ serviceCode }: ReportFilter): Sql {
  return serviceCode === null ? sql`true` : sql`c.code = ${serviceCode}`;
}

/** Narrows rows with a subscription to those of the service, if one was chosen. */
export function joinService(tenantId: number, filter: ReportFilter, subscriptionId: string): Sql {
  if (filter.serviceCode === null) return sql``;
  return sql`join subscriptions s on s.tenant_id = ${tenantId}
      and s.subscription_id = ${sql.raw(subscriptionId)}
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = s.context_id
      and ${isOfService(filter)}`;
}

/** By day and method: what was received, and what of it was taken back. */
export async function listCollection(
  tx: Tx,
  tenantId: number,
  filter: ReportFilter,
): Promise<ReportRow[]> {
  const { rows } = await sql<ReportRow>`
    select row_number() over (order by p.value_date, p.payment_method) as key,
      to_char(p.value_date, 'DD/MM/YYYY') as date, p.payment_method as "paymentMethod",
      count(*) as payments, sum(p.amount)::text as amount,
      coalesce(sum(p.amount) filter (where r.payment_id is not null), 0)::text as reversed,
      coalesce(sum(p.amount) filter (where r.payment_id is null), 0)::text as net
    from payments p
    left join payment_reversals r on r.tenant_id = ${tenantId} and r.payment_id = p.payment_id
    ${joinService(tenantId, filter, 'p.subscription_id')}
    where p.tenant_id = ${tenantId} and p.direction = 'In' and ${within('p.value_date', filter)}
    group by p.value_date, p.payment_method
    order by p.value_date, p.payment_method
  `.execute(tx);
  return rows;
}

/** Lines of the ledger that name a component, by account and component. */
export async function listByComponent(
  tx: Tx,
  tenantId: number,
  filter: ReportFilter,
  kinds: readonly string[],
): Promise<ReportRow[]> {
  const ofService =
    filter.serviceCode === null
      ? sql``
      : sql`join terms t on t.tenant_id = ${tenantId} and t.term_id = j.term_id
        join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = t.context_id
          and ${isOfService(filter)}`;
  const { rows } = await sql<ReportRow>`
    select row_number() over (order by a.code, l.component) as key, a.code as "accountCode",
      a.name as "accountName", l.component,
      coalesce(-sum(l.amount) filter (where l.amount < 0), 0)::text as billed,
      coalesce(sum(l.amount) filter (where l.amount > 0), 0)::text as credited,
      (-sum(l.amount))::text as net
    from journals j
    join journal_lines l on l.tenant_id = ${tenantId} and l.journal_id = j.journal_id
      and l.component is not null
    join ledger_accounts a on a.tenant_id = ${tenantId}
      and a.ledger_account_id = l.ledger_account_id and a.kind = any(${kinds}::text[])
    ${ofService}
    where j.tenant_id = ${tenantId} and ${within('j.posting_date', filter)}
    group by a.code, a.name, l.component
    order by a.code, l.component
  `.execute(tx);
  return rows;
}

/** By pricing context and input: what bills of terms that begin on these days have counted. */
export async function listConsumption(
  tx: Tx,
  tenantId: number,
  filter: ReportFilter,
): Promise<ReportRow[]> {
  const { rows } = await sql<ReportRow>`
    select row_number() over (order by c.code, u.input) as key, c.code as "serviceCode",
      u.input, count(*) as bills, trim_scale(sum((u.facts ->> 'quantity')::numeric))::text
        as quantity,
      trim_scale(coalesce(sum((u.facts ->> 'quantity')::numeric)
        filter (where u.facts ->> 'type' = 'Estimated'), 0))::text as estimated
    from terms t
    join bills b on b.tenant_id = ${tenantId} and b.term_id = t.term_id
      and b.status in ('Posted', 'Published')
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = b.context_id
      and ${isOfService(filter)}
    cross join lateral json_each(b.usage) as u (input, facts)
    where t.tenant_id = ${tenantId} and ${within('t.start_date', filter)}
    group by c.code, u.input
    order by c.code, u.input
  `.execute(tx);
  return rows;
}

/** Registers `r` of active subscriptions `s` without a reading on these days. */
function unread(tenantId: number, filter: ReportFilter): Sql {
  return sql`from assignment_registers r
    join meter_assignments a on a.tenant_id = ${tenantId} and a.assignment_id = r.assignment_id
      and a.remove_date is null
    join subscriptions s on s.tenant_id = ${tenantId}
      and s.subscription_id = r.subscription_id and s.status = 'Active'
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = s.context_id
      and ${isOfService(filter)}
    where r.tenant_id = ${tenantId} and r.input is not null and not exists (
      select from readings e
      where e.tenant_id = ${tenantId} and e.assignment_id = r.assignment_id
        and e.position = r.position and e.status <> 'Rejected'
        and ${within('e.reading_date', filter)}
    )`;
}

/** The key of a register: positions of an installation are below a thousand. */
const registerKey = sql.raw('(r.assignment_id * 1000 + r.position)');

/** By installation and register, with the last reading of each. */
export async function listUnread(
  tx: Tx,
  tenantId: number,
  filter: ReportFilter,
  { after, offset, limit }: ReportWindow,
): Promise<ReportRow[]> {
  const { rows } = await sql<ReportRow>`
    select u.key, u."connectionNumber", u."serviceCode", o.name as "partyName",
      m.number as "meterNumber", u.input,
      to_char(l.reading_date, 'DD/MM/YYYY') as "lastReadingDate", l.value::text as "lastReading"
    from (
      select ${registerKey} as key, r.tenant_id, r.assignment_id, r.position, r.input, a.meter_id,
        s.party_id, s.subscription_number as "connectionNumber", c.code as "serviceCode"
      ${unread(tenantId, filter)} and r.assignment_id >= ${after}::bigint / 1000
        and ${registerKey} > ${after}
      order by r.assignment_id, r.position
      limit ${limit} offset ${offset}
    ) u
    join meters m on m.tenant_id = ${tenantId} and m.meter_id = u.meter_id
    join parties o on o.tenant_id = ${tenantId} and o.party_id = u.party_id
    left join lateral (
      select e.reading_date, e.value from readings e
      where e.tenant_id = ${tenantId} and e.assignment_id = u.assignment_id
        and e.position = u.position and e.status <> 'Rejected'
      order by e.reading_date desc
      limit 1
    ) l on true
    where u.tenant_id = ${tenantId}
    order by u.key
  `.execute(tx);
  return rows;
}

export async function countUnread(
  tx: Tx,
  tenantId: number,
  filter: ReportFilter,
): Promise<ReportRow> {
  const { rows } = await sql<ReportRow>`
    select count(*) as key ${unread(tenantId, filter)} and s.tenant_id = ${tenantId}
  `.execute(tx);
  return rows[0] ?? { key: 0 };
}

/** Bills that were posted on these days, also those that were cancelled since, by id. */
export async function listRegister(
  tx: Tx,
  tenantId: number,
  filter: ReportFilter,
  window: ReportWindow,
): Promise<ReportRow[]> {
  const { rows } = await sql<ReportRow>`
    select b.bill_id as key, b.bill_number as "billNumber",
      to_char(b.issue_date, 'DD/MM/YYYY') as "issueDate",
      to_char(b.due_date, 'DD/MM/YYYY') as "dueDate", c.code as "serviceCode", b.status,
      b.payment_status as "paymentStatus", p.party_number as "partyNumber",
      p.name as "partyName", s.subscription_number as "connectionNumber",
      b.current_charges::text as "currentCharges", b.tax_amount::text as "taxAmount",
      b.bill_amount::text as "billAmount", b.paid_amount::text as "paidAmount",
      case when b.status = 'Cancelled' then '0' else (${openOfBill})::text end
        as "outstandingAmount"
    from bills b
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = b.context_id
      and ${isOfService(filter)}
    join terms t on t.tenant_id = ${tenantId} and t.term_id = b.term_id
    join parties p on p.tenant_id = ${tenantId} and p.party_id = b.party_id
    left join subscriptions s on s.tenant_id = ${tenantId}
      and s.subscription_id = b.subscription_id
    where b.tenant_id = ${tenantId} and b.bill_id > ${window.after}
      and b.status in ('Posted', 'Published', 'Cancelled') and b.bill_number is not null
      and ${within('t.start_date', filter)}
    order by b.bill_id
    limit ${window.limit} offset ${window.offset}
  `.execute(tx);
  return rows;
}

export async function findRegisterTotals(
  tx: Tx,
  tenantId: number,
  filter: ReportFilter,
): Promise<ReportRow> {
  const { rows } = await sql<ReportRow>`
    select count(*) as key, coalesce(sum(b.current_charges), 0)::text as "currentCharges",
      coalesce(sum(b.tax_amount), 0)::text as "taxAmount",
      coalesce(sum(b.bill_amount), 0)::text as "billAmount",
      coalesce(sum(b.paid_amount), 0)::text as "paidAmount",
      coalesce(sum(${openOfBill}) filter (where b.status <> 'Cancelled'), 0)::text
        as "outstandingAmount"
    from bills b
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = b.context_id
      and ${isOfService(filter)}
    join terms t on t.tenant_id = ${tenantId} and t.term_id = b.term_id
    where b.tenant_id = ${tenantId} and b.status in ('Posted', 'Published', 'Cancelled')
      and b.bill_number is not null and ${within('t.start_date', filter)}
  `.execute(tx);
  return rows[0] ?? { key: 0 };
}
