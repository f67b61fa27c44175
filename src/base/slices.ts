// Long computations as generators that yield now and then: run at once, or in slices between which
// the event loop serves other calls.
import { setImmediate } from 'node:timers/promises';

/** Yields where it may be interrupted; returns its result. */
export type Steps<Result> = Generator<void, Result>;

const sliceMs = 10;

export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

export async function inSlices<Result>(steps: Steps<Result>): Promise<Result> {
  let endMs = performance.now() + sliceMs;
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() < endMs) continue;
    await setImmediate();
    endMs = performance.now() + sliceMs;
  }
}
