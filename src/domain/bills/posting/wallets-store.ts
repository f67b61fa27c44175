// Lets wallets pay bills when these are posted, each party's oldest bill first. All bills of a term
// fall due on one day, so the oldest is the one with the lowest id. Parties and bills are looked up
// one by one: a join could be planned the wrong way round.

import type { Tx } from '../../../base/db/pool.ts';
import { sql } from '../../../base/db/sql.ts';
import type { Stamp } from '../../../base/stamp.ts';

export type WalletUse = { bill_id: number; party_id: number; applied: number };

/** A part of a term, by the ids of its bills. */
export type WalletChunk = { termId: number; firstId: number; lastId: number };

/** What is to be paid of a bill. */
type Owed = { bill_id: number; party_id: number; due: number };

/**
 * Takes from wallets what they pay of bills that are posted together. Their parties stay locked, so
 * that no two chunks spend the same money. Parties with bills in other chunks too are only listed:
 * which of their bills is paid must not depend on the order of chunks.
 */
export async function takeFromWallets(
  tx: Tx,
  tenantId: number,
  part: WalletChunk,
  drafts: readonly { bill_id: number; party_id: number }[],
): Promise<{ uses: WalletUse[]; shared: number[] }> {
  const all = [...new Set(drafts.map((draft) => draft.party_id))].sort((a, b) => a - b);
  const { rows: able } = await sql<{ party_id: number }>`
    select party_id from party_wallets
    where tenant_id = ${tenantId} and party_id = any(${all}::bigint[]) and balance > 0
  `.execute(tx);
  if (able.length === 0) return { uses: [], shared: [] };
  const partyIds = able.map((row) => row.party_id);
  const shared = await listSharing(tx, tenantId, part, partyIds);
  const isShared = new Set(shared);
  const alone = partyIds.filter((partyId) => !isShared.has(partyId));
  const funds = await lockFunds(tx, tenantId, alone);
  const paid = drafts.filter((draft) => funds.has(draft.party_id)).map((draft) => draft.bill_id);
  const { rows: owed } = await sql<Owed>`
    select bill_id, party_id, least(bill_amount, payable) as due from bills
    where tenant_id = ${tenantId} and bill_id = any(${paid}::bigint[])
    order by bill_id
  `.execute(tx);
  return { uses: spend(funds, owed), shared };
}

/** Parties with wallet money whose bills an earlier chunk left to the end of the step. */
export async function listShared(tx: Tx, tenantId: number, part: WalletChunk): Promise<number[]> {
  const { rows } = await sql<{ party_id: number }>`
    select distinct b.party_id
    from bills b
    cross join lateral (
      select from party_wallets
      where tenant_id = ${tenantId} and party_id = b.party_id and balance > 0
      offset 0
    ) p
    where b.tenant_id = ${tenantId} and b.bill_id between ${part.firstId} and ${part.lastId}
      and b.term_id is not distinct from ${part.termId} and b.status = 'Posted'
  `.execute(tx);
  const partyIds = rows.map((row) => row.party_id);
  return partyIds.length === 0 ? [] : listSharing(tx, tenantId, part, partyIds);
}

/** Those of the parties with bills in other parts of the term as well. */
async function listSharing(
  tx: Tx,
  tenantId: number,
  part: WalletChunk,
  partyIds: readonly number[],
): Promise<number[]> {
  const { rows } = await sql<{ party_id: number }>`
    select w.party_id
    from unnest(${partyIds}::bigint[]) as w (party_id)
    cross join lateral (
      select count(*) as bills from bills
      where tenant_id = ${tenantId} and party_id = w.party_id
        and bill_id not between ${part.firstId} and ${part.lastId}
        and term_id is not distinct from ${part.termId} and status in ('Draft', 'Posted')
    ) o
    where o.bills > 0
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
  const funds = await lockFunds(tx, tenantId, partyIds);
  const { rows: owed } = await sql<Owed>`
    select b.bill_id, b.party_id, least(b.bill_amount - b.paid_amount, b.payable) as due
    from unnest(${[...funds.keys()]}::bigint[]) as w (party_id)
    cross join lateral (
      select bill_id, party_id, bill_amount, paid_amount, payable from bills
      where tenant_id = ${tenantId} and party_id = w.party_id
        and term_id is not distinct from ${termId} and status = 'Posted' and wallet_applied = 0
      offset 0
    ) b
    order by b.bill_id
  `.execute(tx);
  const uses = spend(funds, owed);
  const ids = uses.map((use) => use.bill_id);
  await sql`
    update bills b
    set wallet_applied = u.applied, payable = b.payable - u.applied,
      modified_at = ${stamp.at}, modified_by = ${stamp.by},
      ts = greatest(b.ts + 1, ${stamp.at.epochMilliseconds}::bigint)
    from unnest(${ids}::bigint[], ${uses.map((use) => use.applied)}::bigint[])
      as u (bill_id, applied)
    where b.tenant_id = ${tenantId} and b.bill_id = u.bill_id
  `.execute(tx);
  return uses;
}

/** What is in the wallets, by party. In one order, so that two postings do not wait in a circle. */
async function lockFunds(
  tx: Tx,
  tenantId: number,
  partyIds: readonly number[],
): Promise<Map<number, number>> {
  const { rows } = await sql<{ party_id: number; balance: number }>`
    select party_id, balance from party_wallets
    where tenant_id = ${tenantId} and party_id = any(${partyIds}::bigint[]) and balance > 0
    order by party_id
    for no key update
  `.execute(tx);
  return new Map(rows.map((row) => [row.party_id, row.balance]));
}

/** Pays one bill after the other, until the wallet of its party is empty. */
function spend(funds: Map<number, number>, owed: readonly Owed[]): WalletUse[] {
  return owed.flatMap(({ bill_id, party_id, due }) => {
    const left = funds.get(party_id) ?? 0;
    const applied = Math.min(left, due);
    if (applied <= 0) return [];
    funds.set(party_id, left - applied);
    return [{ bill_id, party_id, applied }];
  });
}
