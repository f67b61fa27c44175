// Limits how much work that keeps processors, memory or threads busy runs at a time in a process.
import type { AppError } from './errors.ts';

type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** How many callers may wait, and the error that refuses any more. */
type Crowd = { waitingMax: number; refuse(): AppError };

/** Runs at most `places` at a time. Others wait in the order in which they came, or are refused. */
export function inTurns(places: number, crowd?: Crowd): InTurn {
  const waiting: (() => void)[] = [];
  let free = places;
  return async (work) => {
    if (free > 0) free -= 1;
    else {
      if (crowd && waiting.length >= crowd.waitingMax) throw crowd.refuse();
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
