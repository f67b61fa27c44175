// Promises to pay and instalment plans.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';
import { openOfBill } from '../ledger/open-amounts-store.ts';

export type Instalment = { dueDate: string; amount: number };

export type NewArrangement = {
  arrangementId: number;
  kind: 'Promise' | 'InstalmentPlan';
  partyId: number;
  subscriptionId: number | null;
  amount: number;
  untilDate: string;
  billIds: readonly number[];
  openAtStart: number;
  reason: string;
  instalments: readonly Instalment[];
};

export async function insertArrangements(
  tx: Tx,
  tenantId: number,
  arrangements: readonly NewArrangement[],
  stamp: Stamp,
): Promise<void> {
  await sql`
    insert into arrangements (tenant_id, arrangement_id, kind, party_id, subscription_id, amount,
      until_date, bill_ids, open_at_start, reason, created_at, created_by, modified_at, modified_by)
    select own.tenant_id, r."arrangementId", r.kind, r."partyId", r."subscriptionId", r.amount,
      r."untilDate", array(select jsonb_array_elements_text(r."billIds")::bigint),
      r."openAtStart", r.reason, ${stamp.at}::timestamptz, ${stamp.by}, ${stamp.at}::timestamptz,
      ${stamp.by}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(arrangements)}::jsonb) as r (
      "arrangementId" bigint, kind text, "partyId" bigint, "subscriptionId" bigint, amount bigint,
      "untilDate" date, "billIds" jsonb, "openAtStart" bigint, reason text
    )
  `.execute(tx);
  const rows = arrangements.flatMap(({ arrangementId, instalments }) =>
    instalments.map((one, index) => ({ arrangementId, number: index + 1, ...one })),
  );
  if (rows.length === 0) return;
  await sql`
    insert into instalments (tenant_id, arrangement_id, instalment_number, due_date, amount)
    select own.tenant_id, r."arrangementId", r.number, r."dueDate", r.amount
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      "arrangementId" bigint, number smallint, "dueDate" date, amount bigint
    )
  `.execute(tx);
}

/** A bill that a plan may name, with what is open of it. */
export type PlannableBill = { bill_id: number; open: number };

/** Of the owner of a subscription, published bills for it on which something is open. */
export async function listPlannable(
  tx: Tx,
  tenantId: number,
  { subscriptionId, partyId }: { subscriptionId: number; partyId: number },
  billIds: readonly number[],
): Promise<PlannableBill[]> {
  const { rows } = await sql<PlannableBill>`
    select b.bill_id, ${openOfBill} as open
    from bills b
    where b.tenant_id = ${tenantId} and b.bill_id = any(${billIds}::bigint[])
      and b.party_id = ${partyId} and b.status = 'Published' and ${openOfBill} > 0
      and (b.subscription_id = ${subscriptionId} or exists (
        select from bill_parts p
        where p.tenant_id = ${tenantId} and p.bill_id = b.bill_id
          and p.subscription_id = ${subscriptionId}
      ))
  `.execute(tx);
  return rows;
}

export type OwnedSubscription = {
  subscription_id: number;
  subscription_number: string;
  party_id: number;
};

/** By number, the owner of each. */
export async function listOwned(
  tx: Tx,
  tenantId: number,
  numbers: readonly string[],
): Promise<Map<string, OwnedSubscription>> {
  const { rows } = await sql<OwnedSubscription>`
    select subscription_id, subscription_number, party_id from subscriptions
    where tenant_id = ${tenantId} and subscription_number = any(${numbers}::text[])
  `.execute(tx);
  return new Map(rows.map((row) => [row.subscription_number, row]));
}

/** By party number. */
export async function listPartyIds(
  tx: Tx,
  tenantId: number,
  partyNumbers: readonly number[],
): Promise<Map<number, number>> {
  const { rows } = await sql<{ party_id: number; party_number: number }>`
    select party_id, party_number from parties
    where tenant_id = ${tenantId} and party_number = any(${partyNumbers}::bigint[])
  `.execute(tx);
  return new Map(rows.map((row) => [row.party_number, row.party_id]));
}

