/** When a row was written, and by which login or program. */
export type Stamp = { at: Temporal.Instant; by: string };
