// The checks that hold in every workspace whatever happened, each as one question to the database:
// how much there is of something, and which of it is wrong.

import type { Tx } from '../../../base/db/pool.ts';
import { type Sql, sql } from '../../../base/db/sql.ts';
import { controlAccounts, ledgerAccounts } from '../../ledger/accounts.ts';
import { openItems, openItemsOfContext } from '../../ledger/accounts-store.ts';
import { openOfBill, openOfItem, openOfPart } from '../../ledger/open-amounts-store.ts';

export type Counts = { checked: number; wrong: number; examples: string[] };

/** Wrong ones that are named. */
const examplesMax = 5;

/** `checked` counts, `wrong` selects what fails the check as text in a column named `what`. */
export async function runCheck(
  tx: Tx,
  tenantId: number,
  question: { checked: Sql; wrong: Sql },
): Promise<Counts> {
  const { rows } = await sql<Counts>`
    with wrong as materialized (${question.wrong})
    select (${question.checked}) as checked, (select count(*) from wrong) as wrong,
      array(select what from wrong order by what limit ${examplesMax}) as examples
    from tenants where tenant_id = ${tenantId}
  `.execute(tx);
  return rows[0] ?? { checked: 0, wrong: 0, examples: [] };
}

const { receivable, advance, deposit, disputed, payable } = ledgerAccounts;
/** Amount of entry `n`, positive on the side on which a bill is booked. */
export const billedAmount = sql.raw(
  `(case n.ledger_account_id when ${payable} then -n.amount else n.amount end)`,
);

/** Of context `c`: where the workspace owes what it bills, balances are below zero. */
const sideOfContext = sql.raw(`case c.context_type when 'Sale' then 1 else -1 end`);

/** Every journal sums to zero, and its lines on customers' accounts are those of its entries. */
export function checkJournals(tx: Tx, tenantId: number): Promise<Counts> {
  return runCheck(tx, tenantId, {
    checked: sql`select count(*) from journals where tenant_id = ${tenantId}`,
    wrong: sql`
      select 'journal ' || journal_id as what from journal_lines
      where tenant_id = ${tenantId}
      group by journal_id having sum(amount) <> 0
      union all
      select 'journal ' || coalesce(l.journal_id, e.journal_id) || ' account '
        || coalesce(l.ledger_account_id, e.ledger_account_id)
      from (
        select journal_id, ledger_account_id, sum(amount) as amount from journal_lines
        where tenant_id = ${tenantId} and ledger_account_id in (${sql.join(controlAccounts)})
        group by journal_id, ledger_account_id
      ) l
      full join (
        select journal_id, ledger_account_id, sum(amount) as amount from subledger_entries
        where tenant_id = ${tenantId}
        group by journal_id, ledger_account_id
      ) e on e.journal_id = l.journal_id and e.ledger_account_id = l.ledger_account_id
      where coalesce(l.amount, 0) <> coalesce(e.amount, 0)`,
  });
}

/**
 * Subscriptions on bills and the days they were billed for. A cancelled bill that is not billed
 * again keeps its days; the days of one that is billed again are free; a bill without days has
 * none.
 */
function billedParts(tenantId: number): Sql {
  const rebilled = sql`left join credit_notes n on n.tenant_id = ${tenantId}
      and n.bill_id = b.bill_id and n.rebill_term_id is not null`;
  const isBilled = (part: 'b' | 'p') => {
    const [to, through] = [sql.ref(`${part}.billed_to`), sql.ref(`${part}.previously_billed_to`)];
    return sql`(b.status in ('Posted', 'Published') or (b.status = 'Cancelled'
      and n.credit_note_id is null and ${to} is distinct from ${through}))`;
  };
  return sql`
    select b.tenant_id, b.bill_id, b.subscription_id, b.previously_billed_to,
      b.billed_from, b.billed_to,
      b.days
    from bills b
    ${rebilled}
    where b.tenant_id = ${tenantId} and b.subscription_id is not null and ${isBilled('b')}
    union all
    select p.tenant_id, p.bill_id, p.subscription_id, p.previously_billed_to,
      null, p.billed_to, p.days
    from bills b
    join bill_parts p on p.tenant_id = ${tenantId} and p.bill_id = b.bill_id
    ${rebilled}
    where b.tenant_id = ${tenantId} and b.subscription_id is null and ${isBilled('p')}`;
}

