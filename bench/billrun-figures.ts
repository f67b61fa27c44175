// Makes the figures of a bill run out of what was measured. Each figure is of one size of term and
// carries that size in its name: rates of different sizes are never put into one number.

/**
 * Seconds by the clock, and microseconds of processor time for each bill: of Node, of PostgreSQL.
 */
export type Cost = { seconds: number; nodeUs: number; postgresUs: number };

export type Round = {
  /** Bills of the term. */
  size: number;
  generate: Cost;
  generateFloor: Cost;
  post: Cost;
  postFloor: Cost;
  /** Seconds for each bill. */
  naive: number;
};

/**
 * Rounds of several sizes, each size with its own figures; several rounds of one size: the median.
 */
export function figuresOf(rounds: readonly Round[]): Record<string, number> {
  const sizes = [...new Set(rounds.map((round) => round.size))];
  const all = sizes.map((size) => figuresOfSize(rounds.filter((round) => round.size === size)));
  return Object.assign({}, ...all);
}

export function sizeName(size: number): string {
  return `${size / 1_000}k`;
}

function figuresOfSize(rounds: readonly Round[]): Record<string, number> {
  const figures: Record<string, number> = {};
  const at = sizeName(rounds[0]?.size ?? 0);
  const figure = (name: string, pick: (round: Round) => number) => {
    figures[`${name}_${at}`] = Math.round(median(rounds.map(pick)));
  };
  const cost = (name: string, pick: (round: Round) => Cost) => {
    figure(`${name}_per_second`, (round) => round.size / pick(round).seconds);
    figure(`${name}_node_cpu_us`, (round) => pick(round).nodeUs);
    figure(`${name}_postgres_cpu_us`, (round) => pick(round).postgresUs);
  };
  cost('generate_bills', (round) => round.generate);
  cost('generate_floor_bills', (round) => round.generateFloor);
  figure('generate_naive_bills_per_second', (round) => 1 / round.naive);
  cost('post_bills', (round) => round.post);
  cost('post_floor_entries', (round) => round.postFloor);
  figure('generate_and_post_ms', ({ generate, post }) => (generate.seconds + post.seconds) * 1e3);
  for (const [name, ratio] of Object.entries(ratiosOf(rounds))) {
    figures[`${name}_${at}`] = Math.round(ratio * 100) / 100;
  }
  return figures;
}

/** Ratios of seconds over all rounds together: a larger term weighs more. */
export function ratiosOf(rounds: readonly Round[]): Record<string, number> {
  const sum = (pick: (round: Round) => number) =>
    rounds.reduce((total, round) => total + pick(round), 0);
  const generate = sum((round) => round.generate.seconds);
  return {
    generate_vs_floor: sum((round) => round.generateFloor.seconds) / generate,
    generate_vs_naive: sum((round) => round.naive * round.size) / generate,
    post_vs_floor: sum((round) => round.postFloor.seconds) / sum((round) => round.post.seconds),
  };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  if (sorted.length % 2 === 1) return sorted[middle] as number;
  return ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}
