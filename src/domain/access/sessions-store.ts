import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

export type Owner = { loginId: number } | { clientNumber: number };

export async function insertSession(
  tx: Tx,
  tenantId: number,
  session: { sessionId: string; owner: Owner; address: string; at: Temporal.Instant },
): Promise<void> {
  const loginId = 'loginId' in session.owner ? session.owner.loginId : null;
  const clientNumber = 'clientNumber' in session.owner ? session.owner.clientNumber : null;
  await sql`
    insert into sessions (
      tenant_id, session_id, login_id, client_number, address, created_at, used_at
    )
    values (
      ${tenantId}, ${session.sessionId}, ${loginId}, ${clientNumber}, ${session.address},
      ${session.at}, ${session.at}
    )
  `.execute(tx);
}

export type TokenFacts = {
  hash: Buffer;
  kind: 'access' | 'refresh';
  expiresAt: Temporal.Instant;
};

export async function insertTokens(
  tx: Tx,
  tenantId: number,
  sessionId: string,
  tokens: readonly TokenFacts[],
): Promise<void> {
  await sql`
    insert into tokens (tenant_id, token_hash, session_id, kind, expires_at)
    select own.tenant_id, r.token_hash, ${sessionId}, r.kind, r.expires_at
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join unnest(
      ${tokens.map((token) => token.hash)}::bytea[],
      ${tokens.map((token) => token.kind)}::text[],
      ${tokens.map((token) => token.expiresAt.toString())}::timestamptz[]
    ) as r (token_hash, kind, expires_at)
  `.execute(tx);
}

export type RefreshTokenRow = {
  session_id: string;
  expires_at: Temporal.Instant;
  spent_at: Temporal.Instant | null;
  successor: Buffer | null;
  used_at: Temporal.Instant;
  revoked_at: Temporal.Instant | null;
  login_id: number | null;
};

/** Locks the token and its session: of two refreshes at once, the second finds the token spent. */
export async function lockRefreshToken(
  tx: Tx,
  tenantId: number,
  hash: Buffer,
): Promise<RefreshTokenRow | undefined> {
  const { rows } = await sql<RefreshTokenRow>`
    select k.session_id, k.expires_at, k.spent_at, k.successor, s.used_at, s.revoked_at, s.login_id
    from tokens k
    join sessions s on s.tenant_id = ${tenantId} and s.session_id = k.session_id
    where k.tenant_id = ${tenantId} and k.token_hash = ${hash} and k.kind = 'refresh'
    for update of k, s
  `.execute(tx);
  return rows[0];
}

/** Ends every token of a session that is still good: they are replaced by new ones. */
export async function spendTokens(
  tx: Tx,
  tenantId: number,
  sessionId: string,
  at: Temporal.Instant,
): Promise<void> {
  await sql`
    update tokens set spent_at = ${at}
    where tenant_id = ${tenantId} and session_id = ${sessionId} and spent_at is null
  `.execute(tx);
}

/** Access tokens of a session end at that moment at the latest. */
export async function endAccessAt(
  tx: Tx,
  tenantId: number,
  sessionId: string,
  at: Temporal.Instant,
): Promise<void> {
  await sql`
    update tokens set expires_at = ${at}
    where tenant_id = ${tenantId} and session_id = ${sessionId} and kind = 'access'
      and spent_at is null and expires_at > ${at}
  `.execute(tx);
}

/** The refresh token of a browser is spent and keeps its successor. */
export async function spendCookie(
  tx: Tx,
  tenantId: number,
  spent: { hash: Buffer; successor: Buffer; at: Temporal.Instant },
): Promise<void> {
  await sql`
    update tokens set spent_at = ${spent.at}, successor = ${spent.successor}
    where tenant_id = ${tenantId} and token_hash = ${spent.hash}
  `.execute(tx);
}

export async function revokeSession(
  tx: Tx,
  tenantId: number,
  sessionId: string,
  revocation: { at: Temporal.Instant; reason: string },
): Promise<void> {
  await sql`
    update sessions set revoked_at = ${revocation.at}, revoked_reason = ${revocation.reason}
    where tenant_id = ${tenantId} and session_id = ${sessionId} and revoked_at is null
  `.execute(tx);
}

