// What bills are made from, read for a slice of a run at once: by ids, which is a fraction of the
// cost of looking for each subscription's own.

import type { Tx } from '../../../base/db/pool.ts';
import { type Sql, sql } from '../../../base/db/sql.ts';
import type { Transfer } from '../../subscriptions/subscription.ts';
import { isEligible, isUsageOfFormerOwner } from '../../terms/eligible-store.ts';
import type { Term } from '../../terms/store.ts';
import { hasBilled } from '../../terms/taken-readings-store.ts';
import {
  type FormerOwner,
  formerOwner,
  isInRange,
  type UnitRange,
  unitColumn,
} from './billed-units-store.ts';

/** How a subscription came to its next owner. */
type Handover = Pick<Transfer, 'transferDate' | 'fromPartyId' | 'toPartyId' | 'balanceHandling'>;

/** A subscription that the term bills. */
export type BilledRow = {
  unit_id: number;
  subscription_id: number;
  subscription_number: string;
  reference_number: string | null;
  /** The billing account of the billed owner. */
  account_id: number;
  party_id: number;
  /** Null where it is the party's. */
  address: object | null;
  plan_id: number;
  connection_date: string;
  billed_through: string | null;
  ts: number;
  plan_history: { planId: number; fromDate: string }[];
  /** Null where it was Active from the connection date on and still is. */
  status_history: { status: string; fromDate: string }[] | null;
  connection_inputs: { name: string; value: string }[] | null;
  quantities: { name: string; value: string; fromDate?: string }[] | null;
  variants: { name?: string; value?: unknown; fromDate?: string; toDate?: string }[] | null;
  add_ons: { planId: number; quantity?: string; fromDate?: string; toDate?: string }[] | null;
  transfers: Handover[] | null;
  /** The first day of the next owner, where the bill ends with the one before. */
  handed_over: string | null;
  /** Whether who had it before is still to be billed for what he used. */
  is_use_of_former: boolean;
};

export async function listBilled(
  tx: Tx,
  tenantId: number,
  term: Term,
  range: UnitRange,
): Promise<BilledRow[]> {
  const isFinal = term.term_type === 'Final';
  const { rows } = await sql<BilledRow & { former: FormerOwner | null }>`
    select ${unitColumn(tenantId, term)} as unit_id, s.subscription_id, s.subscription_number,
      s.reference_number, s.account_id, s.party_id, s.address, s.plan_id, s.connection_date,
      s.billed_through, s.ts, s.plan_history,
      case when s.status <> 'Active' or jsonb_array_length(s.status_history) > 1
        then s.status_history end as status_history,
      ${filled('connection_inputs')}, ${filled('quantities')}, ${filled('variants')},
      ${filled('add_ons')}, ${filled('transfers')}, null as handed_over,
      ${isFinal ? sql`false` : isUsageOfFormerOwner(tenantId, term)} as is_use_of_former,
      ${formerOwner(tenantId, term)} as former
    from subscriptions s
    where s.tenant_id = ${tenantId} and ${isEligible(tenantId, term)}
      and ${isInRange(tenantId, term, range)}
    order by unit_id, s.subscription_id
  `.execute(tx);
  for (const row of rows) if (row.former !== null) handBack(row, row.former, term.end_date);
  return rows;
}

/** Null where it holds nothing. Its length is at hand; a comparison costs many times that. */
function filled(column: string): Sql {
  const list = sql.raw(`s.${column}`);
  return sql`case when jsonb_array_length(${list}) > 0 then ${list} end as ${sql.raw(column)}`;
}

function handBack(row: BilledRow, former: FormerOwner, endDate: string): void {
  row.account_id = former.account_id ?? row.account_id;
  row.party_id = former.party_id;
  if (former.day <= endDate) row.handed_over = former.day;
}

export type MeterRow = {
  subscription_id: number;
  assignment_id: number;
  position: number;
  number: number;
  mf: number;
  input: string;
  register: string;
  digits: number;
  kind: 'Cumulative' | 'Interval' | 'Consumptive' | 'Demand';
  install_date: string;
  remove_date: string | null;
  previous_date: string | null;
  previous_value: string | null;
  previous_type: string | null;
  /** Null where no reading was locked for the term. */
  reading_date: string | null;
  value: string | null;
  reading_type: string | null;
  rollover: boolean | null;
  /** Whether another term may have billed it since: then it begins from a later reading. */
  is_overtaken: boolean;
};

