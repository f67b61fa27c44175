/** Where "now" comes from. All that asks for the time is handed one; tests hand in their own. */
export type Clock = { now(): Temporal.Instant };

export const systemClock: Clock = { now: () => Temporal.Now.instant() };
