// Token -> principal. The tenant comes from the token; the host name only has to agree with it.
import type { Opening } from '../base/db/pool.ts';
import { AppError } from '../base/errors.ts';
import { tenantOfToken, tokenHash } from '../base/secrets.ts';
import { isAllowed } from '../domain/access/addresses.ts';
import { permissionsOf } from '../domain/access/roles.ts';
import type { Access, Principal } from '../operations/operation.ts';

/** `hash` is hexadecimal: it is also the key by which this process knows the token. */
export type Token = { tenantId: number; hash: string };

export function readToken(authorization: string | undefined): Token {
  if (authorization === undefined || authorization === '') throw new AppError('TOKEN_MISSING');
  const tenantId = tenantOfToken(authorization);
  if (tenantId !== undefined) return { tenantId, hash: tokenHash(authorization) };
  if (/^bearer\s/i.test(authorization)) throw new AppError('BEARER_PREFIX_NOT_USED');
  throw new AppError('TOKEN_INVALID');
}

/** Refuses a call that has no token, or none that could be one, before anything is done for it. */
export function assertTokenForm(authorization: string | undefined): void {
  if (tenantOfToken(authorization ?? '') === undefined) readToken(authorization);
}

/** One row of enter_call(): the workspace, and the token's session and principal if it has any. */
export type EnteredRow = {
  access_epoch: number;
  tenant_status: 'Active' | 'Suspended';
  timezone: string;
  currency: string;
  currency_decimals: number;
  clock_offset_ms: number;
  idle_seconds: number | null;
  token_expires_at: Temporal.Instant | null;
  token_spent_at: Temporal.Instant | null;
  session_id: string | null;
  session_used_at: Temporal.Instant | null;
  session_revoked_at: Temporal.Instant | null;
  principal_kind: 'Login' | 'Client' | null;
  principal_id: number | null;
  principal_name: string | null;
  principal_status: 'ACTIVE' | 'INACTIVE' | null;
  principal_expires_at: Temporal.Instant | null;
  roles: string[] | null;
  party_id: number | null;
  allowed_addresses: string[] | null;
};

/** Opens a call's transaction: sets the tenant and finds the token's principal. */
export function enterCall(tenantId: number, token: Token | null): Opening {
  const hash = token && Buffer.from(token.hash, 'hex');
  return { text: 'select * from enter_call($1, $2)', values: [tenantId, hash], tenantId };
}

/**
 * The cheaper opening, for a token whose row is cached: returns the epoch that the row must have.
 */
export function enterTenant(tenantId: number): Opening {
  return { text: 'select enter_tenant($1) as access_epoch', values: [tenantId], tenantId };
}

/**
 * What this process knows of tokens. A row is good only in the transaction that finds the
 * workspace's epoch unchanged, so a revoked token, a changed role or a suspended workspace is felt
 * by the very next call, in every process.
 */
export class KnownTokens {
  readonly #rows = new Map<string, EnteredRow>();
  /** Hashes of tokens that this process issued and that were not used yet. */
  readonly #issued = new Set<string>();

  /** Whether the token is known to have been issued, though it may have ended since. */
  has({ hash }: Token): boolean {
    return this.#rows.has(hash) || this.#issued.has(hash);
  }

  expect(token: string): void {
    this.#issued.add(tokenHash(token));
    if (this.#issued.size > knownTokensMax) dropOldest(this.#issued);
  }

  get(token: Token): EnteredRow | undefined {
    return this.#rows.get(token.hash);
  }

  keep(token: Token, row: EnteredRow): void {
    // Where sessions may lie idle only so long, the time of the last use must be read each time.
    if (!row.session_id || row.idle_seconds !== null) return;
    this.#rows.delete(token.hash);
    this.#rows.set(token.hash, row);
    this.#issued.delete(token.hash);
    if (this.#rows.size > knownTokensMax) dropOldest(this.#rows);
  }
}

const knownTokensMax = 10_000;

function dropOldest(kept: Map<string, unknown> | Set<string>): void {
  const oldest = kept.keys().next().value;
  if (oldest !== undefined) kept.delete(oldest);
}

export function principalOf(
  row: EnteredRow | undefined,
  request: { address: string; realNow: Temporal.Instant },
): Principal {
  if (!row?.token_expires_at || !row.session_id || row.principal_id === null) {
    throw new AppError('TOKEN_INVALID');
  }
  const nowMs = request.realNow.epochMilliseconds;
  const isPast = (instant: Temporal.Instant) => instant.epochMilliseconds <= nowMs;
  if (row.session_revoked_at || row.token_spent_at || row.principal_status !== 'ACTIVE') {
    throw new AppError('TOKEN_REVOKED');
  }
  if (isPast(row.token_expires_at)) throw new AppError('TOKEN_EXPIRED');
  if (row.principal_expires_at && isPast(row.principal_expires_at)) {
    throw new AppError('TOKEN_EXPIRED');
  }
  if (row.idle_seconds !== null && row.session_used_at) {
    if (isPast(row.session_used_at.add({ seconds: row.idle_seconds }))) {
      throw new AppError('TOKEN_EXPIRED', { message: 'The session was idle for too long' });
    }
  }
  if (row.allowed_addresses && !isAllowed(request.address, row.allowed_addresses)) {
    throw new AppError('PERMISSION_DENIED', {
      message: 'This API client may not call from this address',
    });
  }
  const roles = row.roles ?? [];
  return {
    kind: row.principal_kind ?? 'Login',
    id: row.principal_id,
    name: row.principal_name ?? '',
    roles,
    permissions: permissionsOf(roles),
    partyId: row.party_id,
    sessionId: row.session_id,
  };
}

/** Whether the principal may call, and if only for its own party, which one that is. */
export function authorize(access: Access, principal: Principal): { ownPartyId: number | null } {
  if (access === 'login' && principal.kind !== 'Login') {
    throw new AppError('PERMISSION_DENIED', {
      message: 'An API client may not do this; log in as a person',
    });
  }
  if (typeof access === 'string') return { ownPartyId: null };
  if (principal.permissions.has(access.permission)) return { ownPartyId: null };
  const own = access.own !== undefined && principal.permissions.has(access.own);
  if (!own || principal.partyId === null) {
    throw new AppError('PERMISSION_DENIED', {
      message: `The login needs the permission ${access.permission}`,
    });
  }
  return { ownPartyId: principal.partyId };
}
