import { rethrowViolation } from '../../base/db/faults.ts';
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import { isReferenced } from './batches-store.ts';
import type { BankAccount, PaymentCode } from './context.ts';

export type BankAccountRow = {
  bank_account_id: number;
  title: string;
  bank_name: string | null;
  branch: string | null;
  account_number: string | null;
  iban: string | null;
  swift: string | null;
  currency: string | null;
  is_default: boolean;
  collection_code: string | null;
  payment_code: PaymentCode | null;
  archived: boolean;
};

export async function listBankAccounts(
  tx: Tx,
  tenantId: number,
  contextId: number,
): Promise<BankAccountRow[]> {
  const { rows } = await sql<BankAccountRow>`
    select bank_account_id, title, bank_name, branch, account_number, iban, swift, currency,
      is_default, collection_code, payment_code, archived
    from bank_accounts
    where tenant_id = ${tenantId} and context_id = ${contextId}
    order by bank_account_id
  `.execute(tx);
  return rows;
}

/** A bank account as bills show it. */
export type PresentedBankAccount = {
  title: string;
  bankName: string | null;
  branch: string | null;
  accountNumber: string | null;
  iban: string | null;
  swift: string | null;
  currency: string | null;
  isDefault: number;
  collectionCode: string | null;
  /** Missing in settings that were frozen before there were such codes. */
  paymentCode?: PaymentCode | null;
};

/** Those that bills show. */
export function presentBankAccounts(rows: readonly BankAccountRow[]): PresentedBankAccount[] {
  return rows
    .filter((row) => !row.archived)
    .map((row) => ({
      title: row.title,
      bankName: row.bank_name,
      branch: row.branch,
      accountNumber: row.account_number,
      iban: row.iban,
      swift: row.swift,
      currency: row.currency,
      isDefault: row.is_default ? 1 : 0,
      collectionCode: row.collection_code,
      paymentCode: row.payment_code,
    }));
}

export async function saveBankAccounts(
  tx: Tx,
  tenantId: number,
  contextId: number,
  accounts: readonly (BankAccount & { id: number })[],
): Promise<void> {
  if (accounts.length === 0) return;
  const rows = accounts.map((account) => ({
    bank_account_id: account.id,
    title: account.title,
    bank_name: account.bankName,
    branch: account.branch,
    account_number: account.accountNumber,
    iban: account.iban,
    swift: account.swift,
    currency: account.currency,
    is_default: account.isDefault,
    collection_code: account.collectionCode,
    payment_code: account.paymentCode,
    archived: account.archived,
  }));
  await sql`
    insert into bank_accounts (
      tenant_id, bank_account_id, context_id, title, bank_name, branch, account_number, iban,
      swift, currency, is_default, collection_code, payment_code, archived
    )
    select own.tenant_id, r.bank_account_id, ${contextId}, r.title, r.bank_name, r.branch,
      r.account_number, r.iban, r.swift, r.currency, r.is_default, r.collection_code,
      r.payment_code, r.archived
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (
      bank_account_id bigint, title text, bank_name text, branch text, account_number text,
      iban text, swift text, currency text, is_default boolean, collection_code text,
      payment_code jsonb, archived boolean
    )
    on conflict (tenant_id, bank_account_id) do update
    set title = excluded.title, bank_name = excluded.bank_name, branch = excluded.branch,
      account_number = excluded.account_number, iban = excluded.iban, swift = excluded.swift,
      currency = excluded.currency, is_default = excluded.is_default,
      collection_code = excluded.collection_code, payment_code = excluded.payment_code,
      archived = excluded.archived
  `
    .execute(tx)
    .catch((error) =>
      rethrowViolation(error, {
        bank_accounts_title_key: () =>
          new AppError('DUPLICATE', {
            message: 'Two bank accounts have one title',
            field: 'service.bankAccounts',
          }),
      }),
    );
}

export async function deleteBankAccounts(
  tx: Tx,
  tenantId: number,
  ids: readonly number[],
): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    delete from bank_accounts
    where tenant_id = ${tenantId} and bank_account_id = any(${ids}::bigint[])
  `
    .execute(tx)
    .catch((error) => {
      if (!isReferenced(error)) throw error;
      throw new AppError('IN_USE', {
        message: 'Payments name a bank account that is left out; archive it instead',
        field: 'service.bankAccounts',
        cause: error,
      });
    });
}
