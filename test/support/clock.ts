import type { Clock } from '../../src/base/clock.ts';

export type MovableClock = Clock & {
  advance(duration: Temporal.DurationLike): void;
  /**
   * Moves it ahead to an instant, or back if it was never moved: tests are run long after they are
   * written.
   */
  begin(at: Temporal.Instant): void;
  /** Back to the machine's time. */
  reset(): void;
  /** Runs a test while time moves only by advance(): the pace of the test then has no effect. */
  whileStopped(work: () => Promise<void>): Promise<void>;
};

/** Runs with the machine's time, as far ahead of it or behind it as it was moved. */
export function movableClock(onMoved: () => void = () => {}): MovableClock {
  let ahead = Temporal.Duration.from({ seconds: 0 });
  let stoppedAt: Temporal.Instant | undefined;
  const now = () => (stoppedAt ?? Temporal.Now.instant()).add(ahead);
  return {
    now,
    advance(duration) {
      ahead = ahead.add(duration);
      onMoved();
    },
    begin(at) {
      const missing = now().until(at);
      if (ahead.blank || missing.sign > 0) ahead = ahead.add(missing);
      onMoved();
    },
    reset() {
      ahead = Temporal.Duration.from({ seconds: 0 });
      stoppedAt = undefined;
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