/**
 * No billed unit has two live bills in a term, and no subscription once one of them is posted; of
 * no subscription a day is billed twice or left out between two bills; and each knows how far it is
 * billed.
 */
export function checkDays(tx: Tx, tenantId: number): Promise<Counts> {
  return runCheck(tx, tenantId, {
    checked: sql`select count(*) from (${billedParts(tenantId)}) p
      where p.tenant_id = ${tenantId}`,
    wrong: sql`
      select 'term ' || term_id || ' unit ' || unit_id as what from bills
      where tenant_id = ${tenantId} and status <> 'Cancelled'
      group by term_id, unit_id having count(*) > 1
      union all
      ${billedBeside(tenantId)}
      union all
      select 'bill ' || bill_id || ' of subscription ' || subscription_id
      from (
        select p.*, lag(billed_to) over w as before, row_number() over w as place
        from (${billedParts(tenantId)}) p
        window w as (
          partition by subscription_id order by billed_to, previously_billed_to nulls first, bill_id
        )
      ) q
      where billed_to < previously_billed_to or (billed_to = previously_billed_to and days > 0)
        or billed_from <= previously_billed_to
        or (place > 1 and previously_billed_to is distinct from before)
      union all
      select 'subscription ' || q.subscription_id
      from (
        select subscription_id, max(billed_to) as billed_to
        from (${billedParts(tenantId)}) p group by subscription_id
      ) q
      left join subscriptions s on s.tenant_id = ${tenantId}
        and s.subscription_id = q.subscription_id
      where s.billed_through is distinct from q.billed_to`,
  });
}

/**
 * Subscriptions of a term that are on two live bills, alone or with others. Until one is posted,
 * the draft of a former owner may exist until the term is generated again.
 */
function billedBeside(tenantId: number): Sql {
  return sql`
    select 'term ' || term_id || ' subscription ' || subscription_id
    from (
      select term_id, subscription_id, status from bills
      where tenant_id = ${tenantId} and status <> 'Cancelled' and subscription_id is not null
      union all
      select b.term_id, p.subscription_id, b.status
      from bills b
      join bill_parts p on p.tenant_id = ${tenantId} and p.bill_id = b.bill_id
      where b.tenant_id = ${tenantId} and b.status <> 'Cancelled'
    ) o
    group by term_id, subscription_id
    having count(*) > 1 and bool_or(status in ('Posted', 'Published'))`;
}

/** Stored balances are what the entries add up to. */
export function checkBalances(tx: Tx, tenantId: number): Promise<Counts> {
  return runCheck(tx, tenantId, {
    checked: sql`select count(*) from subscription_balances where tenant_id = ${tenantId}`,
    wrong: sql`
      select 'subscription ' || coalesce(b.subscription_id, e.subscription_id) || ' of party '
        || coalesce(b.party_id, e.party_id) as what
      from (select * from subscription_balances where tenant_id = ${tenantId}) b
      full join (
        select subscription_id, party_id,
          coalesce(sum(amount) filter (where ledger_account_id in ${openItems}), 0) as receivable,
          coalesce(-sum(amount) filter (where ledger_account_id = ${deposit}), 0) as deposit,
          coalesce(sum(amount) filter (where ledger_account_id = ${disputed}), 0) as disputed,
          coalesce(-sum(amount) filter (where is_payment and ledger_account_id in ${openItems}), 0)
            as received
        from subledger_entries
        where tenant_id = ${tenantId} and subscription_id is not null
        group by subscription_id, party_id
      ) e on e.subscription_id = b.subscription_id and e.party_id = b.party_id
      where (coalesce(b.receivable, 0), coalesce(b.deposit, 0), coalesce(b.disputed, 0),
          coalesce(b.received, 0))
        <> (coalesce(e.receivable, 0), coalesce(e.deposit, 0), coalesce(e.disputed, 0),
          coalesce(e.received, 0))
      union all
      ${balancesBesideItems(tenantId)}
      union all
      select 'wallet of party ' || coalesce(w.party_id, e.party_id)
      from (select * from party_wallets where tenant_id = ${tenantId}) w
      full join (
        select party_id, -sum(amount) as amount from subledger_entries
        where tenant_id = ${tenantId} and ledger_account_id = ${advance}
        group by party_id
      ) e on e.party_id = w.party_id
      where coalesce(w.balance, 0) <> coalesce(e.amount, 0)`,
  });
}

