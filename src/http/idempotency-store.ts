// Answers kept by Idempotency-Key, written in the same transaction as the effect they tell of.
import { createHash } from 'node:crypto';
import type { Tx } from '../base/db/pool.ts';
import { sql } from '../base/db/sql.ts';
import { AppError } from '../base/errors.ts';

const keptHours = 24;
const keyLengthMax = 255;

export type StoredAnswer = { headers: Record<string, string>; body: string };

export type Key = { principal: string; key: string; requestHash: Buffer };

export function readKey(
  header: string | string[] | undefined,
  request: { principal: string; path: string; body: Buffer },
): Key | undefined {
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || header.length === 0 || header.length > keyLengthMax) {
    throw new AppError('FIELD_TOO_LONG', {
      message: `Idempotency-Key must have 1 to ${keyLengthMax} characters`,
      field: 'Idempotency-Key',
    });
  }
  const requestHash = createHash('sha256')
    .update(request.path)
    .update('\n')
    .update(request.body)
    .digest();
  return { principal: request.principal, key: header, requestHash };
}

/**
 * Holds the key until the transaction ends and returns the answer stored under it, if any. If
 * another call holds the key, the call is refused instead of waiting.
 */
export async function claimKey(
  tx: Tx,
  tenantId: number,
  key: Key,
  now: Temporal.Instant,
): Promise<StoredAnswer | undefined> {
  const { rows: locks } = await sql<{ held: boolean }>`
    select pg_try_advisory_xact_lock(
      hashtextextended(${`${tenantId}/${key.principal}/${key.key}`}, 0)) as held
  `.execute(tx);
  if (!locks[0]?.held) throw new AppError('IDEMPOTENCY_KEY_IN_USE', { retryAfterSeconds: 1 });
  const { rows } = await sql<StoredAnswer & { request_hash: Buffer; expires_at: Temporal.Instant }>`
    select request_hash, headers, body, expires_at from idempotency_keys
    where tenant_id = ${tenantId} and principal = ${key.principal} and idempotency_key = ${key.key}
  `.execute(tx);
  const row = rows[0];
  if (!row) return undefined;
  if (Temporal.Instant.compare(row.expires_at, now) <= 0) {
    await forgetAnswer(tx, tenantId, key);
    return undefined;
  }
  if (!row.request_hash.equals(key.requestHash)) throw new AppError('IDEMPOTENCY_KEY_REUSED');
  return { headers: row.headers, body: row.body };
}

/** For who holds the key. */
export async function forgetAnswer(tx: Tx, tenantId: number, key: Key): Promise<void> {
  await sql`
    delete from idempotency_keys
    where tenant_id = ${tenantId} and principal = ${key.principal} and idempotency_key = ${key.key}
  `.execute(tx);
}

export async function storeAnswer(
  tx: Tx,
  tenantId: number,
  key: Key,
  answer: StoredAnswer,
  now: Temporal.Instant,
): Promise<void> {
  await sql`
    insert into idempotency_keys (
      tenant_id, principal, idempotency_key, request_hash, headers, body, expires_at
    )
    values (
      ${tenantId}, ${key.principal}, ${key.key}, ${key.requestHash},
      ${JSON.stringify(answer.headers)}::jsonb, ${answer.body}, ${now.add({ hours: keptHours })}
    )
  `.execute(tx);
}

/** Work that is refused is undone alone, and its refusal is stored as the key's answer. */
export async function markBeforeWork(tx: Tx): Promise<void> {
  await sql`savepoint before_work`.execute(tx);
}

export async function undoWork(tx: Tx): Promise<void> {
  await sql`rollback to savepoint before_work`.execute(tx);
}
