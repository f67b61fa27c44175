// Posting, a part of a term at a time: each statement does one thing to all bills of the part.
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../base/db/pool.ts';
import type { Stamp } from '../ledger/store.ts';

/** Bills that are ready, in one part, and how many subscriptions are in the parts before it. */
export type PostRange = {
  firstId: number;
  lastId: number;
  bills: number;
  subscriptions: number;
  before: number;
};

export async function listPostRanges(
  tx: Tx,
  tenantId: number,
  termId: number,
  size: number,
): Promise<PostRange[]> {
  const { rows } = await sql<{
    first_id: number;
    last_id: number;
    bills: number;
    subscriptions: number;
  }>`
    select min(bill_id) as first_id, max(bill_id) as last_id, count(*) as bills,
      sum(subscriptions)::bigint as subscriptions
    from (
      select b.bill_id, (row_number() over (order by b.bill_id) - 1) / ${size} as part,
        case when b.subscription_id is not null then 1 else (
          select count(*) from bill_parts p
          where p.tenant_id = b.tenant_id and p.bill_id = b.bill_id
        ) end as subscriptions
      from bills b
      where b.tenant_id = ${tenantId} and b.term_id = ${termId} and b.status = 'Draft'
    ) ready
    group by part
    order by part
  `.execute(tx);
  let before = 0;
  return rows.map((row) => {
    const { first_id: firstId, last_id: lastId, bills, subscriptions } = row;
    const range = { firstId, lastId, bills, subscriptions, before };
    before += subscriptions;
    return range;
  });
}

/** Drafts of a part, in the order in which they get their numbers; they stay as they are. */
export async function lockDrafts(
  tx: Tx,
  tenantId: number,
  termId: number,
  range: { firstId: number; lastId: number },
): Promise<number[]> {
  const { rows } = await sql<{ bill_id: number }>`
    select bill_id from bills
    where tenant_id = ${tenantId} and term_id = ${termId} and status = 'Draft'
      and bill_id between ${range.firstId} and ${range.lastId}
    order by bill_id
    for no key update
  `.execute(tx);
  return rows.map((row) => row.bill_id);
}

/** The subscriptions of bills, whether a bill has one or several. */
function partsOf(tenantId: number, billIds: readonly number[]): RawBuilder<unknown> {
  return sql`
    select tenant_id, bill_id, subscription_id, bill_amount as amount, arrears, days, billed_to,
      billed_through, subject_ts
    from bills
    where tenant_id = ${tenantId} and bill_id = any(${billIds}::bigint[])
      and subscription_id is not null
    union all
    select tenant_id, bill_id, subscription_id, amount, arrears, days, billed_to, billed_through,
      subject_ts
    from bill_parts
    where tenant_id = ${tenantId} and bill_id = any(${billIds}::bigint[])`;
}

/**
 * Moves the last billed day of every subscription, and tells the bills of those that are not as
 * they were when the bill was made: nothing of such a bill may be posted.
 */
