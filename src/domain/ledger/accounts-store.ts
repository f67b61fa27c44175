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