/**
 * Registers that measure for the subscriptions in the term, with the readings locked for it. Each
 * table is read by ids and hashed.
 */
export async function listMeters(
  tx: Tx,
  tenantId: number,
  term: Term,
  subscriptionIds: readonly number[],
): Promise<MeterRow[]> {
  const ids = sql`any(${subscriptionIds}::bigint[])`;
  const { rows } = await sql<MeterRow>`
    select r.subscription_id, r.assignment_id, r.position, m.number, n.mf, r.input, k.register,
      k.digits, k.kind, n.install_date, n.remove_date, t.previous_date,
      trim_scale(t.previous_value) as previous_value, t.previous_type, t.reading_date,
      case when t.is_stand_in and k.kind <> 'Cumulative' then 0 else trim_scale(t.value) end
        as value, t.reading_type, t.rollover,
      coalesce(t.locked_at < ${term.others_read_at}::timestamptz, false) as is_overtaken
    from assignment_registers r
    join meter_assignments n on n.tenant_id = ${tenantId} and n.subscription_id = ${ids}
      and n.assignment_id = r.assignment_id
    join meters m on m.tenant_id = ${tenantId} and m.meter_id = n.meter_id
      and m.meter_id = any(array(
        select meter_id from meter_assignments
        where tenant_id = ${tenantId} and subscription_id = ${ids}
      ))
    join meter_registers k on k.tenant_id = ${tenantId} and k.meter_type_id = m.meter_type_id
      and k.position = r.position
    left join term_readings t on t.tenant_id = ${tenantId} and t.term_id = ${term.term_id}
      and t.subscription_id = ${ids} and t.subscription_id = r.subscription_id
      and t.assignment_id = r.assignment_id and t.position = r.position
    where r.tenant_id = ${tenantId} and r.subscription_id = ${ids} and r.input is not null
      and (t.reading_id is not null or n.install_date <= ${term.end_date}::date)
    order by r.subscription_id, r.assignment_id, r.position
  `.execute(tx);
  const ended = rows.filter((row) => row.reading_date === null && row.remove_date !== null);
  if (ended.length === 0) return rows;
  const billed = await listBilledToTheEnd(tx, tenantId, ended);
  return rows.filter((row) => row.reading_date !== null || !billed.has(registerKey(row)));
}

function registerKey({ assignment_id: id, position }: RegisterKey): string {
  return `${id}/${position}`;
}

type RegisterKey = Pick<MeterRow, 'assignment_id' | 'position'>;

/** Removed meters whose last reading the previous term may have billed already. */
async function listBilledToTheEnd(
  tx: Tx,
  tenantId: number,
  ended: readonly MeterRow[],
): Promise<Set<string>> {
  const { rows } = await sql<RegisterKey>`
    select r.assignment_id, r.position
    from unnest(
      ${ended.map((row) => row.subscription_id)}::bigint[],
      ${ended.map((row) => row.assignment_id)}::bigint[],
      ${ended.map((row) => row.position)}::smallint[],
      ${ended.map((row) => row.remove_date)}::date[]
    ) as r (subscription_id, assignment_id, position, remove_date)
    where exists (
      select from term_readings t
      where t.tenant_id = ${tenantId} and t.assignment_id = r.assignment_id
        and t.position = r.position and t.reading_date >= r.remove_date
        and ${hasBilled(tenantId, sql`r.subscription_id`)}
      offset 0
    )
  `.execute(tx);
  return new Set(rows.map(registerKey));
}

export type ManualRow = {
  subscription_id: number;
  component: string;
  value: string;
  /** Only for days before the term: it was uploaded for terms that were left out. */
  is_left_out?: boolean;
};

export async function listManualValues(
  tx: Tx,
  tenantId: number,
  termId: number,
  subscriptionIds: readonly number[],
): Promise<ManualRow[]> {
  const { rows } = await sql<ManualRow>`
    select subscription_id, component, trim_scale(value)::text as value
    from manual_values
    where tenant_id = ${tenantId} and term_id = ${termId}
      and subscription_id = any(${subscriptionIds}::bigint[])
    order by subscription_id, component
  `.execute(tx);
  return rows;
}

