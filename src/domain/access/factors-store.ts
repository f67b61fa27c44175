import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

export type FactorRow = {
  secret: Buffer;
  confirmed_at: Temporal.Instant | null;
  last_step: number;
  recovery_hashes: string[];
};

/** Locked, so that a code is accepted once. */
export async function lockFactor(
  tx: Tx,
  tenantId: number,
  loginId: number,
): Promise<FactorRow | undefined> {
  const { rows } = await sql<FactorRow>`
    select secret, confirmed_at, last_step, recovery_hashes from login_factors
    where tenant_id = ${tenantId} and login_id = ${loginId}
    for no key update
  `.execute(tx);
  return rows[0];
}

/** Replaces one that was never confirmed. */
export async function insertFactor(
  tx: Tx,
  tenantId: number,
  factor: { loginId: number; secret: Buffer },
  at: Temporal.Instant,
): Promise<void> {
  await sql`
    insert into login_factors (tenant_id, login_id, secret, created_at)
    values (${tenantId}, ${factor.loginId}, ${factor.secret}, ${at})
    on conflict (tenant_id, login_id) do update
      set secret = excluded.secret, created_at = excluded.created_at
  `.execute(tx);
}

export async function confirmFactor(
  tx: Tx,
  tenantId: number,
  factor: { loginId: number; step: number; recoveryHashes: readonly string[] },
  at: Temporal.Instant,
): Promise<void> {
  await sql`
    update login_factors
    set confirmed_at = ${at}, last_step = ${factor.step},
      recovery_hashes = ${[...factor.recoveryHashes]}::text[]
    where tenant_id = ${tenantId} and login_id = ${factor.loginId}
  `.execute(tx);
}

export async function useStep(
  tx: Tx,
  tenantId: number,
  { loginId, step }: { loginId: number; step: number },
): Promise<void> {
  await sql`
    update login_factors set last_step = ${step}
    where tenant_id = ${tenantId} and login_id = ${loginId}
  `.execute(tx);
}

export async function useRecoveryHash(
  tx: Tx,
  tenantId: number,
  { loginId, hash }: { loginId: number; hash: string },
): Promise<void> {
  await sql`
    update login_factors set recovery_hashes = array_remove(recovery_hashes, ${hash}::text)
    where tenant_id = ${tenantId} and login_id = ${loginId}
  `.execute(tx);
}

/** False if the login had none. */
export async function deleteFactor(tx: Tx, tenantId: number, loginId: number): Promise<boolean> {
  const { count } = await sql`
    delete from login_factors where tenant_id = ${tenantId} and login_id = ${loginId}
  `.execute(tx);
  return count > 0;
}
