// Long computations on the event loop are cut into slices, between which other calls are served.
// However many computations there are, one slice of one of them runs in every second turn of the
// loop: what other calls wait for comes in between.

/** Yields where it may be interrupted; returns its result. */
export type Steps<Result> = Generator<void, Result>;

/** Short beside what a call takes, which waits for several slices on its way. */
const sliceMs = 2;

export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

export async function inSlices<Result>(steps: Steps<Result>): Promise<Result> {
  const slices = slicing();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    const pause = slices.pause();
    if (pause) await pause;
  }
}

export type Slicing = {
  /** Between any two small pieces of the work: undefined inside a slice, else to be awaited. */
  pause(): Promise<void> | undefined;
};

export function slicing(): Slicing {
  let endMs = performance.now() + sliceMs;
  return {
    pause() {
      if (performance.now() < endMs) return undefined;
      return nextTurn().then(() => {
        endMs = performance.now() + sliceMs;
      });
    },
  };
}

/** Computations that wait for their next slice, first come first served. */
const waiting: (() => void)[] = [];

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) resumeSoon();
  });
}

function resumeSoon(): void {
  setImmediate(() => setImmediate(resumeOne));
}

function resumeOne(): void {
  const resume = waiting.shift();
  // What the resumed one does comes after this: if it waits again, it is behind the others.
  if (waiting.length > 0) resumeSoon();
  resume?.();
}