export type UsageRow = {
  subscription_id: number;
  input: string;
  /** Null for the whole term. */
  usage_date: string | null;
  quantity: string;
  /** Days of the terms it was uploaded for, where those may be others than the one billed. */
  from_date?: string;
  to_date?: string;
};

export async function listUploadedUsage(
  tx: Tx,
  tenantId: number,
  termId: number,
  subscriptionIds: readonly number[],
): Promise<UsageRow[]> {
  const { rows } = await sql<UsageRow>`
    select subscription_id, input, nullif(usage_date, 'infinity') as usage_date,
      trim_scale(quantity)::text as quantity
    from term_usage
    where tenant_id = ${tenantId} and term_id = ${termId}
      and subscription_id = any(${subscriptionIds}::bigint[])
    order by subscription_id, input, term_usage.usage_date
  `.execute(tx);
  return rows;
}

/**
 * Usage that the previous term took for its own days: billing in advance bills it now. The Final
 * bill of an owner who left inside its term has already billed it.
 */
export async function listUsageBefore(
  tx: Tx,
  tenantId: number,
  before: readonly { subscriptionId: number; termId: number }[],
): Promise<UsageRow[]> {
  if (before.length === 0) return [];
  const { rows } = await sql<UsageRow>`
    select u.subscription_id, u.input, u.usage_date, trim_scale(u.quantity)::text as quantity
    from unnest(
      ${before.map((one) => one.subscriptionId)}::bigint[],
      ${before.map((one) => one.termId)}::bigint[]
    ) as w (subscription_id, term_id)
    join terms t on t.tenant_id = ${tenantId} and t.term_id = w.term_id
    join subscriptions s on s.tenant_id = ${tenantId} and s.subscription_id = w.subscription_id
    join term_usage u on u.tenant_id = ${tenantId} and u.term_id = w.term_id
      and u.subscription_id = w.subscription_id
      and u.usage_date between t.start_date and t.end_date
      and not (t.term_type = 'Final' and s.billed_through < t.end_date
        and u.usage_date <= s.billed_through)
    order by u.subscription_id, u.input, u.usage_date
  `.execute(tx);
  return rows;
}

export type ReadingRow = {
  assignment_id: number;
  position: number;
  reading_date: string;
  value: string;
  reading_type: string;
  rollover: boolean;
  /** Estimated by a term: it does not say what was used until then. */
  is_stand_in: boolean;
  status: 'Accepted' | 'Review';
};

/**
 * Further readings of registers from a day on, as far as a bill may look for one, in the order in
 * which they were taken: one without a time is the last of its day, as it is where a term takes it.
 */
export async function listFurtherReadings(
  tx: Tx,
  tenantId: number,
  registers: readonly { assignmentId: number; position: number; from: string; to: string }[],
): Promise<ReadingRow[]> {
  if (registers.length === 0) return [];
  const { rows } = await sql<ReadingRow>`
    select r.assignment_id, r.position, r.reading_date, trim_scale(r.value)::text as value,
      r.reading_type, r.rollover, r.status,
      r.reading_type = 'Estimated' and coalesce(r.source like 'term %', false) as is_stand_in
    from unnest(
      ${registers.map((one) => one.assignmentId)}::bigint[],
      ${registers.map((one) => one.position)}::smallint[],
      ${registers.map((one) => one.from)}::date[],
      ${registers.map((one) => one.to)}::date[]
    ) as w (assignment_id, position, from_date, to_date)
    join readings r on r.tenant_id = ${tenantId} and r.assignment_id = w.assignment_id
      and r.position = w.position and r.reading_date between w.from_date and w.to_date
      and r.status in ('Accepted', 'Review')
    order by r.assignment_id, r.position, r.reading_date,
      case when r.reading_type = 'Installation' then 0
        when r.reading_type in ('Removal', 'Final') then 2 else 1 end,
      r.reading_time nulls last, r.reading_id
  `.execute(tx);
  return rows;
}
