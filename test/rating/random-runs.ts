// How many random cases each law of rating is tried with, other ones every time; more or fewer when
// asked.
const seed = process.env.RATING_SEED;

export const runs = {
  numRuns: Number(process.env.RATING_RUNS ?? 125),
  ...(seed === undefined ? {} : { seed: Number(seed) }),
};
