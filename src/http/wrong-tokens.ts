// Invented tokens. Guessing 256 bits is hopeless, but each guess costs a look into the
// database, so the number of such calls a minute is limited for each address.
import { AppError } from '../base/errors.ts';
import { readToken } from './authenticate.ts';
import type { DispatchParts, Incoming } from './prepared.ts';

/**
 * Once an address has used up its guesses, only tokens that this process knows to be issued are
 * looked at: other people at that address go on working.
 */
export async function limitWrongTokens<T>(
  { limiters, knownTokens, clock }: DispatchParts,
  { address, headers }: Incoming,
  answer: () => Promise<T>,
): Promise<T> {
  const nowMs = clock.now().epochMilliseconds;
  const refusal = limiters.wrongToken.refusalOf(address, nowMs);
  if (refusal && headers.authorization && !isKnown(headers.authorization)) throw refusal;
  try {
    return await answer();
  } catch (error) {
    const isWrong = error instanceof AppError && error.code === 'TOKEN_INVALID';
    if (isWrong) limiters.wrongToken.take(address, nowMs);
    throw error;
  }
  function isKnown(authorization: string | string[]): boolean {
    try {
      return knownTokens.has(readToken(String(authorization)));
    } catch {
      return false;
    }
  }
}
