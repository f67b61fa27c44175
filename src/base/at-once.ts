// Work that keeps processors, memory or threads busy: so much of it at a time in a process.
import type { AppError } from './errors.ts';

type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** What becomes of those who find as many waiting already. */
type Crowd = { waitingMax: number; refuse(): AppError };

/** So many at a time; the others wait, first come first served, or are refused. */
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
