import type { Clock } from '../../src/base/clock.ts';

export type MovableClock = Clock & { advance(duration: Temporal.DurationLike): void };

/** Runs with the machine's time and can be moved ahead of it. */
export function movableClock(): MovableClock {
  let ahead = Temporal.Duration.from({ seconds: 0 });
  return {
    now: () => Temporal.Now.instant().add(ahead),
    advance(duration) {
      ahead = ahead.add(duration);
    },
  };
}
