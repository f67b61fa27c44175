import type { Clock } from '../../src/base/clock.ts';

export type MovableClock = Clock & {
  advance(duration: Temporal.DurationLike): void;
  /** Runs a test while time stands still but for advance(): its own pace then plays no part. */
  whileStopped(work: () => Promise<void>): Promise<void>;
};

/** Runs with the machine's time and can be moved ahead of it. */
export function movableClock(): MovableClock {
  let ahead = Temporal.Duration.from({ seconds: 0 });
  let stoppedAt: Temporal.Instant | undefined;
  return {
    now: () => (stoppedAt ?? Temporal.Now.instant()).add(ahead),
    advance(duration) {
      ahead = ahead.add(duration);
    },
    async whileStopped(work) {
      stoppedAt = Temporal.Now.instant();
      try {
        await work();
      } finally {
        stoppedAt = undefined;
      }
    },
  };
}