/** Everybody who came in as this login or client is out at once. */
export async function revokeSessionsOf(
  tx: Tx,
  tenantId: number,
  owner: Owner,
  revocation: { at: Temporal.Instant; reason: string },
): Promise<void> {
  const owned =
    'loginId' in owner
      ? sql`login_id = ${owner.loginId}`
      : sql`client_number = ${owner.clientNumber}`;
  await sql`
    update sessions set revoked_at = ${revocation.at}, revoked_reason = ${revocation.reason}
    where tenant_id = ${tenantId} and ${owned} and revoked_at is null
  `.execute(tx);
}

/** As revokeSessionsOf, except for the session of the caller. */
export async function revokeOtherSessions(
  tx: Tx,
  tenantId: number,
  loginId: number,
  keptSessionId: string,
  revocation: { at: Temporal.Instant; reason: string },
): Promise<void> {
  await sql`
    update sessions set revoked_at = ${revocation.at}, revoked_reason = ${revocation.reason}
    where tenant_id = ${tenantId} and login_id = ${loginId} and session_id <> ${keptSessionId}
      and revoked_at is null
  `.execute(tx);
}

/** Remembers that a session is in use; only asked for where a workspace has an idle limit. */
export async function touchSession(
  tx: Tx,
  tenantId: number,
  sessionId: string,
  at: Temporal.Instant,
): Promise<void> {
  await sql`
    update sessions set used_at = ${at}
    where tenant_id = ${tenantId} and session_id = ${sessionId} and used_at < ${at}
  `.execute(tx);
}

export type LoginFailures = { failures: number; locked_until: Temporal.Instant | null };

export async function findLoginFailures(
  tx: Tx,
  tenantId: number,
  nameHash: Buffer,
  options: { lock: boolean },
): Promise<LoginFailures | undefined> {
  const { rows } = await sql<LoginFailures>`
    select failures, locked_until from login_failures
    where tenant_id = ${tenantId} and name_hash = ${nameHash}
    ${options.lock ? sql`for update` : sql``}
  `.execute(tx);
  return rows[0];
}

/** Counts a failure; the count starts again after a lock has passed. */
export async function countLoginFailure(
  tx: Tx,
  tenantId: number,
  nameHash: Buffer,
  rule: { at: Temporal.Instant; failuresMax: number; lockedUntil: Temporal.Instant },
): Promise<LoginFailures> {
  const { rows } = await sql<LoginFailures>`
    insert into login_failures as f (tenant_id, name_hash, failures, failed_at, locked_until)
    values (${tenantId}, ${nameHash}, 1, ${rule.at}, null)
    on conflict (tenant_id, name_hash) do update
    set failures = case when f.locked_until <= ${rule.at} then 1 else f.failures + 1 end,
      failed_at = ${rule.at},
      locked_until = case
        when f.locked_until > ${rule.at} then f.locked_until
        when f.locked_until is null and f.failures + 1 >= ${rule.failuresMax}
          then ${rule.lockedUntil}::timestamptz
      end
    returning failures, locked_until
  `.execute(tx);
  const row = rows[0];
  if (!row) throw new Error('no failure row');
  return row;
}

export async function clearLoginFailures(
  tx: Tx,
  tenantId: number,
  nameHash: Buffer,
): Promise<void> {
  await sql`
    delete from login_failures where tenant_id = ${tenantId} and name_hash = ${nameHash}
  `.execute(tx);
}

/** Removes what can no longer be used. Returns how many rows went. */
export async function deleteExpired(
  tx: Tx,
  tenantId: number,
  before: { tokens: Temporal.Instant; failures: Temporal.Instant; answers: Temporal.Instant },
): Promise<{ sessions: number; tokens: number; failures: number; answers: number }> {
  const tokens = await sql`
    delete from tokens where tenant_id = ${tenantId} and expires_at < ${before.tokens}
  `.execute(tx);
  const sessions = await sql`
    delete from sessions s
    where s.tenant_id = ${tenantId} and s.created_at < ${before.tokens}
      and not exists (select from tokens k
        where k.tenant_id = ${tenantId} and k.session_id = s.session_id)
  `.execute(tx);
  await sql`
    delete from login_links where tenant_id = ${tenantId} and expires_at < ${before.tokens}
  `.execute(tx);
  const failures = await sql`
    delete from login_failures where tenant_id = ${tenantId} and failed_at < ${before.failures}
  `.execute(tx);
  const answers = await sql`
    delete from idempotency_keys where tenant_id = ${tenantId} and expires_at < ${before.answers}
  `.execute(tx);
  return {
    sessions: sessions.count,
    tokens: tokens.count,
    failures: failures.count,
    answers: answers.count,
  };
}
