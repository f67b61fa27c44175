// Taking the posting of a term back: mirrored journals, retired numbers, drafts as they were. It is
// one transaction, however many bills there are: a term is posted or it is not.

import type { Tx } from '../../../base/db/pool.ts';
import { type Sql, sql } from '../../../base/db/sql.ts';
import type { Stamp } from '../../../base/stamp.ts';
import { openItems } from '../../ledger/accounts-store.ts';
import { withContents } from '../contents-store.ts';
import { chargesOf, forgottenTerms } from './histories-store.ts';
import { oneTimeReason } from './post-store.ts';

/**
 * A payment of one of them, or a transfer of its subscription, waits until this has ended. In the
 * order of all changes of money: subscriptions, wallets, bills.
 */
export async function lockPosted(tx: Tx, tenantId: number, termId: number): Promise<void> {
  await lockSubscriptionsOf(tx, tenantId, { termId });
  await sql`
    select count(*) from (
      select from party_wallets w
      where w.tenant_id = ${tenantId} and w.party_id in (
        select b.party_id from bills b
        where b.tenant_id = ${tenantId} and b.term_id = ${termId} and b.status = 'Posted'
      )
      order by w.party_id
      for no key update
    ) locked
  `.execute(tx);
  await sql`
    select count(*) from (
      select bill_id from bills
      where tenant_id = ${tenantId} and term_id = ${termId} and status = 'Posted'
      order by bill_id
      for no key update
    ) locked
  `.execute(tx);
}

/** Locks the subscriptions of the bills to be taken back until the transaction ends. */
export async function lockSubscriptionsOf(
  tx: Tx,
  tenantId: number,
  taken: TakenBack,
): Promise<void> {
  await sql`
    select count(*) from (
      select from subscriptions s
      where s.tenant_id = ${tenantId} and s.subscription_id in (
        select p.subscription_id from (${postedParts(tenantId, taken)}) p
      )
      order by s.subscription_id
      for no key update
    ) locked
  `.execute(tx);
}

export type UnpostObstacles = {
  /** The number of bills of the term that are no longer Posted. */
  moved: number;
  /** Bills that were paid, credited, surcharged or adjusted, or whose balance was moved since. */
  touched: number;
  /** Bills of subscriptions that a later bill builds on. */
  followed: number;
};

/** The posted bills to take back: all of an unpublished term, or a single one. */
export type TakenBack = { termId: number } | { billId: number };

/** The posted bills that are taken back, with their subscriptions. */
export function postedParts(tenantId: number, taken: TakenBack): Sql {
  const isTaken =
    'billId' in taken
      ? sql`b.bill_id = ${taken.billId} and b.status in ('Posted', 'Published')`
      : sql`b.term_id = ${taken.termId} and b.status = 'Posted'`;
  return sql`
    select b.bill_id, b.term_id, b.subscription_id, b.billed_to, b.previously_billed_to, b.posting
    from bills b
    where b.tenant_id = ${tenantId} and ${isTaken} and b.subscription_id is not null
    union all
    select p.bill_id, b.term_id, p.subscription_id, p.billed_to, p.previously_billed_to, b.posting
    from bills b
    join bill_parts p on p.tenant_id = ${tenantId} and p.bill_id = b.bill_id
    where b.tenant_id = ${tenantId} and ${isTaken}`;
}

export async function findUnpostObstacles(
  tx: Tx,
  tenantId: number,
  termId: number,
): Promise<UnpostObstacles> {
  const { rows } = await sql<UnpostObstacles>`
    with parts as materialized (${postedParts(tenantId, { termId })})
    select
      (select count(*) from bills
        where tenant_id = ${tenantId} and term_id = ${termId}
          and status in ('Published', 'Cancelled')) as moved,
      (select count(distinct bill_id) from (
        select bill_id from bills
        where tenant_id = ${tenantId} and term_id = ${termId} and status = 'Posted'
          and (paid_amount <> wallet_applied
            or credited <> 0 or written_off <> 0 or transferred <> 0 or disputed <> 0)
        union all
        select e.bill_id from parts p
        join subledger_entries e on e.tenant_id = ${tenantId}
          and e.subscription_id = p.subscription_id and e.bill_id = p.bill_id
          and e.kind in ('Payment', 'CreditNote', 'Surcharge', 'Adjustment', 'WriteOff', 'Dispute',
            'Refund', 'Transfer')
        union all
        ${movedSince(tenantId)}
      ) found) as touched,
      (select count(distinct p.bill_id) from parts p
        join subscriptions s on s.tenant_id = ${tenantId}
          and s.subscription_id = p.subscription_id
        where ${isFollowed(tenantId)}) as followed
  `.execute(tx);
  return rows[0] ?? { moved: 0, touched: 0, followed: 0 };
}

