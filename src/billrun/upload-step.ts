// A step that stores uploaded rows for an Open term: all rows, or none.
import { counted } from '../base/counted.ts';
import type { Tx } from '../base/db/pool.ts';
import type { Saved } from '../domain/terms/inputs-store.ts';
import { getTerm } from '../domain/terms/store.ts';
import { assertTakesInputs } from '../domain/terms/term.ts';
import type { Finish, Step, StepJob, StepRequest } from '../jobs/step.ts';
import { wholeStep } from '../jobs/whole-step.ts';

export type Upload<Checked> = {
  operation: string;
  /** The checked rows to be stored; throws if any row is rejected. */
  read(tx: Tx, request: StepRequest): Promise<Checked>;
  store(tx: Tx, job: StepJob, checked: Checked): Promise<Finish>;
};

export function uploadStep<Checked>({ operation, read, store }: Upload<Checked>): Step {
  return wholeStep({
    operation,
    check,
    checkAhead: async (tx, request) => void (await read(tx, request)),
    total: (request) => rowsOf(request).length,
    run: async (tx, job) => store(tx, job, await read(tx, job)),
  });
}

async function check(tx: Tx, request: StepRequest): Promise<void> {
  const { tenantId } = request.tenant;
  // The id of the term is inside the uploaded JSON text.
  const term = await getTerm(tx, tenantId, request.termId ?? 0, {
    lock: 'update',
    field: 'data.data.termID',
  });
  assertTakesInputs(term);
}

/** The message and the changes of an upload. Only rows that were stored before count as removed. */
export function uploadResult(what: string, given: number, { changed, removed }: Saved): Finish {
  const suffix = removed === 0 ? '' : `, ${removed} removed`;
  return { message: `${counted(given, what)} stored${suffix}`, changed: changed + removed };
}

/** The rows of an upload. They are parameters of the job until it ends. */
export function rowsOf<Row>({ parameters }: StepRequest): readonly Row[] {
  return parameters.rows as readonly Row[];
}
