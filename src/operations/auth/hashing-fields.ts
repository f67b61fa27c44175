// How passwords and secrets of a whole request are hashed.
import { FairTurns } from '../../base/fair-turns.ts';
import { hashSecret } from '../../base/secrets.ts';
import type { Preparing } from '../operation.ts';

/** Fifty hashes take seconds: one such request of a workspace at a time, so that logins go on. */
export const hashingTurns = new FairTurns({
  places: 4,
  share: 1,
  waitingMax: 4,
  waitMs: 20_000,
  what: 'requests that make logins or API clients',
});

/** One after the other: logins of the same workspace come in between. */
export async function hashAll(call: Preparing, secrets: readonly string[]): Promise<string[]> {
  const hashes: string[] = [];
  for (const secret of secrets) hashes.push(await hashSecret(secret, call.tenant.tenantId));
  return hashes;
}
