// Links that logins get by mail. Each is used once.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

export type LinkPurpose = 'Login' | 'Reset';

export async function insertLink(
  tx: Tx,
  tenantId: number,
  link: { hash: Buffer; loginId: number; purpose: LinkPurpose; expiresAt: Temporal.Instant },
  at: Temporal.Instant,
): Promise<void> {
  await sql`
    insert into login_links (tenant_id, token_hash, login_id, purpose, expires_at, created_at)
    values (${tenantId}, ${link.hash}, ${link.loginId}, ${link.purpose}, ${link.expiresAt}, ${at})
  `.execute(tx);
}

/** Whose link it is, if it can still be used. */
export async function findLinkOwner(
  tx: Tx,
  tenantId: number,
  { hash, purpose }: { hash: Buffer; purpose: LinkPurpose },
  at: Temporal.Instant,
): Promise<number | undefined> {
  const { rows } = await sql<{ login_id: number }>`
    select login_id from login_links
    where tenant_id = ${tenantId} and token_hash = ${hash} and purpose = ${purpose}
      and spent_at is null and expires_at > ${at}
  `.execute(tx);
  return rows[0]?.login_id;
}

/** Uses the link, and with it all others of its purpose; false if it was used before. */
export async function spendLink(
  tx: Tx,
  tenantId: number,
  { hash, purpose, loginId }: { hash: Buffer; purpose: LinkPurpose; loginId: number },
  at: Temporal.Instant,
): Promise<boolean> {
  const { count } = await sql`
    update login_links set spent_at = ${at}
    where tenant_id = ${tenantId} and token_hash = ${hash} and spent_at is null
      and expires_at > ${at}
  `.execute(tx);
  if (count === 0) return false;
  await sql`
    update login_links set spent_at = ${at}
    where tenant_id = ${tenantId} and login_id = ${loginId} and purpose = ${purpose}
      and spent_at is null
  `.execute(tx);
  return true;
}

/** Links that were requested since an instant and are not used. */
export async function countLinks(
  tx: Tx,
  tenantId: number,
  { loginId, since }: { loginId: number; since: Temporal.Instant },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from login_links
    where tenant_id = ${tenantId} and login_id = ${loginId} and created_at >= ${since}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}