/** What is owed for a subscription is what is open on its bills and items. */
function balancesBesideItems(tenantId: number): Sql {
  return sql`
    select 'subscription ' || o.subscription_id || ' of party ' || o.party_id || ' has '
      || o.balance || ' and open items of ' || o.open
    from (
      select subscription_id, party_id, sum(balance) as balance, sum(open) as open
      from (
        select subscription_id, party_id, receivable as balance, 0 as open
        from subscription_balances where tenant_id = ${tenantId}
        union all
        select b.subscription_id, b.party_id, 0, ${openOfBill} * ${sideOfContext}
        from bills b
        join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = b.context_id
        where b.tenant_id = ${tenantId} and b.status in ('Posted', 'Published')
          and b.subscription_id is not null
        union all
        select p.subscription_id, b.party_id, 0, ${openOfPart} * ${sideOfContext}
        from bill_parts p
        join bills b on b.tenant_id = ${tenantId} and b.bill_id = p.bill_id
          and b.status in ('Posted', 'Published')
        join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = b.context_id
        where p.tenant_id = ${tenantId}
        union all
        select i.subscription_id, i.party_id, 0, ${openOfItem}
          * case i.ledger_account_id when ${payable} then -1 else 1 end
        from open_items i
        where i.tenant_id = ${tenantId} and i.subscription_id is not null
      ) both_sides
      group by subscription_id, party_id
    ) o
    where o.balance <> o.open`;
}

/**
 * Every bill with a number, also one that was cancelled since, is booked once, on each of its
 * subscriptions by one entry with the amount of that, where its context has its open items; every
 * other one not at all. What it says that a wallet paid was taken from one.
 */
export function checkEntries(tx: Tx, tenantId: number): Promise<Counts> {
  return runCheck(tx, tenantId, {
    checked: sql`select count(*) from bills
      where tenant_id = ${tenantId} and bill_number is not null`,
    wrong: sql`
      select distinct 'bill ' || coalesce(b.bill_id, e.bill_id) || ' posting '
        || coalesce(b.posting, e.posting) as what
      from (${bookedParts(tenantId)}) b
      full join (
        select n.bill_id, n.posting, n.subscription_id, n.party_id, n.ledger_account_id,
          sum(${billedAmount}) as amount, count(*) filter (where n.kind = 'Bill') as entries,
          count(*) filter (where n.kind = 'Reversal') as reversals
        from subledger_entries n
        left join (${reversalsOf(tenantId, 'Bills')}) r on r.journal_id = n.journal_id
        where n.tenant_id = ${tenantId} and n.bill_id is not null
          and n.ledger_account_id in ${openItems}
          and (n.kind = 'Bill' or (n.kind = 'Reversal' and r.journal_id is not null))
        group by n.bill_id, n.posting, n.subscription_id, n.party_id, n.ledger_account_id
      ) e on e.bill_id = b.bill_id and e.posting = b.posting
        and e.subscription_id = b.subscription_id and e.party_id = b.party_id
        and e.ledger_account_id = b.ledger_account_id
      where case when b.bill_id is null then e.amount <> 0 or e.entries <> e.reversals
        else coalesce(e.amount, 0) <> b.amount or coalesce(e.entries, 0) <> 1
          or e.reversals > 0 end
      union all
      select 'bill ' || b.bill_id || ' of several'
      from bills b
      left join (
        select bill_id, sum(amount) as amount from bill_parts
        where tenant_id = ${tenantId} group by bill_id
      ) p on p.bill_id = b.bill_id
      where b.tenant_id = ${tenantId} and b.bill_number is not null
        and b.subscription_id is null and b.bill_amount is distinct from p.amount
      union all
      select 'bill ' || b.bill_id || ' from a wallet'
      from bills b
      left join (
        select n.bill_id, -sum(n.amount) as amount
        from subledger_entries n
        left join (${reversalsOf(tenantId, 'Wallet')}) r on r.journal_id = n.journal_id
        left join journals j on j.tenant_id = ${tenantId} and j.journal_id = n.journal_id
          and j.source_type = 'Wallet' and j.term_id is not null
        where n.tenant_id = ${tenantId} and n.bill_id is not null
          and n.ledger_account_id = ${receivable} and n.kind in ('Wallet', 'Reversal')
          and coalesce(r.journal_id, j.journal_id) is not null
        group by n.bill_id
      ) e on e.bill_id = b.bill_id
      where b.tenant_id = ${tenantId} and b.wallet_applied <> coalesce(e.amount, 0)`,
  });
}

