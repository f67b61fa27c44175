// Drafts of a part of a term become posted bills.

import type { Tx } from '../../../base/db/pool.ts';
import { type Sql, sql } from '../../../base/db/sql.ts';
import type { Stamp } from '../../../base/stamp.ts';
import { beginHistories, extendHistories } from './histories-store.ts';
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
 * Drafts become bills, each with a number, an entry and a place in the history of its subscription.
 * The statements travel together. Each of the later ones reads the bills that the first has posted.
 */
export async function postDrafts(tx: Tx, tenantId: number, posting: Posting): Promise<void> {
  const [posted, entries, , histories] = await Promise.all([
    markPosted(tx, tenantId, posting),
    insertEntries(tx, tenantId, posting),
    insertNumbers(tx, tenantId, posting),
    extendHistories(tx, tenantId, posting),
  ]);
  if (posted !== posting.bills.length) {
    throw new Error(`${posted} of ${posting.bills.length} drafts were still there to be posted`);
  }
  const begun = histories < entries ? await beginHistories(tx, tenantId, posting) : 0;
  if (histories + begun !== entries) {
    throw new Error(
      `${histories} histories went on and ${begun} began, of ${entries} subscriptions`,
    );
  }
}

/** One entry for each subscription of each bill. */
async function insertEntries(tx: Tx, tenantId: number, posting: Posting): Promise<number> {
  const { openItems, journalId, firstEntry, postingDate, stamp, isCombined } = posting;
  const { count } = await sql`
    insert into subledger_entries (tenant_id, entry_id, journal_id, ledger_account_id, party_id,
      subscription_id, kind, bill_id, posting, amount, posting_date, due_date, reference,
      created_at, created_by)
    select e.tenant_id, ${firstEntry - 1}::bigint + row_number() over
        (order by e.bill_id, e.subscription_id),
      ${journalId}::bigint, ${openItems.accountId}::bigint, e.party_id, e.subscription_id, 'Bill',
      e.bill_id, e.posting, e.amount * ${openItems.side}::bigint,
      ${postingDate}::date, e.due_date, e.bill_number, ${stamp.at}, ${stamp.by}
    from (
      select b.tenant_id, b.bill_id, b.subscription_id, b.bill_amount as amount, b.party_id,
        b.posting, b.due_date, b.bill_number
      from bills b
      where ${isOfPosting(tenantId, posting)} and b.subscription_id is not null
      ${isCombined ? sql`union all ${combinedParts(tenantId, posting)}` : sql``}
    ) e
    order by e.bill_id, e.subscription_id
  `.execute(tx);
  return count;
}

function combinedParts(tenantId: number, posting: Posting): Sql {
  return sql`
    select b.tenant_id, p.bill_id, p.subscription_id, p.amount, b.party_id, b.posting,
      b.due_date, b.bill_number
    from bills b
    join bill_parts p on p.tenant_id = ${tenantId} and p.bill_id = b.bill_id
    where ${isOfPosting(tenantId, posting)}`;
}

async function insertNumbers(tx: Tx, tenantId: number, posting: Posting): Promise<void> {
  const counters = posting.bills.map((one) => one.seriesNumber);
  await sql`
    insert into bill_numbers (tenant_id, bill_number, bill_id, term_id, series_id, series_number)
    select b.tenant_id, b.bill_number, b.bill_id, ${posting.term.termId}::bigint,
      ${posting.seriesId}::integer, (${counters}::bigint[])[${placeOf(posting)}]
    from bills b
    where ${isOfPosting(tenantId, posting)}
  `.execute(tx);
}

/**
 * Bill `b` is one of the posting. Without the range PostgreSQL would sooner read all bills of a
 * small workspace than look up a thousand ids.
 */
function isOfPosting(tenantId: number, { bills }: Posting): Sql {
  const ids = bills.map((one) => one.billId);
  return sql`b.tenant_id = ${tenantId} and b.bill_id between ${ids[0]} and ${ids.at(-1)}
      and b.bill_id = any(${ids}::bigint[])`;
}

/** Of bill `b` in the arrays, which are in the order of ids. */
function placeOf({ bills }: Posting): Sql {
  return sql`width_bucket(b.bill_id, ${bills.map((one) => one.billId)}::bigint[])`;
}

/** Bills are numbered by their places in the arrays. */
async function markPosted(tx: Tx, tenantId: number, posting: Posting): Promise<number> {
  const { bills, wallets, dueDate, stamp } = posting;
  const ids = bills.map((one) => one.billId);
  const used = new Map(wallets.map((one) => [one.bill_id, one.applied]));
  const place = placeOf(posting);
  const applied =
    wallets.length === 0
      ? sql`0`
      : sql`coalesce((${ids.map((id) => used.get(id) ?? 0)}::bigint[])[${place}], 0)`;
  // An array of texts would be walked through for each of them.
  const numbers = JSON.stringify(bills.map((one) => one.number));
  const { count } = await sql`
    update bills b
    set status = 'Posted', bill_number = ${numbers}::jsonb ->> (${place} - 1),
      posting = b.posting + 1, wallet_applied = ${applied}, payable = b.payable - ${applied},
      due_date = coalesce(${dueDate}::date, b.due_date),
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(b.ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    where ${isOfPosting(tenantId, posting)} and b.status = 'Draft'
  `.execute(tx);
  return count;
}
