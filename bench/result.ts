export type BenchOptions = { quick: boolean };
export type BenchResult = { ratios: Record<string, number>; figures: Record<string, number> };

/** What is known so far, for whoever waits: the whole of it may take an hour. */
export function tell(figures: Record<string, number>): void {
  for (const [name, figure] of Object.entries(figures)) process.stderr.write(`${name} ${figure}\n`);
}
