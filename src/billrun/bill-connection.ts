// The final bill of a subscription: the readings of its Final term are locked as they stand, and
// the drafts of the term are made, as by steps 4 and 6.
import type { Tx } from '../base/db/pool.ts';
import { lockTerm } from '../domain/terms/store.ts';
import { assertTakesInputs } from '../domain/terms/term.ts';
import type { Plan, Step, StepJob, StepRequest } from '../jobs/step.ts';
import { generateBillsStep } from './generate.ts';
import { lockAllReadings } from './lock-readings.ts';

export const billConnectionStep: Step = {
  ...generateBillsStep,
  operation: 'bill-connection',
  check,
  prepare,
};

async function check(tx: Tx, request: StepRequest): Promise<void> {
  assertTakesInputs(await lockTerm(tx, request.tenant.tenantId, request.termId ?? 0));
}

async function prepare(tx: Tx, job: StepJob): Promise<Plan> {
  await lockAllReadings(tx, job);
  return generateBillsStep.prepare(tx, job);
}