/**
 * True if a later bill of subscription `s` builds on that of `p`: it moved the last billed day, or
 * has no days of its own and billed the usage up to then.
 */
export function isFollowed(tenantId: number): Sql {
  const isOfUse = (part: 'o' | 'b') => {
    const name = (column: string) => sql.ref(`${part}.${column}`);
    return sql`${name('subscription_id')} = p.subscription_id and b.bill_id <> p.bill_id
      and b.status in ('Posted', 'Published') and ${name('days')} = 0
      and ${name('billed_to')} = p.billed_to and ${name('previously_billed_to')} = p.billed_to`;
  };
  return sql`(s.billed_through is distinct from p.billed_to
    or exists (select from bills b where b.tenant_id = ${tenantId} and ${isOfUse('b')})
    or exists (
      select from bill_parts o
      join bills b on b.tenant_id = ${tenantId} and b.bill_id = o.bill_id
      where o.tenant_id = ${tenantId} and ${isOfUse('o')}
    ))`;
}

/**
 * Bills of `parts` of which what was owed went to the next owner or was settled by the deposit; and
 * bills below zero that have paid others.
 */
export function movedSince(tenantId: number): Sql {
  return sql`
    select p.bill_id from parts p
    join subledger_entries e on e.tenant_id = ${tenantId} and e.bill_id = p.bill_id
      and e.subscription_id = p.subscription_id and e.effect is not null
      and (e.kind in ('Transfer', 'Deposit')
        or (e.kind = 'Offset' and e.settled < 0))`;
}

/** Journals of the term's posting that were not reversed. */
function openJournals(tenantId: number, termId: number): Sql {
  return sql`
    select j.tenant_id, j.journal_id, j.business_unit_id
    from journals j
    where j.tenant_id = ${tenantId} and j.term_id = ${termId}
      and j.source_type in ('Bills', 'Wallet', 'Deposit')
      and not exists (
        select from journals r
        where r.tenant_id = ${tenantId} and r.reverses_journal_id = j.journal_id
      )`;
}

export async function countToReverse(
  tx: Tx,
  tenantId: number,
  termId: number,
): Promise<{ journals: number; entries: number }> {
  const { rows } = await sql<{ journals: number; entries: number }>`
    with open as materialized (${openJournals(tenantId, termId)})
    select (select count(*) from open) as journals,
      (select count(*) from open o join subledger_entries e
        on e.tenant_id = ${tenantId} and e.journal_id = o.journal_id) as entries
  `.execute(tx);
  return rows[0] ?? { journals: 0, entries: 0 };
}

/** The mirror of every journal of the posting, line by line and entry by entry. */
export async function reverseJournals(
  tx: Tx,
  tenantId: number,
  termId: number,
  options: {
    jobId: number;
    firstJournal: number;
    firstEntry: number;
    postingDate: string;
    description: string;
    stamp: Stamp;
  },
): Promise<void> {
  const { jobId, firstJournal, firstEntry, postingDate, description, stamp } = options;
  await sql`
    insert into journals (tenant_id, journal_id, source_type, source_id, term_id, business_unit_id,
      posting_date, description, reverses_journal_id, created_at, created_by)
    select o.tenant_id, ${firstJournal - 1}::bigint + row_number() over (order by o.journal_id),
      'Unpost', ${jobId}::bigint, ${termId}::bigint, o.business_unit_id, ${postingDate}::date,
      ${description}, o.journal_id, ${stamp.at}, ${stamp.by}
    from (${openJournals(tenantId, termId)}) o
  `.execute(tx);
  const mirrors = sql`
    select journal_id, reverses_journal_id from journals
    where tenant_id = ${tenantId} and source_type = 'Unpost' and source_id = ${jobId}`;
  await sql`
    insert into journal_lines
      (tenant_id, journal_id, line_number, ledger_account_id, component, amount)
    select l.tenant_id, m.journal_id, l.line_number, l.ledger_account_id, l.component, -l.amount
    from (${mirrors}) m
    join journal_lines l on l.tenant_id = ${tenantId} and l.journal_id = m.reverses_journal_id
  `.execute(tx);
  await sql`
    insert into subledger_entries (tenant_id, entry_id, journal_id, ledger_account_id, party_id,
      subscription_id, kind, bill_id, posting, amount, is_payment, posting_date, item_id, effect,
      reference, description, created_at, created_by)
    select e.tenant_id, ${firstEntry - 1}::bigint + row_number() over (order by e.entry_id),
      m.journal_id, e.ledger_account_id, e.party_id, e.subscription_id, 'Reversal', e.bill_id,
      e.posting, -e.amount, e.is_payment, ${postingDate}::date, e.item_id,
      -- An item that posting opened is taken back.
      case when e.item_id is not null and e.ledger_account_id in ${openItems}
        then coalesce(e.effect, 'credited') else e.effect end,
      e.reference, ${description}, ${stamp.at}, ${stamp.by}
    from (${mirrors}) m
    join subledger_entries e on e.tenant_id = ${tenantId} and e.journal_id = m.reverses_journal_id
  `.execute(tx);
}

