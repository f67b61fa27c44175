// Calls that keep much of a processor busy for seconds: few at a time in a server.
import { AppError } from './errors.ts';

const retryAfterSeconds = 10;

/** Does the work, unless as many are under way already: then the caller is told to come again. */
type AtOnce = <Result>(work: () => Promise<Result>) => Promise<Result>;

export function fewAtOnce(most: number): AtOnce {
  let underWay = 0;
  return async (work) => {
    if (underWay >= most) throw new AppError('RATE_LIMITED', { retryAfterSeconds });
    underWay += 1;
    try {
      return await work();
    } finally {
      underWay -= 1;
    }
  };
}
