// Posting, a part of a term at a time: each statement does one thing to all bills of the part.

import type { Tx } from '../../../base/db/pool.ts';
import { type Sql, sql } from '../../../base/db/sql.ts';
import type { Stamp } from '../../../base/stamp.ts';
import { planOn } from '../../terms/eligible-store.ts';
import { withContents } from '../contents-store.ts';

/** Bills that are ready and whose ids lie in one range. */
export type DraftBucket = {
  firstId: number;
  lastId: number;
  count: number;
  subscriptions: number;
};

/** The drafts of a term, counted by ranges of ids. Only the ranges are sorted. */
export async function listDraftBuckets(
  tx: Tx,
  tenantId: number,
  termId: number,
  ids: number,
): Promise<DraftBucket[]> {
  const { rows } = await sql<DraftBucket>`
    select min(b.bill_id) as "firstId", max(b.bill_id) as "lastId", count(*) as count,
      sum(case when b.subscription_id is not null then 1 else (
        select count(*) from bill_parts p
        where p.tenant_id = ${tenantId} and p.bill_id = b.bill_id
      ) end)::bigint as subscriptions
    from bills b
    where b.tenant_id = ${tenantId} and b.term_id = ${termId} and b.status = 'Draft'
    group by (b.bill_id - 1) / ${ids}
    order by 1
  `.execute(tx);
  return rows;
}

/** A subscription of a draft, and how it was when the bill was made. */
export type DraftSubscription = {
  bill_id: number;
  subscription_id: number;
  billed_to: string | null;
  previously_billed_to: string | null;
  unit_ts: string;
};

/** What a draft books. */
export type DraftCharges = {
  bill_id: number;
  party_id: number;
  /** {"type component": amount} */
  charges: Record<string, number>;
  rounding_adjustment: number;
};

type DraftRow = Omit<DraftSubscription, 'subscription_id'> &
  DraftCharges & { subscription_id: number | null };

/** The drafts of a part, in the order in which they get their numbers, and their subscriptions. */
export async function listDrafts(
  tx: Tx,
  tenantId: number,
  termId: number,
  range: { firstId: number; lastId: number },
): Promise<{ drafts: DraftCharges[]; parts: DraftSubscription[] }> {
  // Written so that no index but that of the ids can be thought of.
  const { rows } = await sql<DraftRow>`
    select bill_id, subscription_id, billed_to, previously_billed_to, unit_ts::text as unit_ts,
      party_id, charges, rounding_adjustment
    from bills
    where tenant_id = ${tenantId} and bill_id between ${range.firstId} and ${range.lastId}
      and term_id is not distinct from ${termId} and status = 'Draft'
    order by bill_id
  `.execute(tx);
  const single = rows.filter(
    (row): row is DraftRow & DraftSubscription => row.subscription_id !== null,
  );
  if (single.length === rows.length) return { drafts: rows, parts: single };
  const ids = rows.map((row) => row.bill_id);
  const { rows: several } = await sql<DraftSubscription>`
    select bill_id, subscription_id, billed_to, previously_billed_to, unit_ts::text as unit_ts
    from bill_parts
    where tenant_id = ${tenantId} and bill_id = any(${ids}::bigint[])
  `.execute(tx);
  return { drafts: rows, parts: [...single, ...several] };
}

/** The subscriptions of bills, whether a bill has one or several. */
function partsOf(tenantId: number, billIds: readonly number[]): Sql {
  return sql`
    select tenant_id, bill_id, subscription_id, bill_amount as amount, arrears, days, billed_to,
      previously_billed_to, unit_ts
    from bills
    where tenant_id = ${tenantId} and bill_id = any(${billIds}::bigint[])
      and subscription_id is not null
    union all
    select tenant_id, bill_id, subscription_id, amount, arrears, days, billed_to,
      previously_billed_to,
      unit_ts
    from bill_parts
    where tenant_id = ${tenantId} and bill_id = any(${billIds}::bigint[])`;
}

/**
 * Moves the last billed day of every subscription, and returns the bills whose subscription changed
 * after the bill was generated: such a bill must not be posted. A bill without days of its own
 * still changes the subscription, so that it is posted once. Data of a subscription is found by its
 * position in the arrays: a join could be planned the wrong way round.
 */