/** What bills have to be booked with, and where. */
function bookedParts(tenantId: number): Sql {
  return sql`
    select b.bill_id, b.posting, b.subscription_id, b.party_id, b.bill_amount as amount,
      o.ledger_account_id
    from bills b
    left join (${openItemsOfTerms(tenantId)}) o on o.term_id = b.term_id
    where b.tenant_id = ${tenantId} and b.bill_number is not null
      and b.subscription_id is not null
    union all
    select b.bill_id, b.posting, p.subscription_id, b.party_id, p.amount, o.ledger_account_id
    from bills b
    join bill_parts p on p.tenant_id = ${tenantId} and p.bill_id = b.bill_id
    left join (${openItemsOfTerms(tenantId)}) o on o.term_id = b.term_id
    where b.tenant_id = ${tenantId} and b.bill_number is not null
      and b.subscription_id is null`;
}

function openItemsOfTerms(tenantId: number): Sql {
  return sql`
    select t.term_id, ${openItemsOfContext} as ledger_account_id
    from terms t
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = t.context_id
    where t.tenant_id = ${tenantId}`;
}

/** Journals that take back what a run had booked. */
export function reversalsOf(tenantId: number, source: 'Bills' | 'Wallet'): Sql {
  return sql`
    select j.journal_id, j.term_id
    from journals j
    join journals o on o.tenant_id = ${tenantId} and o.journal_id = j.reverses_journal_id
    where j.tenant_id = ${tenantId} and o.source_type = ${source} and o.term_id is not null`;
}

/** Only published bills were sent, and each was sent once per request. */
export function checkDeliveries(tx: Tx, tenantId: number): Promise<Counts> {
  return runCheck(tx, tenantId, {
    checked: sql`select count(*) from deliveries where tenant_id = ${tenantId}`,
    wrong: sql`
      select 'bill ' || d.bill_id || ' by ' || d.channel as what
      from deliveries d
      join jobs j on j.tenant_id = ${tenantId} and j.job_id = d.job_id
      where d.tenant_id = ${tenantId} and d.status in ('Sent', 'Delivered')
      group by d.bill_id, d.channel,
        case when j.bill_id is not null or j.parameters @> '{"resend": true}' then j.job_id end
      having count(*) > 1
      union all
      select distinct 'bill ' || d.bill_id || ' is ' || b.status
      from deliveries d
      join bills b on b.tenant_id = ${tenantId} and b.bill_id = d.bill_id
      where d.tenant_id = ${tenantId} and b.status not in ('Published', 'Cancelled')`,
  });
}

/** The worker of a running job has a heartbeat; two minutes without one are too long. */
export function checkJobs(tx: Tx, tenantId: number, now: Temporal.Instant): Promise<Counts> {
  return runCheck(tx, tenantId, {
    checked: sql`select count(*) from jobs where tenant_id = ${tenantId}`,
    wrong: sql`
      select 'job ' || j.job_id as what from jobs j
      where j.tenant_id = ${tenantId} and j.status = 'Running'
        and j.started_at < ${now}::timestamptz - interval '2 minutes'
        and not exists (
          select from chunk_attempts a
          where a.tenant_id = ${tenantId} and a.job_id = j.job_id
            and a.seen_at > clock_timestamp() - interval '2 minutes'
        )`,
  });
}
