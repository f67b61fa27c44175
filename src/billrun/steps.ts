// All steps of the bill run that run as jobs, by the name of their operation.
import { distributeBillsStep } from './distribute.ts';
import { publishBillsStep } from './publish.ts';
import { retryDeliveriesStep } from './retry-deliveries.ts';
import type { Step } from './step.ts';

const all: readonly Step[] = [publishBillsStep, distributeBillsStep, retryDeliveriesStep];

export const steps: ReadonlyMap<string, Step> = new Map(all.map((step) => [step.operation, step]));
