// The second factor: an authenticator app, and recovery codes for the day on which it is lost.
import { createHash, randomBytes } from 'node:crypto';
import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import { sealSecret, unsealSecret } from '../../base/secret-key.ts';
import { base32, matchingStep } from '../../base/totp.ts';
import {
  confirmFactor,
  insertFactor,
  lockFactor,
  useRecoveryHash,
  useStep,
} from './factors-store.ts';

const secretBytes = 20;
const recoveryCodes = 10;
const recoveryBytes = 10;

type Key = { tenantId: number; loginId: number };

/** A new secret, which counts after a first code of it was sent. */
export async function enrolFactor(tx: Tx, key: Key, at: Temporal.Instant): Promise<Buffer> {
  const { tenantId, loginId } = key;
  const factor = await lockFactor(tx, tenantId, loginId);
  if (factor?.confirmed_at) throw new AppError('SECOND_FACTOR_ACTIVE');
  const secret = randomBytes(secretBytes);
  await insertFactor(tx, tenantId, { loginId, secret: sealSecret(secret) }, at);
  return secret;
}

/** Returns the recovery codes, which are shown once. */
export async function confirm(
  tx: Tx,
  { tenantId, loginId }: Key,
  code: string,
  times: { at: Temporal.Instant },
): Promise<string[]> {
  const factor = await lockFactor(tx, tenantId, loginId);
  if (factor?.confirmed_at) throw new AppError('SECOND_FACTOR_ACTIVE');
  const step = factor && matchingStep(unsealSecret(factor.secret), plain(code), times.at);
  if (step === undefined) throw new AppError('CODE_WRONG', { field: 'code' });
  const codes = Array.from({ length: recoveryCodes }, () =>
    (base32(randomBytes(recoveryBytes)).match(/.{4}/g) ?? []).join('-').toLowerCase(),
  );
  const recoveryHashes = codes.map(recoveryHash);
  await confirmFactor(tx, tenantId, { loginId, step, recoveryHashes }, times.at);
  return codes;
}

export type FactorOutcome = 'None' | 'Required' | 'Right' | 'Wrong';

/** Uses up the code: neither a time step nor a recovery code works twice. */
export async function checkFactor(
  tx: Tx,
  { tenantId, loginId }: Key,
  code: string | null,
  at: Temporal.Instant,
): Promise<FactorOutcome> {
  const factor = await lockFactor(tx, tenantId, loginId);
  if (!factor?.confirmed_at) return 'None';
  if (!code) return 'Required';
  const step = matchingStep(unsealSecret(factor.secret), plain(code), at);
  if (step !== undefined && step > factor.last_step) {
    await useStep(tx, tenantId, { loginId, step });
    return 'Right';
  }
  const hash = recoveryHash(code);
  if (!factor.recovery_hashes.includes(hash)) return 'Wrong';
  await useRecoveryHash(tx, tenantId, { loginId, hash });
  return 'Right';
}

function plain(code: string): string {
  return code.replace(/\s/g, '');
}

/** 80 random bits need no slow hash. */
function recoveryHash(code: string): string {
  return createHash('sha256').update(code.toLowerCase().replace(/[\s-]/g, '')).digest('hex');
}
