/** Where "now" comes from. Code that needs the time gets a clock as an argument; so can tests. */
export type Clock = { now(): Temporal.Instant };

export const systemClock: Clock = { now: () => Temporal.Now.instant() };
