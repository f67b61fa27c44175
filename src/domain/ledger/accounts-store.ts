import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { takeNumbers } from '../tenants/numbers-store.ts';
import { type ContextType, ledgerAccounts, openItemsAccount } from './accounts.ts';

/** Where what is billed is booked: what is owed to the workspace, and what it owes. */
export const openItems = sql.raw(`(${ledgerAccounts.receivable}, ${ledgerAccounts.payable})`);

const contextTypes: readonly ContextType[] = ['Sale', 'Purchase', 'Payroll'];
/** Of those the one of a context `c`. */
export const openItemsOfContext = sql.raw(
  `case c.context_type ${contextTypes
    .map((type) => `when '${type}' then ${openItemsAccount(type)}`)
    .join(' ')} end`,
);

export type WantedAccount = {
  code: string;
  name: string;
  kind: 'Income' | 'Expense' | 'Liability';
};

/** Ids of accounts by code; accounts that do not exist yet are opened. */
export async function openAccounts(
  tx: Tx,
  tenantId: number,
  wanted: readonly WantedAccount[],
): Promise<Map<string, number>> {
  const known = await listAccountIds(tx, tenantId);
  const missing = wanted.filter(({ code }) => !known.has(code));
  for (const { code, name, kind } of missing) {
    if (known.has(code)) continue;
    const id = await takeNumbers(tx, tenantId, 'ledger-account', 1);
    const { rows } = await sql<{ ledger_account_id: number }>`
      insert into ledger_accounts (tenant_id, ledger_account_id, code, name, kind)
      values (${tenantId}, ${id}, ${code}, ${name}, ${kind})
      on conflict (tenant_id, code) do nothing
      returning ledger_account_id
    `.execute(tx);
    if (rows.length === 0) return openAccounts(tx, tenantId, wanted);
    known.set(code, id);
  }
  return known;
}

async function listAccountIds(tx: Tx, tenantId: number): Promise<Map<string, number>> {
  const { rows } = await sql<{ code: string; ledger_account_id: number }>`
    select code, ledger_account_id from ledger_accounts where tenant_id = ${tenantId}
  `.execute(tx);
  return new Map(rows.map((row) => [row.code, row.ledger_account_id]));
}

export type AccountRow = {
  ledger_account_id: number;
  code: string;
  name: string;
  kind: string;
  is_control: boolean;
};

/** The chart of accounts, which has some dozens. */
export async function listAccounts(tx: Tx, tenantId: number): Promise<AccountRow[]> {
  const { rows } = await sql<AccountRow>`
    select ledger_account_id, code, name, kind, is_control from ledger_accounts
    where tenant_id = ${tenantId}
    order by ledger_account_id
  `.execute(tx);
  return rows;
}

/** Returns false if no account has the code. */
export async function renameAccount(
  tx: Tx,
  tenantId: number,
  { code, name }: { code: string; name: string },
): Promise<boolean> {
  const { count } = await sql`
    update ledger_accounts set name = ${name}
    where tenant_id = ${tenantId} and code = ${code}
  `.execute(tx);
  return count > 0;
}

/** Returns the ids in the order of the accounts, or the codes that are taken. */
export async function insertAccounts(
  tx: Tx,
  tenantId: number,
  accounts: readonly { code: string; name: string; kind: string }[],
): Promise<{ ids: number[]; taken: Set<string> }> {
  // The counter is locked from here on, so that a code that is free stays free.
  const first = await takeNumbers(tx, tenantId, 'ledger-account', accounts.length);
  const known = await listAccountIds(tx, tenantId);
  const taken = new Set(accounts.map(({ code }) => code).filter((code) => known.has(code)));
  if (taken.size > 0) return { ids: [], taken };
  const rows = accounts.map((account, index) => ({ ...account, id: first + index }));
  await sql`
    insert into ledger_accounts (tenant_id, ledger_account_id, code, name, kind)
    select own.tenant_id, r.id, r.code, r.name, r.kind
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      id bigint, code text, name text, kind text
    )
  `.execute(tx);
  return { ids: rows.map((row) => row.id), taken };
}
