// A fair queue for work that keeps processors, connections or threads busy. Each owner (a
// workspace) has at most its share of the places; waiting owners take turns, so that a long queue
// of one delays no other.
import { AppError } from './errors.ts';

export type FairTurnsOptions = {
  /** Places in this process, for all owners together. */
  places: number;
  /** Places that one owner may have at the same time. */
  share: number;
  /** Calls of one owner that may wait; one more is refused at once. */
  waitingMax: number;
  /** How long a call waits for its turn before it is refused. */
  waitMs: number;
  /** Names the work in the refusal: "Too many {what} at once". */
  what: string;
};

type Owner = number | string;
type Waiter = { start(): void; timer: NodeJS.Timeout };

export class FairTurns {
  readonly #options: FairTurnsOptions;
  #free: number;
  readonly #busy = new Map<Owner, number>();
  /** Owners with waiting calls, the one that is next first. */
  readonly #waiting = new Map<Owner, Waiter[]>();

  constructor(options: FairTurnsOptions) {
    this.#options = options;
    this.#free = options.places;
  }

  /** Does the work when the owner's turn comes. */
  async run<Result>(owner: Owner, work: () => Promise<Result>): Promise<Result> {
    await this.enter(owner);
    try {
      return await work();
    } finally {
      this.leave(owner);
    }
  }

  /**
   * Takes a place, which must be given back by `leave`. Returns undefined if there was one at once,
   * so that the caller need not wait for the event loop; otherwise a promise of it.
   */
  enter(owner: Owner): Promise<void> | undefined {
    if (this.#free > 0 && this.#hasShareLeft(owner)) {
      this.#take(owner);
      return undefined;
    }
    const queue = this.#waiting.get(owner) ?? [];
    if (queue.length >= this.#options.waitingMax) return Promise.reject(this.#refusal(owner));
    this.#waiting.set(owner, queue);
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        start: resolve,
        timer: setTimeout(() => {
          this.#drop(owner, waiter);
          reject(this.#refusal(owner));
        }, this.#options.waitMs),
      };
      queue.push(waiter);
    });
  }

  leave(owner: Owner): void {
    const busy = (this.#busy.get(owner) ?? 0) - 1;
    if (busy > 0) this.#busy.set(owner, busy);
    else this.#busy.delete(owner);
    this.#free += 1;
    this.#startNext();
  }

  #hasShareLeft(owner: Owner): boolean {
    return (this.#busy.get(owner) ?? 0) < this.#options.share;
  }

  #take(owner: Owner): void {
    this.#free -= 1;
    this.#busy.set(owner, (this.#busy.get(owner) ?? 0) + 1);
  }

  #startNext(): void {
    for (const [owner, queue] of this.#waiting) {
      if (this.#free === 0) return;
      if (!this.#hasShareLeft(owner)) continue;
      const next = queue.shift();
      this.#waiting.delete(owner);
      if (!next) continue;
      // Behind the other owners.
      if (queue.length > 0) this.#waiting.set(owner, queue);
      clearTimeout(next.timer);
      this.#take(owner);
      next.start();
      return;
    }
  }

  #drop(owner: Owner, waiter: Waiter): void {
    const left = (this.#waiting.get(owner) ?? []).filter((one) => one !== waiter);
    if (left.length > 0) this.#waiting.set(owner, left);
    else this.#waiting.delete(owner);
  }

  /** 429 if the owner's own calls are the reason, 503 if those of others are. */
  #refusal(owner: Owner): AppError {
    const { what, waitMs } = this.#options;
    const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 2_000));
    if (this.#hasShareLeft(owner)) {
      const message = `The server has too many ${what} at once. Try again in a moment`;
      return new AppError('UNAVAILABLE', { message, retryAfterSeconds });
    }
    const message = `This workspace has too many ${what} at once. Repeat when some have ended`;
    return new AppError('RATE_LIMITED', { message, retryAfterSeconds });
  }
}