export type ArrangementRow = {
  arrangement_id: number;
  kind: NewArrangement['kind'];
  party_id: number;
  subscription_id: number | null;
  amount: number;
  until_date: string;
  bill_ids: number[];
  open_at_start: number;
  reason: string;
  status: string;
};

const columns = sql.raw(`arrangement_id, kind, party_id, subscription_id, amount, until_date,
  bill_ids, open_at_start, reason, status`);

export async function lockArrangement(
  tx: Tx,
  tenantId: number,
  arrangementId: number,
): Promise<ArrangementRow | undefined> {
  const { rows } = await sql<ArrangementRow>`
    select ${columns} from arrangements
    where tenant_id = ${tenantId} and arrangement_id = ${arrangementId}
    for no key update
  `.execute(tx);
  return rows[0];
}

export async function listActive(
  tx: Tx,
  tenantId: number,
  partyIds: readonly number[],
): Promise<ArrangementRow[]> {
  const { rows } = await sql<ArrangementRow>`
    select ${columns} from arrangements
    where tenant_id = ${tenantId} and party_id = any(${[...new Set(partyIds)]}::bigint[])
      and status = 'Active'
    order by arrangement_id
  `.execute(tx);
  return rows;
}

export async function endArrangements(
  tx: Tx,
  tenantId: number,
  ids: readonly number[],
  end: { status: 'Kept' | 'Broken' | 'Ended'; reason: string; day: Temporal.PlainDate },
  stamp: Stamp,
): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update arrangements
    set status = ${end.status}, end_reason = ${end.reason}, ended_on = ${end.day},
      modified_at = ${stamp.at}, modified_by = ${stamp.by}
    where tenant_id = ${tenantId} and arrangement_id = any(${ids}::bigint[])
      and status = 'Active'
  `.execute(tx);
}

/** An arrangement with what should have been paid before a day, and what was. */
export type ReviewedArrangement = {
  arrangement_id: number;
  kind: NewArrangement['kind'];
  due: number;
  paid: number;
  /** What is still open of the bills of a plan. */
  open: number;
};

/** Of active ones, plans of which an instalment is past and promises of which the date is. */
export async function listToReview(
  tx: Tx,
  tenantId: number,
  day: Temporal.PlainDate,
): Promise<ReviewedArrangement[]> {
  const { rows } = await sql<ReviewedArrangement>`
    select a.arrangement_id, a.kind,
      case when a.kind = 'Promise' then a.amount else i.due end as due,
      case when a.kind = 'Promise' then p.paid else a.open_at_start - b.open end as paid, b.open
    from arrangements a
    cross join lateral (
      select coalesce(sum(n.amount), 0)::bigint as due from instalments n
      where n.tenant_id = ${tenantId} and n.arrangement_id = a.arrangement_id
        and n.due_date < ${day}
    ) i
    cross join lateral (
      select coalesce(sum(${openOfBill}), 0)::bigint as open from bills b
      where b.tenant_id = ${tenantId} and b.bill_id = any(a.bill_ids)
        and b.status in ('Posted', 'Published')
    ) b
    cross join lateral (
      select coalesce(sum(m.amount), 0)::bigint as paid from payments m
      where m.tenant_id = ${tenantId} and m.party_id = a.party_id and m.direction = 'In'
        and m.created_at >= a.created_at
        and not exists (
          select from payment_reversals r
          where r.tenant_id = ${tenantId} and r.payment_id = m.payment_id
        )
    ) p
    where a.tenant_id = ${tenantId} and a.status = 'Active'
      and (a.kind = 'InstalmentPlan' or a.until_date < ${day})
    order by a.arrangement_id
  `.execute(tx);
  return rows;
}
