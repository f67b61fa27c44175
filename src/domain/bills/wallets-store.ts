// What wallets pay when bills are posted: of each party the oldest bill first. All bills of a term
// fall due on one day, so the oldest is the one with the lowest id.
import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../base/db/pool.ts';
import type { Stamp } from '../ledger/store.ts';

export type WalletUse = { bill_id: number; party_id: number; applied: number };

/** A part of a term, by the ids of its bills. */
export type WalletPart = { termId: number; firstId: number; lastId: number };

/** Whether bills of party `p` are in other parts of the term as well. */
function isShared(tenantId: number, part: WalletPart): RawBuilder<unknown> {
  return sql`exists (
    select from bills o
    where o.tenant_id = ${tenantId} and o.party_id = p.party_id
      and o.bill_id not between ${part.firstId} and ${part.lastId}
      and o.term_id = ${part.termId} and o.status in ('Draft', 'Posted')
  )`;
}

/** What the parties in the select `funds` pay of the bills `b` that are meant. */
function payments(
  tenantId: number,
  isMeant: RawBuilder<unknown>,
  due: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    select bill_id, party_id, least(due, wallet_balance - (due_so_far - due))::bigint as applied
    from (
      select b.bill_id, b.party_id, ${due} as due, f.wallet_balance,
        sum(${due}) over (partition by b.party_id order by b.bill_id) as due_so_far
      from bills b
      join funds f on f.party_id = b.party_id
      where b.tenant_id = ${tenantId} and ${isMeant} and ${due} > 0
    ) owed
    where wallet_balance > due_so_far - due`;
}

/**
 * What wallets pay of bills that are posted together. Their parties stay locked, so that no two
 * parts spend the same money. Those with bills in other parts too are only named: which of their
 * bills is paid may not hang on which part comes first.
 */
export async function takeFromWallets(
  tx: Tx,
  tenantId: number,
  part: WalletPart,
  billIds: readonly number[],
): Promise<{ uses: WalletUse[]; shared: number[] }> {
  const due = sql`least(b.bill_amount, b.payable)`;
  const { rows } = await sql<Omit<WalletUse, 'bill_id'> & { bill_id: number | null }>`
    with wanted as materialized (
      select p.party_id, ${isShared(tenantId, part)} as is_shared
      from parties p
      where p.tenant_id = ${tenantId} and p.wallet_balance > 0 and p.party_id in (
        select party_id from bills
        where tenant_id = ${tenantId} and bill_id = any(${billIds}::bigint[])
      )
    ),
    funds as materialized (
      select party_id, wallet_balance from parties
      where tenant_id = ${tenantId} and wallet_balance > 0
        and party_id in (select party_id from wanted where not is_shared)
      order by party_id
      for no key update
    )
    ${payments(tenantId, sql`b.bill_id = any(${billIds}::bigint[])`, due)}
    union all
    select null, party_id, 0 from wanted where is_shared
    order by bill_id
  `.execute(tx);
  return {
    uses: rows.filter((row): row is WalletUse => row.bill_id !== null),
    shared: rows.flatMap((row) => (row.bill_id === null ? [row.party_id] : [])),
  };
}

/** The parties with money that a part which was posted before had to leave for later. */
export async function listShared(tx: Tx, tenantId: number, part: WalletPart): Promise<number[]> {
  const { rows } = await sql<{ party_id: number }>`
    select p.party_id
    from parties p
    where p.tenant_id = ${tenantId} and p.wallet_balance > 0 and p.party_id in (
        select party_id from bills
        where tenant_id = ${tenantId} and bill_id between ${part.firstId} and ${part.lastId}
          and term_id = ${part.termId} and status = 'Posted'
      ) and ${isShared(tenantId, part)}
  `.execute(tx);
  return rows.map((row) => row.party_id);
}

/** What the wallets of these parties pay of bills of the term that were posted in several parts. */
export async function settleShared(
  tx: Tx,
  tenantId: number,
  termId: number,
  partyIds: readonly number[],
  stamp: Stamp,
): Promise<WalletUse[]> {
  const isMeant = sql`b.party_id = any(${partyIds}::bigint[]) and b.term_id = ${termId}
    and b.status = 'Posted' and b.wallet_applied = 0`;
  const due = sql`least(b.bill_amount - b.paid_amount, b.payable)`;
  const { rows } = await sql<WalletUse>`
    with funds as materialized (
      select party_id, wallet_balance from parties
      where tenant_id = ${tenantId} and wallet_balance > 0
        and party_id = any(${partyIds}::bigint[])
      order by party_id
      for no key update
    ),
    used as materialized (${payments(tenantId, isMeant, due)})
    update bills b
    set wallet_applied = u.applied, payable = b.payable - u.applied,
      paid_amount = b.paid_amount + u.applied,
      payment_status = case when b.paid_amount + u.applied >= b.bill_amount then 'Paid'
        else 'PartiallyPaid' end,
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(b.ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    from used u
    where b.tenant_id = ${tenantId} and b.bill_id = u.bill_id
    returning b.bill_id, b.party_id, u.applied
  `.execute(tx);
  return rows.sort((a, b) => a.bill_id - b.bill_id);
}