/**
 * True if the bills are outdated: a term that they caught up on, or whose overdue amounts they
 * show, changed after they were generated, or a bill of their subscriptions was cancelled. Bills
 * are not marked stale for this while they are posted.
 */
export async function isOutdated(tx: Tx, tenantId: number, termId: number): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from terms o
      where o.tenant_id = ${tenantId} and o.context_id = t.context_id
        and o.batch_id = t.batch_id and o.term_id <> t.term_id and o.end_date <= t.end_date
        and o.modified_at > m.started_at
    ) or exists (
      select from credit_notes n
      cross join lateral (${subscriptionsOf(tenantId, sql`b.bill_id = n.bill_id`)}) c
      where n.tenant_id = ${tenantId} and n.created_at > m.started_at and n.cancels_bill
        and c.subscription_id in (${subscriptionsOf(tenantId, sql`b.term_id = ${termId}`)})
    ) as found
    from terms t
    cross join lateral (
      select max(r.started_at) as started_at from bill_runs r
      where r.tenant_id = ${tenantId} and r.term_id = t.term_id and r.bill_id is null
    ) m
    where t.tenant_id = ${tenantId} and t.term_id = ${termId}
  `.execute(tx);
  return rows[0]?.found ?? false;
}

/** Of bills `b`, alone on them or with others. */
function subscriptionsOf(tenantId: number, isWanted: Sql): Sql {
  return sql`
    select b.subscription_id from bills b
    where b.tenant_id = ${tenantId} and ${isWanted} and b.subscription_id is not null
    union all
    select p.subscription_id from bills b
    join bill_parts p on p.tenant_id = ${tenantId} and p.bill_id = b.bill_id
    where b.tenant_id = ${tenantId} and ${isWanted}`;
}

export async function retireNumbers(
  tx: Tx,
  tenantId: number,
  termId: number,
  reason: string,
  stamp: Stamp,
): Promise<number> {
  const { count } = await sql`
    update bill_numbers n
    set retired_reason = ${reason}, retired_at = ${stamp.at}, retired_by = ${stamp.by}
    from bills b
    where b.tenant_id = ${tenantId} and b.term_id = ${termId} and b.status = 'Posted'
      and n.tenant_id = ${tenantId} and n.bill_number = b.bill_number
  `.execute(tx);
  return count;
}

/** Restores subscriptions and their usage histories as they were before the bills. */
export async function restoreSubscriptions(
  tx: Tx,
  tenantId: number,
  taken: TakenBack,
  { today, stamp }: { today: string; stamp: Stamp },
): Promise<void> {
  await sql`
    update subscriptions s
    set billed_through = p.previously_billed_to
    from (${postedParts(tenantId, taken)}) p
    where s.tenant_id = ${tenantId} and s.subscription_id = p.subscription_id
  `.execute(tx);
  await restoreStates(tx, tenantId, taken, { today, stamp });
  await restoreHistories(tx, tenantId, taken);
}

/** Of plans that are billed once, what the bill had put an end to. */
async function restoreStates(
  tx: Tx,
  tenantId: number,
  taken: TakenBack,
  { today, stamp }: { today: string; stamp: Stamp },
): Promise<void> {
  const begun = sql`(h.step ->> 'fromDate')::date <= ${today}::date`;
  await sql`
    update subscriptions s
    set status = n.step ->> 'status', next_change_date = n.next_change_date,
      disconnection_kind = case when n.step ->> 'status' = 'Disconnected'
        then coalesce(n.step ->> 'kind', 'Temporary') end,
      status_history = n.steps, modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(s.ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    from (
      select d.subscription_id, r.steps, (
          select h.step from jsonb_array_elements(r.steps) with ordinality as h (step, place)
          where ${begun} order by h.place desc limit 1
        ) as step, (
          select min((h.step ->> 'fromDate')::date) from jsonb_array_elements(r.steps) as h (step)
          where not ${begun}
        ) as next_change_date
      from (${postedParts(tenantId, taken)}) p
      join subscriptions d on d.tenant_id = ${tenantId} and d.subscription_id = p.subscription_id
        and d.status <> 'Closed' and d.status_history -> -1 ->> 'reason' = ${oneTimeReason}
        and (d.status_history -> -1 ->> 'fromDate')::date = p.billed_to + 1
      cross join lateral (
        select (d.status_history - -1) || coalesce(d.status_history #> '{-1,planned}', '[]')
      ) as r (steps)
    ) n
    where s.tenant_id = ${tenantId} and s.subscription_id = n.subscription_id
  `.execute(tx);
}

/** What the bill before said, whether it was of the subscription alone or of several. */
async function restoreHistories(tx: Tx, tenantId: number, taken: TakenBack): Promise<void> {
  await sql`
    update usage_histories h
    set terms = h.terms[2:] || ${forgottenTerms(tenantId)},
      brought_forward = coalesce(e.brought_forward, 0), received = coalesce(e.received, 0),
      billed = case when h.billed is not null and h.terms[2] ->> 'isCancelled' is null then (
        select ${chargesOf(sql`n.number`, sql`t.start_date`)}
        from bills b
        ${withContents(tenantId)}
        join terms t on t.tenant_id = ${tenantId} and t.term_id = b.term_id
        cross join lateral (select ${ownNumber} offset 0) as n (number)
        where b.tenant_id = ${tenantId} and b.bill_id = e.bill_id
      ) end
    from (${postedParts(tenantId, taken)}) p
    left join lateral (
      select o.bill_id, o.brought_forward, o.received
      from (${postedBefore(tenantId)}) o
      where (o.billed_to, o.bill_id) < (p.billed_to, p.bill_id)
      order by o.billed_to desc, o.bill_id desc
      limit 1
    ) e on true
    where h.tenant_id = ${tenantId} and h.subscription_id = p.subscription_id
      and (h.terms[1] ->> 'termId')::bigint = p.term_id
  `.execute(tx);
}

/** All posted bills of the subscription of `p`. */
function postedBefore(tenantId: number): Sql {
  return sql`
    select b.bill_id, b.billed_to, b.arrears + b.bill_amount as brought_forward, b.received
    from bills b
    where b.tenant_id = ${tenantId} and b.subscription_id = p.subscription_id
      and b.status in ('Posted', 'Published')
    union all
    select b.bill_id, o.billed_to, o.arrears + o.amount, o.received
    from bill_parts o
    join bills b on b.tenant_id = ${tenantId} and b.bill_id = o.bill_id
      and b.status in ('Posted', 'Published')
    where o.tenant_id = ${tenantId} and o.subscription_id = p.subscription_id`;
}

/** Of a section of bill `b`. The number is the one of that time: it may have changed since. */
const ownNumber = sql`case when b.subscription_id is null then (
  select section ->> 'connectionNumber'
  from json_array_elements(k.document -> 'sections') section
  where (section ->> 'connectionID')::bigint = h.subscription_id
) end`;

export async function markUnposted(
  tx: Tx,
  tenantId: number,
  term: { termId: number; dueDate: string },
  stamp: Stamp,
): Promise<number> {
  const { count } = await sql`
    update bills
    set status = 'Draft', bill_number = null, payable = payable + wallet_applied,
      wallet_applied = 0, due_date = ${term.dueDate}::date, modified_at = ${stamp.at},
      modified_by = ${stamp.by},
      ts = greatest(ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId} and term_id = ${term.termId} and status = 'Posted'
  `.execute(tx);
  return count;
}
