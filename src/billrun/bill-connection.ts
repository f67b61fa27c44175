// The final bill of a subscription: locks the present readings of its Final term and generates the
// drafts of the term, as steps 4 and 6 do.
import type { Tx } from '../base/db/pool.ts';
import { getTerm } from '../domain/terms/store.ts';
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
  const { tenantId } = request.tenant;
  assertTakesInputs(await getTerm(tx, tenantId, request.termId ?? 0, { lock: 'update' }));
}

async function prepare(tx: Tx, job: StepJob): Promise<Plan> {
  await lockAllReadings(tx, job);
  return generateBillsStep.prepare(tx, job);
}
