export type BenchOptions = { quick: boolean };
export type BenchResult = { ratios: Record<string, number>; figures: Record<string, number> };
