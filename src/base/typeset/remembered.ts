// What was made for a text, kept for the next time. Most texts of a bill, such as its labels, are
// on every other bill too; its figures are not, and keeping them would cost more than making them.

const figures = /^[\d.,]*$/;

/** Such texts are made anew each time. */
export function isFigure(text: string): boolean {
  return figures.test(text);
}

/** Keeps what is asked for twice, up to a number; then it begins anew. */
export class Remembered<Value> {
  readonly #max: number;
  readonly #kept = new Map<string, Value>();
  readonly #askedOnce = new Set<string>();

  constructor(max: number) {
    this.#max = max;
  }

  get(key: string): Value | undefined {
    return this.#kept.get(key);
  }

  /** The value is kept only if this is not the first one of its key. */
  set(key: string, value: Value): void {
    if (this.#askedOnce.has(key)) {
      if (this.#kept.size >= this.#max) this.#kept.clear();
      this.#kept.set(key, value);
      return;
    }
    if (this.#askedOnce.size >= this.#max) this.#askedOnce.clear();
    this.#askedOnce.add(key);
  }
}
