// The second factor of a login that has one, after its password or link was right.
import { AppError } from '../../base/errors.ts';
import { checkFactor } from '../../domain/access/factors.ts';
import { assertNotLocked, recordFailure } from '../../domain/access/sessions.ts';
import type { PublicCall } from '../operation.ts';

/** A wrong code counts as a failed login; a missing one does not. */
export async function assertFactor(
  call: PublicCall,
  { loginId, key, code }: { loginId: number; key: Buffer; code: string | null },
): Promise<void> {
  const { tenantId } = call.tenant;
  const { realNow: at } = call;
  const outcome = await call.write(async (tx) => {
    await assertNotLocked(tx, tenantId, key, { at, lock: true });
    return checkFactor(tx, { tenantId, loginId }, code, at);
  });
  if (outcome === 'Required') throw new AppError('CODE_REQUIRED', { field: 'code' });
  if (outcome !== 'Wrong') return;
  const refusal = await call.write((tx) => recordFailure(tx, tenantId, key, at));
  if (refusal.code === 'LOGIN_LOCKED') throw refusal;
  throw new AppError('CODE_WRONG', { field: 'code' });
}