export async function advanceSubscriptions(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<number[]> {
  const { rows } = await sql<{ bill_id: number }>`
    with parts as materialized (${partsOf(tenantId, billIds)}),
    moved as (
      update subscriptions s set billed_through = p.billed_to
      from parts p
      where s.tenant_id = ${tenantId} and s.subscription_id = p.subscription_id
        and s.ts = p.subject_ts and s.billed_through is not distinct from p.billed_through
        and p.billed_to > coalesce(p.billed_through, '-infinity')
      returning p.bill_id, p.subscription_id
    )
    select distinct p.bill_id
    from parts p
    left join moved m on m.bill_id = p.bill_id and m.subscription_id = p.subscription_id
    where m.bill_id is null
  `.execute(tx);
  const stale = rows.map((row) => row.bill_id);
  if (stale.length > 0) await takeBackSubscriptions(tx, tenantId, stale);
  return stale;
}

/** The other subscriptions of bills that are not posted after all. */
async function takeBackSubscriptions(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<void> {
  await sql`
    update subscriptions s set billed_through = p.billed_through
    from (${partsOf(tenantId, billIds)}) p
    where s.tenant_id = ${tenantId} and s.subscription_id = p.subscription_id
      and s.ts = p.subject_ts and s.billed_through = p.billed_to
  `.execute(tx);
}

/** Bills that fell out while the term was posted: held, and their numbers never given. */
export async function holdStaleBills(
  tx: Tx,
  tenantId: number,
  bills: readonly { billId: number; number: string }[],
  reason: string,
  stamp: Stamp,
): Promise<void> {
  await sql`
    with held as (
      update bills b
      set status = 'Hold', is_held = true, hold_reason = ${reason},
        modified_at = ${stamp.at}, modified_by = ${stamp.by},
        ts = greatest(b.ts + 1, ${stamp.at.epochMilliseconds}::bigint)
      from unnest(
        ${bills.map((one) => one.billId)}::bigint[], ${bills.map((one) => one.number)}::text[]
      ) as n (bill_id, number)
      where b.tenant_id = ${tenantId} and b.bill_id = n.bill_id
      returning b.bill_id, b.term_id, n.number
    )
    insert into retired_numbers
      (tenant_id, bill_number, term_id, bill_id, reason, retired_at, retired_by)
    select ${tenantId}, number, term_id, bill_id, ${reason}, ${stamp.at}, ${stamp.by} from held
  `.execute(tx);
}

export type WalletUse = { bill_id: number; party_id: number; applied: number };

/**
 * What the wallets of the parties pay of these bills, oldest id first. The parties stay locked, so
 * that no two parts spend the same money.
 */
export async function takeFromWallets(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<WalletUse[]> {
  const { rows } = await sql<WalletUse>`
    with funds as materialized (
      select party_id, wallet_balance from parties
      where tenant_id = ${tenantId} and wallet_balance > 0 and party_id in (
        select party_id from bills
        where tenant_id = ${tenantId} and bill_id = any(${billIds}::bigint[])
      )
      order by party_id
      for no key update
    ),
    owed as (
      select b.bill_id, b.party_id, f.wallet_balance, least(b.bill_amount, b.payable) as due,
        sum(least(b.bill_amount, b.payable)) over (partition by b.party_id order by b.bill_id)
          as due_so_far
      from bills b
      join funds f on f.party_id = b.party_id
      where b.tenant_id = ${tenantId} and b.bill_id = any(${billIds}::bigint[])
        and least(b.bill_amount, b.payable) > 0
    )
    select bill_id, party_id, least(due, wallet_balance - (due_so_far - due))::bigint as applied
    from owed
    where wallet_balance > due_so_far - due
    order by bill_id
  `.execute(tx);
  return rows;
}

export type Numbered = { billId: number; number: string };

export async function markPosted(
  tx: Tx,
  tenantId: number,
  bills: readonly Numbered[],
  wallets: readonly WalletUse[],
  options: { dueDate: string | null; stamp: Stamp },
): Promise<void> {
  const { dueDate, stamp } = options;
  await sql`
    update bills b
    set status = 'Posted', bill_number = n.number, posting = b.posting + 1,
      wallet_applied = n.applied, payable = b.payable - n.applied, paid_amount = n.applied,
      payment_status = case when n.applied >= b.bill_amount then 'Paid'
        when n.applied > 0 then 'PartiallyPaid' else 'Unpaid' end,
      due_date = coalesce(${dueDate}::date, b.due_date),
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(b.ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    from (
      select n.bill_id, n.number, coalesce(w.applied, 0) as applied
      from unnest(
        ${bills.map((one) => one.billId)}::bigint[], ${bills.map((one) => one.number)}::text[]
      ) as n (bill_id, number)
      left join unnest(
        ${wallets.map((one) => one.bill_id)}::bigint[],
        ${wallets.map((one) => one.applied)}::bigint[]
      ) as w (bill_id, applied) on w.bill_id = n.bill_id
    ) n
    where b.tenant_id = ${tenantId} and b.bill_id = n.bill_id and b.status = 'Draft'
  `.execute(tx);
}

export type ComponentSum = { component: string | null; type: string | null; amount: number };

/** What the lines of the bills add up to, and, under no component, their rounding. */
export async function sumComponents(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<ComponentSum[]> {
  const { rows } = await sql<ComponentSum>`
    select l ->> 'component' as component, l ->> 'type' as type,
      sum((l ->> 'amount')::bigint)::bigint as amount
    from bills b, json_array_elements(b.document -> 'lines') l
    where b.tenant_id = ${tenantId} and b.bill_id = any(${billIds}::bigint[])
    group by 1, 2
    union all
    select null, null, coalesce(sum(rounding_adjustment), 0)::bigint
    from bills
    where tenant_id = ${tenantId} and bill_id = any(${billIds}::bigint[])
    order by 1, 2
  `.execute(tx);
  return rows;
}

/**
 * One entry for each bill, or for each of its subscriptions. `offset 0` keeps the planner to one
 * look by key for each: of a new workspace it thinks that it has no bills, and would otherwise go
 * through all of them for each.
 */
export async function insertBillEntries(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
  posting: { journalId: number; firstEntry: number; postingDate: string; stamp: Stamp },
): Promise<void> {
  const { journalId, firstEntry, postingDate, stamp } = posting;
  await sql`
    insert into subledger_entries (tenant_id, entry_id, journal_id, ledger_account_id, party_id,
      subscription_id, kind, bill_id, posting, amount, posting_date, due_date, reference,
      created_at, created_by)
    select ${tenantId}, ${firstEntry - 1}::bigint + row_number() over
        (order by p.bill_id, p.subscription_id),
      ${journalId}::bigint, 2, b.party_id, p.subscription_id, 'Bill', p.bill_id, b.posting,
      p.amount, ${postingDate}::date, b.due_date, b.bill_number, ${stamp.at}, ${stamp.by}
    from (${partsOf(tenantId, billIds)}) p
    cross join lateral (
      select party_id, posting, due_date, bill_number from bills
      where tenant_id = ${tenantId} and bill_id = p.bill_id
      offset 0
    ) b
    order by p.bill_id, p.subscription_id
  `.execute(tx);
}

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
export async function beginLeftOut(
  tx: Tx,
  tenantId: number,
  term: { termId: number; startDate: string },
): Promise<void> {
  await sql`
    update subscriptions s set billed_through = ${term.startDate}::date - 1
    from (
      select b.subscription_id from bills b
      where b.tenant_id = ${tenantId} and b.term_id = ${term.termId}
        and b.status in ('Error', 'Hold') and b.subscription_id is not null
      union all
      select p.subscription_id from bills b
      join bill_parts p on p.tenant_id = b.tenant_id and p.bill_id = b.bill_id
      where b.tenant_id = ${tenantId} and b.term_id = ${term.termId}
        and b.status in ('Error', 'Hold')
    ) left_out
    where s.tenant_id = ${tenantId} and s.subscription_id = left_out.subscription_id
      and s.billed_through is null
  `.execute(tx);
}

/** A plan that is billed once: from the day after its bill the subscription is no longer served. */
export async function endOneTimeSubscriptions(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
  planIds: readonly number[],
  stamp: Stamp,
): Promise<void> {
  await sql`
    update subscriptions s
    set status = 'Disconnected', disconnection_kind = 'Permanent',
      status_history = s.status_history || jsonb_build_array(jsonb_build_object(
        'status', 'Disconnected', 'fromDate', s.billed_through + 1, 'kind', 'Permanent',
        'reason', ${oneTimeReason}::text)),
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(s.ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    from (${partsOf(tenantId, billIds)}) p
    where s.tenant_id = ${tenantId} and s.subscription_id = p.subscription_id
      and s.plan_id = any(${planIds}::bigint[]) and s.status = 'Active'
  `.execute(tx);
}

export const oneTimeReason = 'Billed once';

export type FirstBillRow = {
  bill_id: number;
  subscription_id: number;
  party_id: number;
  plan_id: number;
  facts: object;
};

/** Bills before which nothing was billed to the subscription. */
export async function listFirstBills(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<FirstBillRow[]> {
  const { rows } = await sql<FirstBillRow>`
    select b.bill_id, s.subscription_id, b.party_id, s.plan_id, f.facts
    from bills b
    cross join lateral (
      select b.facts where b.subscription_id is not null
      union all
      select json_array_elements(b.facts -> 'subscriptions') where b.subscription_id is null
    ) as f (facts)
    join subscriptions s on s.tenant_id = b.tenant_id
      and s.subscription_number = f.facts -> 'connection' ->> 'connectionNumber'
    where b.tenant_id = ${tenantId} and b.bill_id = any(${billIds}::bigint[])
      and (f.facts -> 'connection' ->> 'isFirstBill')::boolean
    order by b.bill_id, s.subscription_id
  `.execute(tx);
  return rows;
}
