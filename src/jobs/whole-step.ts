// A step whose work cannot be cut: all of it is done in one transaction, or nothing.
import type { Tx } from '../base/db/pool.ts';
import type { Finish, Step, StepJob, StepRequest } from './step.ts';

export type WholeStep = {
  operation: string;
  check(tx: Tx, request: StepRequest): Promise<void>;
  checkAhead?: Step['checkAhead'];
  /** How many things it is about, for the progress that is shown. */
  total?(request: StepRequest): number;
  run(tx: Tx, job: StepJob): Promise<Finish>;
};

export function wholeStep(whole: WholeStep): Step {
  const { operation, check, checkAhead, total = () => 1, run } = whole;
  return {
    operation,
    check,
    ...(checkAhead ? { checkAhead } : {}),
    prepare: async (_tx, job) => ({ chunks: [{ firstId: 0, lastId: 0 }], total: total(job) }),
    work: async (tx, job) => ({ done: total(job), outcome: await run(tx, job) }),
    finish: async (_tx, _job, { outcomes }) => outcomes[0] as Finish,
  };
}