export async function advanceSubscriptions(
  tx: Tx,
  tenantId: number,
  parts: readonly DraftSubscription[],
): Promise<number[]> {
  const ahead = parts.filter(({ billed_to: to, previously_billed_to: through }) => {
    return to !== null && (through === null || to >= through);
  });
  ahead.sort((a, b) => a.subscription_id - b.subscription_id);
  const ids = ahead.map((part) => part.subscription_id);
  const isForNoDay = ahead.some(
    ({ billed_to: day, previously_billed_to: before }) => day === before,
  );
  const billedTo = sql`(${dates(ahead.map((part) => part.billed_to))}::date[])[${placeOf(ids)}]`;
  const to = sql`coalesce(${billedTo}, null)`;
  const changed = sql`, ts = case when s.billed_through = ${to} then s.ts + 1 else s.ts end`;
  const { rows } = await sql<{ subscription_id: number }>`
    update subscriptions s
    set billed_through = ${to} ${isForNoDay ? changed : sql``}
    where s.tenant_id = ${tenantId} and s.subscription_id = any(${ids}::bigint[])
      and s.ts = (${`{${ahead.map((part) => part.unit_ts)}}`}::bigint[])[${placeOf(ids)}]
      and coalesce(s.billed_through, '-infinity')
        = (${dates(ahead.map((part) => part.previously_billed_to))}::date[])[${placeOf(ids)}]
    returning s.subscription_id
  `.execute(tx);
  const moved = new Set(rows.map((row) => row.subscription_id));
  const left = parts.filter((part) => !moved.has(part.subscription_id));
  const stale = new Set(left.map((part) => part.bill_id));
  const undone = ahead.filter((part) => stale.has(part.bill_id) && moved.has(part.subscription_id));
  if (undone.length > 0) await takeBackSubscriptions(tx, tenantId, undone);
  return [...stale];
}

function placeOf(ids: readonly number[]): Sql {
  return sql`width_bucket(s.subscription_id, ${ids}::bigint[])`;
}

/** Without nulls, so that an element is found by its number and not by walking. */
function dates(days: readonly (string | null)[]): string {
  return `{${days.map((day) => day ?? '-infinity')}}`;
}

/**
 * The other subscriptions of bills that are not posted after all: those that were moved just now,
 * and none that another term has moved to the same day.
 */
async function takeBackSubscriptions(
  tx: Tx,
  tenantId: number,
  moved: readonly DraftSubscription[],
): Promise<void> {
  await sql`
    update subscriptions s set billed_through = nullif(n.previously_billed_to, '-infinity')
    from unnest(
      ${moved.map((part) => part.subscription_id)}::bigint[],
      ${dates(moved.map((part) => part.previously_billed_to))}::date[]
    ) as n (subscription_id, previously_billed_to)
    where s.tenant_id = ${tenantId} and s.subscription_id = n.subscription_id
  `.execute(tx);
}

/**
 * Puts bills on hold whose subscription changed while the term was posted. Generating them again
 * releases them without an operator; their numbers are not used again.
 */
export async function holdStaleBills(
  tx: Tx,
  tenantId: number,
  retired: Retired,
  reason: string,
  stamp: Stamp,
): Promise<void> {
  const ids = retired.bills.map((one) => one.billId);
  await sql`
    update bills
    set status = 'Hold', is_held = false, hold_reason = ${reason},
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId} and bill_id = any(${ids}::bigint[])
  `.execute(tx);
  await insertRetired(tx, tenantId, retired, reason, stamp);
}

/** Numbers of drafts that will not be posted: they were set aside for them and never given. */
export async function insertRetired(
  tx: Tx,
  tenantId: number,
  { termId, seriesId, bills }: Retired,
  reason: string,
  stamp: Stamp,
): Promise<void> {
  await sql`
    insert into bill_numbers (tenant_id, bill_number, bill_id, term_id, series_id, series_number,
      retired_reason, retired_at, retired_by)
    select own.tenant_id, n.number, n.bill_id, ${termId}, ${seriesId}, n.series_number, ${reason},
      ${stamp.at}, ${stamp.by}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join unnest(
      ${bills.map((one) => one.billId)}::bigint[], ${bills.map((one) => one.number)}::text[],
      ${bills.map((one) => one.seriesNumber)}::bigint[]
    ) as n (bill_id, number, series_number)
  `.execute(tx);
}

