// All steps of the bill run that run as jobs, by the name of their operation.
import { generateBillsStep } from './generate.ts';
import { postBillsStep } from './post.ts';
import type { Step } from './step.ts';
import { unpostBillsStep } from './unpost.ts';

const all: readonly Step[] = [generateBillsStep, postBillsStep, unpostBillsStep];

export const steps: ReadonlyMap<string, Step> = new Map(all.map((step) => [step.operation, step]));
