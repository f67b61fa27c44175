// Cancelling a posted bill: the bill keeps its contents as issued, and a credit note reverses it.

import type { Tx } from '../../../base/db/pool.ts';
import { sql } from '../../../base/db/sql.ts';
import type { Stamp } from '../../../base/stamp.ts';
import { lockWallets } from '../../ledger/items-store.ts';
import { withoutBill } from '../inputs/estimated-units.ts';
import { isFollowed, lockSubscriptionsOf, movedSince, postedParts } from './unpost-store.ts';

export type PostedBill = {
  bill_id: number;
  party_id: number;
  status: string;
  bill_number: string | null;
  disputed: number;
};

/** Locks the bill and its subscriptions until the transaction ends: no payment, no change. */
export async function lockBill(
  tx: Tx,
  tenantId: number,
  billId: number,
): Promise<PostedBill | undefined> {
  await lockBefore(tx, tenantId, billId);
  const { rows } = await sql<PostedBill>`
    select b.bill_id, b.party_id, b.status, b.bill_number, b.disputed
    from bills b
    where b.tenant_id = ${tenantId} and b.bill_id = ${billId}
    for no key update of b
  `.execute(tx);
  return rows[0];
}

/** Subscriptions and wallet first, as every change of money takes them. */
async function lockBefore(tx: Tx, tenantId: number, billId: number): Promise<void> {
  await lockSubscriptionsOf(tx, tenantId, { billId });
  const { rows } = await sql<{ party_id: number }>`
    select party_id from bills where tenant_id = ${tenantId} and bill_id = ${billId}
  `.execute(tx);
  await lockWallets(
    tx,
    tenantId,
    rows.map((row) => row.party_id),
  );
}

/** A subscription of a bill, with its present state. */
export type BilledSubscription = {
  subscription_id: number;
  subscription_number: string;
  batch_code: string;
  is_archived: boolean;
  /** Whether a later bill builds on this one. */
  is_followed: boolean;
  /** An open term that has locked readings of it. */
  reading_term: string | null;
};

export async function listBilled(
  tx: Tx,
  tenantId: number,
  billId: number,
): Promise<BilledSubscription[]> {
  const { rows } = await sql<BilledSubscription>`
    select s.subscription_id, s.subscription_number, b.code as batch_code,
      c.archived as is_archived, ${isFollowed(tenantId)} as is_followed, (
        select t.label from term_readings l
        join terms t on t.tenant_id = ${tenantId} and t.term_id = l.term_id and t.status = 'Open'
        where l.tenant_id = ${tenantId} and l.subscription_id = s.subscription_id
        limit 1
      ) as reading_term
    from (${postedParts(tenantId, { billId })}) p
    join subscriptions s on s.tenant_id = ${tenantId} and s.subscription_id = p.subscription_id
    join batches b on b.tenant_id = ${tenantId} and b.batch_id = s.batch_id
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = s.context_id
    order by s.subscription_id
  `.execute(tx);
  return rows;
}

/**
 * Whether what is owed on the bill went to another owner, was settled by a deposit or paid others.
 */
export async function hasMovedOn(tx: Tx, tenantId: number, billId: number): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    with parts as (${postedParts(tenantId, { billId })})
    select exists (${movedSince(tenantId)}) as found
    from tenants where tenant_id = ${tenantId}
  `.execute(tx);
  return rows[0]?.found ?? false;
}

/** If a cancelled bill is not billed again, its term is removed from the billed terms. */
export async function forgetBilledTerm(
  tx: Tx,
  tenantId: number,
  { billId, termId, isLookedAt }: { billId: number; termId: number; isLookedAt: boolean },
): Promise<void> {
  const { rows } = await sql<{ subscription_id: number; history: string }>`
    select h.subscription_id, array_to_json(h.terms)::text as history
    from usage_histories h
    where h.tenant_id = ${tenantId} and h.subscription_id in (
      select p.subscription_id from (${postedParts(tenantId, { billId })}) p
    )
    order by h.subscription_id
    for no key update
  `.execute(tx);
  const changed = rows.map(({ subscription_id: id, history }) => {
    return { id, terms: withoutBill(JSON.parse(history), { termId, isLookedAt }) };
  });
  await sql`
    update usage_histories h
    set terms = array(
        select e.term from json_array_elements(n.terms) with ordinality as e (term, place)
        order by e.place
      ),
      billed = case when (h.terms[1] ->> 'termId')::bigint is distinct from ${termId}
        then h.billed end
    from json_to_recordset(${JSON.stringify(changed)}::json) as n (id bigint, terms json)
    where h.tenant_id = ${tenantId} and h.subscription_id = n.id
  `.execute(tx);
}

/** Open terms with drafts of the bill's subscriptions, and those of which bills are being made. */
export async function markDraftsStale(
  tx: Tx,
  tenantId: number,
  { billId, contextId }: { billId: number; contextId: number },
  at: Temporal.Instant,
): Promise<void> {
  const theirs = sql`(select p.subscription_id from (${postedParts(tenantId, { billId })}) p)`;
  await sql`
    update terms o
    set is_stale = true, ts = greatest(o.ts + 1, ${at.epochMilliseconds}::bigint)
    where o.tenant_id = ${tenantId} and o.context_id = ${contextId} and o.status = 'Open'
      and not o.is_stale and (o.stage = 'Generating' or (o.stage = 'Generated' and o.term_id in (
        select b.term_id from bills b
        where b.tenant_id = ${tenantId} and b.subscription_id in ${theirs}
        union all
        select b.term_id from bill_parts d
        join bills b on b.tenant_id = ${tenantId} and b.bill_id = d.bill_id
        where d.tenant_id = ${tenantId} and d.subscription_id in ${theirs}
      )))
  `.execute(tx);
}

/** As good as changed: a draft of theirs that is being posted was made while the bill was owed. */
export async function touchSubscriptions(
  tx: Tx,
  tenantId: number,
  billId: number,
  stamp: Stamp,
): Promise<void> {
  await sql`
    update subscriptions s
    set modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(s.ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    from (${postedParts(tenantId, { billId })}) p
    where s.tenant_id = ${tenantId} and s.subscription_id = p.subscription_id
  `.execute(tx);
}

export async function markCancelled(
  tx: Tx,
  tenantId: number,
  billId: number,
  stamp: Stamp,
): Promise<void> {
  await sql`
    update bills
    set status = 'Cancelled', modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId} and bill_id = ${billId}
  `.execute(tx);
}

/** What was given by hand and uploaded for subscriptions in a term, for another one. */
export async function copyInputs(
  tx: Tx,
  tenantId: number,
  terms: { from: number; to: number },
  subscriptionIds: readonly number[],
): Promise<void> {
  const isTheirs = sql`tenant_id = ${tenantId} and term_id = ${terms.from}
      and subscription_id = any(${[...subscriptionIds]}::bigint[])`;
  await sql`
    insert into manual_values
      (tenant_id, term_id, subscription_id, component, value, modified_at, modified_by)
    select tenant_id, ${terms.to}::bigint, subscription_id, component, value, modified_at,
      modified_by
    from manual_values
    where ${isTheirs}
  `.execute(tx);
  await sql`
    insert into term_usage
      (tenant_id, term_id, subscription_id, input, usage_date, quantity, modified_at, modified_by)
    select tenant_id, ${terms.to}::bigint, subscription_id, input, usage_date, quantity,
      modified_at, modified_by
    from term_usage
    where ${isTheirs}
  `.execute(tx);
}
