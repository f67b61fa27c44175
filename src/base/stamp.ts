/** When and by whom a row was written. */
export type Stamp = { at: Temporal.Instant; by: string };