/** Whether a number that was given, as long as these, is one of the two or lies between. */
export async function hasNumbersBetween(
  tx: Tx,
  tenantId: number,
  first: string,
  last: string,
): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from bill_numbers
      where tenant_id = ${tenantId} and bill_number between ${first} and ${last}
        and length(bill_number) = length(${first}::text)
    ) as found
  `.execute(tx);
  return rows[0]?.found === true;
}

/** The first of the numbers that was given. */
export async function findGivenNumber(
  tx: Tx,
  tenantId: number,
  numbers: readonly string[],
): Promise<string | undefined> {
  const { rows } = await sql<{ bill_number: string }>`
    select bill_number from bill_numbers
    where tenant_id = ${tenantId} and bill_number = any(${numbers}::text[])
    order by bill_number
    limit 1
  `.execute(tx);
  return rows[0]?.bill_number;
}

export type Numbered = { billId: number; seriesNumber: number; number: string };

/** Drafts that will not be posted, with the numbers that were set aside for them. */
export type Retired = { termId: number; seriesId: number; bills: readonly Numbered[] };

export type ShareRow = { bill_id: number; subscription_id: number; amount: number };

/** What is owed on each bill, by subscription. */
export async function listShares(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<ShareRow[]> {
  const { rows } = await sql<ShareRow>`
    select bill_id, subscription_id, amount from (${partsOf(tenantId, billIds)}) p
    where p.tenant_id = ${tenantId}
    order by bill_id, subscription_id
  `.execute(tx);
  return rows;
}

/**
 * Subscriptions that were left out, and of which nothing says from when they are to be billed: from
 * this term on, so that the next one catches up on it.
 */
export async function beginCatchUp(
  tx: Tx,
  tenantId: number,
  term: { termId: number; startDate: string },
): Promise<void> {
  await sql`
    update subscriptions s set billed_through = ${term.startDate}::date - 1
    from (
      select b.subscription_id from bills b
      where b.tenant_id = ${tenantId} and b.term_id = ${term.termId}
        and b.review_status is not null and b.subscription_id is not null
      union all
      select p.subscription_id from bills b
      join bill_parts p on p.tenant_id = ${tenantId} and p.bill_id = b.bill_id
      where b.tenant_id = ${tenantId} and b.term_id = ${term.termId}
        and b.review_status is not null
    ) left_out
    where s.tenant_id = ${tenantId} and s.subscription_id = left_out.subscription_id
      and s.billed_through is null
  `.execute(tx);
}

/** Of `s`, whose bills are posted: a plan that was chosen ahead is not yet billed. */
const lastBilledPlan = planOn(sql`s.billed_through`);

/**
 * A plan that is billed once: from the day after its bill the subscription is no longer served, and
 * what was planned for later days is kept only for the case that the bill is unposted.
 */
export async function endOneTimeSubscriptions(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
  planIds: readonly number[],
  options: { today: string; stamp: Stamp },
): Promise<void> {
  const { today, stamp } = options;
  const isOver = sql`s.billed_through < ${today}::date`;
  const steps = (isMeant: Sql) => sql`coalesce((
    select jsonb_agg(h.step order by h.place)
    from jsonb_array_elements(s.status_history) with ordinality as h (step, place)
    where ${isMeant}
  ), '[]')`;
  const isPlanned = sql`(h.step ->> 'fromDate')::date > s.billed_through`;
  // The rows were locked when their last billed day moved. `offset 0` keeps functions of dates out
  // of the update itself, where a cluster refuses them.
  await sql`
    update subscriptions u
    set status = n.status, disconnection_kind = n.disconnection_kind,
      next_change_date = n.next_change_date, status_history = n.status_history,
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(u.ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    from (
      select s.subscription_id,
        case when ${isOver} then 'Disconnected' else s.status end as status,
        case when ${isOver} then 'Permanent' else s.disconnection_kind end as disconnection_kind,
        case when not ${isOver}
          then least(s.next_change_date, s.billed_through + 1) end as next_change_date,
        ${steps(sql`not ${isPlanned}`)} || jsonb_build_array(jsonb_build_object(
          'status', 'Disconnected', 'fromDate', s.billed_through + 1, 'kind', 'Permanent',
          'reason', ${oneTimeReason}::text, 'planned', ${steps(isPlanned)})) as status_history
      from (${partsOf(tenantId, billIds)}) p
      join subscriptions s on s.tenant_id = ${tenantId} and s.subscription_id = p.subscription_id
        and s.plan_id = any(${planIds}::bigint[]) and ${lastBilledPlan} = any(${planIds}::bigint[])
        and s.status in ('Active', 'Disconnected')
      offset 0
    ) n
    where u.tenant_id = ${tenantId} and u.subscription_id = n.subscription_id
  `.execute(tx);
}

export const oneTimeReason = 'Billed once';

export type FirstBillRow = {
  bill_id: number;
  subscription_id: number;
  party_id: number;
  plan_id: number;
  due_date: string;
  frozen: object;
};

/** Bills before which nothing was billed to the subscription, with the plan they were made by. */
export async function listFirstBills(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<FirstBillRow[]> {
  const { rows } = await sql<FirstBillRow>`
    select b.bill_id, s.subscription_id, b.party_id, ${lastBilledPlan} as plan_id,
      b.due_date, f.frozen
    from bills b
    ${withContents(tenantId)}
    cross join lateral (
      select k.frozen where b.subscription_id is not null
      union all
      select json_array_elements(k.frozen -> 'subscriptions') where b.subscription_id is null
    ) as f (frozen)
    join subscriptions s on s.tenant_id = ${tenantId}
      and s.subscription_number = f.frozen -> 'connection' ->> 'connectionNumber'
    where b.tenant_id = ${tenantId} and b.bill_id = any(${billIds}::bigint[])
      and (f.frozen -> 'connection' ->> 'isFirstBill')::boolean
    order by b.bill_id, s.subscription_id
  `.execute(tx);
  return rows;
}
