// Opening, renewing and ending a session, and the rules of failed logins.
import { createHash, randomUUID } from 'node:crypto';
import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import { hashToken, newToken, sealWith, unsealWith } from '../../base/secrets.ts';
import {
  countLoginFailure,
  endAccessAt,
  findLoginFailures,
  insertSession,
  insertTokens,
  lockRefreshToken,
  type Owner,
  revokeSession,
  spendCookie,
  spendTokens,
  touchSession,
} from './sessions-store.ts';

/** One shift for people; a day for machines; a month to renew without the password. */
const personSeconds = 8 * 3600;
const clientSeconds = 24 * 3600;
const refreshSeconds = 30 * 24 * 3600;

/** Two tabs of a browser may send one cookie at once. */
const sameSuccessorSeconds = 10;
/** Calls of other tabs are under way with the old access token. */
const oldAccessSeconds = 60;

const failuresMax = 10;
const lockMinutes = 15;

export type Issued = {
  accessToken: string;
  expiresIn: number;
  expiresAt: Temporal.Instant;
  refreshToken: string;
  refreshExpiresIn: number;
};

export async function openSession(
  tx: Tx,
  tenantId: number,
  options: { owner: Owner; address: string; at: Temporal.Instant; lifetimeSeconds: number | null },
): Promise<Issued> {
  const sessionId = randomUUID();
  await insertSession(tx, tenantId, { ...options, sessionId });
  const usual = 'loginId' in options.owner ? personSeconds : clientSeconds;
  return issueTokens(tx, tenantId, sessionId, {
    at: options.at,
    seconds: options.lifetimeSeconds ?? usual,
  });
}

async function issueTokens(
  tx: Tx,
  tenantId: number,
  sessionId: string,
  life: { at: Temporal.Instant; seconds: number },
): Promise<Issued> {
  const accessToken = newToken(tenantId);
  const refreshToken = newToken(tenantId);
  const expiresAt = life.at.add({ seconds: life.seconds });
  await insertTokens(tx, tenantId, sessionId, [
    { hash: hashToken(accessToken), kind: 'access', expiresAt },
    {
      hash: hashToken(refreshToken),
      kind: 'refresh',
      expiresAt: life.at.add({ seconds: refreshSeconds }),
    },
  ]);
  return {
    accessToken,
    expiresIn: life.seconds,
    expiresAt,
    refreshToken,
    refreshExpiresIn: refreshSeconds,
  };
}

export type Renewal =
  | { kind: 'renewed'; issued: Issued; loginId: number | null; sessionId: string }
  /** A spent token came back: it was stolen or copied, so the whole session has been ended. */
  | { kind: 'reused'; loginId: number | null; sessionId: string };

export type Life = {
  at: Temporal.Instant;
  lifetimeSeconds: number | null;
  idleSeconds: number | null;
};

/**
 * Single use: the old access and refresh tokens end, new ones are issued. A cookie that a second
 * tab sends within seconds gets the tokens that the first tab got.
 */
export async function renewSession(
  tx: Tx,
  tenantId: number,
  { refreshToken, isCookie }: { refreshToken: string; isCookie: boolean },
  life: Life,
): Promise<Renewal> {
  const row = await lockRefreshToken(tx, tenantId, hashToken(refreshToken));
  if (!row) throw new AppError('TOKEN_INVALID', { field: 'refreshToken' });
  if (row.revoked_at) throw new AppError('TOKEN_REVOKED', { field: 'refreshToken' });
  const { session_id: sessionId, login_id: loginId } = row;
  if (row.spent_at && isCookie && row.successor) {
    const age = row.spent_at.until(life.at).total('seconds');
    if (age <= sameSuccessorSeconds) {
      const issued = openSuccessor(refreshToken, row.successor, life.at);
      return { kind: 'renewed', issued, loginId, sessionId };
    }
  }
  if (row.spent_at) {
    const revocation = { at: life.at, reason: 'A spent refresh token was used again' };
    await revokeSession(tx, tenantId, sessionId, revocation);
    return { kind: 'reused', loginId, sessionId };
  }
  if (Temporal.Instant.compare(row.expires_at, life.at) <= 0) {
    throw new AppError('TOKEN_EXPIRED', { field: 'refreshToken' });
  }
  const idleSeconds = row.used_at.until(life.at).total('seconds');
  if (life.idleSeconds !== null && idleSeconds >= life.idleSeconds) {
    const message = 'The session was idle for too long';
    throw new AppError('TOKEN_EXPIRED', { message, field: 'refreshToken' });
  }
  await touchSession(tx, tenantId, sessionId, life.at);
  if (isCookie) {
    await endAccessAt(tx, tenantId, sessionId, life.at.add({ seconds: oldAccessSeconds }));
  } else await spendTokens(tx, tenantId, sessionId, life.at);
  const usual = loginId === null ? clientSeconds : personSeconds;
  const issued = await issueTokens(tx, tenantId, sessionId, {
    at: life.at,
    seconds: life.lifetimeSeconds ?? usual,
  });
  if (isCookie) {
    const successor = sealSuccessor(refreshToken, issued);
    await spendCookie(tx, tenantId, { hash: hashToken(refreshToken), successor, at: life.at });
  }
  return { kind: 'renewed', issued, loginId, sessionId };
}

/** Only the holder of the old token can read it. */
function sealSuccessor(refreshToken: string, { expiresAt, ...issued }: Issued): Buffer {
  return sealWith(refreshToken, JSON.stringify({ ...issued, expiresAt: expiresAt.toString() }));
}

function openSuccessor(refreshToken: string, sealed: Buffer, at: Temporal.Instant): Issued {
  const issued = JSON.parse(unsealWith(refreshToken, sealed));
  const expiresAt = Temporal.Instant.from(issued.expiresAt);
  return { ...issued, expiresAt, expiresIn: Math.floor(at.until(expiresAt).total('seconds')) };
}

/** Names are kept as hashes here, so that a password typed into the wrong box is not stored. */
export function failureKey(name: string): Buffer {
  return createHash('sha256').update(name).digest();
}

/** With `lock` no further failure can be counted until the transaction ends. */
export async function assertNotLocked(
  tx: Tx,
  tenantId: number,
  key: Buffer,
  options: { at: Temporal.Instant; lock: boolean },
): Promise<void> {
  const { at, lock } = options;
  const lockedUntil = (await findLoginFailures(tx, tenantId, key, { lock }))?.locked_until;
  if (lockedUntil && Temporal.Instant.compare(lockedUntil, at) > 0) throw locked(lockedUntil, at);
}

export async function recordFailure(
  tx: Tx,
  tenantId: number,
  key: Buffer,
  at: Temporal.Instant,
): Promise<AppError> {
  const row = await countLoginFailure(tx, tenantId, key, {
    at,
    failuresMax,
    lockedUntil: at.add({ minutes: lockMinutes }),
  });
  return row.locked_until ? locked(row.locked_until, at) : new AppError('LOGIN_FAILED');
}

function locked(until: Temporal.Instant, at: Temporal.Instant): AppError {
  const seconds = Math.ceil(at.until(until).total('seconds'));
  return new AppError('LOGIN_LOCKED', { retryAfterSeconds: seconds });
}
