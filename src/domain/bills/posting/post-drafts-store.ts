// Drafts of a part of a term become posted bills.

import type { Tx } from '../../../base/db/pool.ts';
import { type Sql, sql } from '../../../base/db/sql.ts';
import type { Stamp } from '../../../base/stamp.ts';
import { beginHistories, extendedHistories } from './histories-store.ts';
import type { Numbered } from './post-store.ts';
import type { WalletUse } from './wallets-store.ts';

export type Posting = {
  bills: readonly Numbered[];
  seriesId: number;
  wallets: readonly WalletUse[];
  /** Of bills that are due when they are posted. */
  dueDate: string | null;
  /**
   * The ledger account of open items, and the side on which a bill is booked: 1 debit, -1 credit.
   */
  openItems: { accountId: number; side: 1 | -1 };
  journalId: number;
  firstEntry: number;
  postingDate: string;
  term: { termId: number; label: string; startDate: string; endDate: string };
  /** Whether the next bill compares what this one charged with what is known then. */
  keepsCharges: boolean;
  /** Whether some bills have several subscriptions. */
  isCombined: boolean;
  stamp: Stamp;
};

/**
 * Drafts become bills, each with a number, an entry and a place in the history of its subscription:
 * one statement, that reads and writes every bill once.
 */
export async function postDrafts(tx: Tx, tenantId: number, posting: Posting): Promise<void> {
  const { openItems, journalId, firstEntry, postingDate, stamp, isCombined } = posting;
  const counters = posting.bills.map((one) => one.seriesNumber);
  const { rows } = await sql<{ bills: number; parts: number; histories: number }>`
    with posted as (${markedPosted(tenantId, posting)}),
    parts as (
      select bill_id, subscription_id, bill_amount as amount from posted
      where subscription_id is not null
      ${isCombined ? sql`union all ${combinedParts(tenantId, posting)}` : sql``}
    ),
    entries as (
      insert into subledger_entries (tenant_id, entry_id, journal_id, ledger_account_id, party_id,
        subscription_id, kind, bill_id, posting, amount, posting_date, reference, created_at,
        created_by)
      select b.tenant_id, ${firstEntry - 1}::bigint + row_number() over
          (order by b.bill_id, b.subscription_id),
        ${journalId}::bigint, ${openItems.accountId}::bigint, b.party_id, b.subscription_id, 'Bill',
        b.bill_id, b.posting, b.amount * ${openItems.side}::bigint,
        ${postingDate}::date, b.bill_number, ${stamp.at}, ${stamp.by}
      from (${isCombined ? entriesOfParts : entriesOfBills}) b
      order by b.bill_id, b.subscription_id
    ),
    numbers as (
      insert into bill_numbers
        (tenant_id, bill_number, bill_id, term_id, series_id, series_number)
      select b.tenant_id, b.bill_number, b.bill_id, ${posting.term.termId}::bigint,
        ${posting.seriesId}::integer, (${counters}::bigint[])[${placeOf(posting)}]
      from posted b
    ),
    histories as (${extendedHistories(tenantId, posting)} returning h.subscription_id)
    select (select count(*) from posted) as bills, (select count(*) from parts) as parts,
      (select count(*) from histories) as histories
  `.execute(tx);
  const { bills, parts, histories } = rows[0] ?? { bills: 0, parts: 0, histories: 0 };
  if (bills !== posting.bills.length) {
    throw new Error(`${bills} of ${posting.bills.length} drafts were still there to be posted`);
  }
  const begun = histories < parts ? await beginHistories(tx, tenantId, posting) : 0;
  if (histories + begun !== parts) {
    throw new Error(`${histories} histories went on and ${begun} began, of ${parts} subscriptions`);
  }
}

const entriesOfBills = sql`
  select tenant_id, bill_id, subscription_id, bill_amount as amount, party_id, posting, bill_number
  from posted`;
const entriesOfParts = sql`
  select o.tenant_id, p.bill_id, p.subscription_id, p.amount, o.party_id, o.posting, o.bill_number
  from parts p
  join posted o on o.bill_id = p.bill_id`;

function combinedParts(tenantId: number, { bills }: Posting): Sql {
  return sql`
    select bill_id, subscription_id, amount from bill_parts
    where tenant_id = ${tenantId}
      and bill_id = any(${bills.map((one) => one.billId)}::bigint[])`;
}

/** Of bill `b` in the arrays, which are in the order of ids. */
function placeOf({ bills }: Posting): Sql {
  return sql`width_bucket(b.bill_id, ${bills.map((one) => one.billId)}::bigint[])`;
}

/**
 * Bills are numbered by their places in the arrays. Without the range PostgreSQL would sooner read
 * all bills of a small workspace than look up a thousand ids.
 */
function markedPosted(tenantId: number, posting: Posting): Sql {
  const { bills, wallets, dueDate, stamp } = posting;
  const ids = bills.map((one) => one.billId);
  const used = new Map(wallets.map((one) => [one.bill_id, one.applied]));
  const place = placeOf(posting);
  const applied =
    wallets.length === 0
      ? sql`0`
      : sql`(${ids.map((id) => used.get(id) ?? 0)}::bigint[])[${place}]`;
  const { keepsCharges } = posting;
  // An array of texts would be walked through for each of them.
  const numbers = JSON.stringify(bills.map((one) => one.number));
  return sql`
    update bills b
    set status = 'Posted', bill_number = ${numbers}::jsonb ->> (${place} - 1),
      posting = b.posting + 1, wallet_applied = ${applied}, payable = b.payable - ${applied},
      paid_amount = ${applied},
      payment_status = case when ${applied} >= b.bill_amount then 'Paid'
        when ${applied} > 0 then 'PartiallyPaid' else 'Unpaid' end,
      due_date = coalesce(${dueDate}::date, b.due_date),
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(b.ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where b.tenant_id = ${tenantId} and b.bill_id between ${ids[0]} and ${ids.at(-1)}
      and b.bill_id = any(${ids}::bigint[]) and b.status = 'Draft'
    returning b.tenant_id, b.bill_id, b.subscription_id, b.party_id, b.bill_amount, b.posting,
      b.bill_number, b.days, b.current_charges, b.arrears, b.entry_id,
      b.usage${keepsCharges ? sql`, b.billed_from, b.previously_billed_to` : sql``}`;
}
