// Token buckets: a steady rate with room for a burst. Kept in this process; with several API
// processes each allows the rate, so divide it by their number where that matters.
import { AppError } from '../base/errors.ts';
import type { Headers } from './envelope.ts';

export type Rate = { perSecond: number; burst: number };

export type RateLimits = {
  token: Rate;
  tenant: Rate;
  loginName: Rate;
  loginAddress: Rate;
  /** Tokens that do not exist, by the address they come from. */
  wrongToken: Rate;
};

export const defaultRateLimits: RateLimits = {
  token: { perSecond: 100, burst: 200 },
  tenant: { perSecond: 400, burst: 800 },
  loginName: { perSecond: 20 / 60, burst: 20 },
  loginAddress: { perSecond: 60 / 60, burst: 60 },
  wrongToken: { perSecond: 60 / 60, burst: 60 },
};

/** Beyond this many buckets, those that are full again (not used lately) are dropped. */
const bucketsMax = 20_000;

type Bucket = { tokens: number; atMs: number };

export class RateLimiter {
  readonly #rate: Rate;
  readonly #buckets = new Map<string, Bucket>();

  constructor(rate: Rate) {
    this.#rate = rate;
  }

  /**
   * Takes one call from the bucket, or refuses with the seconds to wait. The headers always tell
   * what is left.
   */
  take(key: string, nowMs: number, headers: Headers = {}): void {
    const { perSecond, burst } = this.#rate;
    const bucket = this.#buckets.get(key) ?? this.#newBucket(key, nowMs);
    this.#refill(bucket, nowMs);
    const isAllowed = bucket.tokens >= 1;
    if (isAllowed) bucket.tokens -= 1;
    headers['X-RateLimit-Limit'] = String(burst);
    headers['X-RateLimit-Remaining'] = String(Math.floor(bucket.tokens));
    headers['X-RateLimit-Reset'] = String(Math.ceil((burst - bucket.tokens) / perSecond));
    if (!isAllowed) throw this.#refusal(bucket);
  }

  /** What `take` would throw now; takes nothing, and keeps nothing of a key that is not known. */
  refusalOf(key: string, nowMs: number): AppError | undefined {
    const bucket = this.#buckets.get(key);
    if (!bucket) return undefined;
    this.#refill(bucket, nowMs);
    return bucket.tokens >= 1 ? undefined : this.#refusal(bucket);
  }

  #refill(bucket: Bucket, nowMs: number): void {
    const { perSecond, burst } = this.#rate;
    const gained = (Math.max(0, nowMs - bucket.atMs) / 1000) * perSecond;
    bucket.tokens = Math.min(burst, bucket.tokens + gained);
    bucket.atMs = Math.max(bucket.atMs, nowMs);
  }

  #refusal(bucket: Bucket): AppError {
    const seconds = Math.max(1, Math.ceil((1 - bucket.tokens) / this.#rate.perSecond));
    return new AppError('RATE_LIMITED', { retryAfterSeconds: seconds });
  }

  #newBucket(key: string, nowMs: number): Bucket {
    if (this.#buckets.size >= bucketsMax) this.#dropFull(nowMs);
    const bucket = { tokens: this.#rate.burst, atMs: nowMs };
    this.#buckets.set(key, bucket);
    return bucket;
  }

  #dropFull(nowMs: number): void {
    const { perSecond, burst } = this.#rate;
    for (const [key, bucket] of this.#buckets) {
      const gained = ((nowMs - bucket.atMs) / 1000) * perSecond;
      if (bucket.tokens + gained >= burst) this.#buckets.delete(key);
    }
    // A flood of fresh keys: forget the oldest, so that memory stays bounded all the same.
    for (const key of this.#buckets.keys()) {
      if (this.#buckets.size < bucketsMax) break;
      this.#buckets.delete(key);
    }
  }
}
