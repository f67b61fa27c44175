// All steps of the bill run that run as jobs, by the name of their operation.
import type { Step } from './step.ts';

const all: readonly Step[] = [];

export const steps: ReadonlyMap<string, Step> = new Map(all.map((step) => [step.operation, step]));
