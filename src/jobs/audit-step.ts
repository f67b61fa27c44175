// Audit entries of what a step did to a term or a bill. The login that asked for the step is stored
// with the job, and the change is recorded under that login.
import type { Tx } from '../base/db/pool.ts';
import { newRequestId } from '../base/request-id.ts';
import { type AuditEntry, findAsker, insertAuditEntries } from '../domain/audit/store.ts';
import type { TermStage, TermStatus } from '../domain/terms/term.ts';
import type { StepJob } from './step.ts';

export async function auditStep(tx: Tx, job: StepJob, entry: AuditEntry): Promise<void> {
  const { tenant, jobId, requestedBy } = job;
  const asker = await findAsker(tx, tenant.tenantId, jobId);
  const context = {
    requestId: newRequestId(),
    at: job.now.subtract({ milliseconds: tenant.clockOffsetMs }),
    actor: requestedBy,
    actorKind: asker?.actor_kind ?? 'System',
    address: asker?.address ?? null,
    operation: asker?.operation ?? 'job',
  } as const;
  const after = { ...entry.after, jobID: jobId };
  await insertAuditEntries(tx, tenant.tenantId, context, [{ ...entry, after }]);
}

type TermPosition = { status: TermStatus; stage: TermStage };

/** Where the step found a term, and where it left it. */
export function auditTerm(
  tx: Tx,
  job: StepJob,
  { status, stage }: TermPosition,
  after: TermPosition & Record<string, unknown>,
): Promise<void> {
  const subjectId = job.termId ?? 0;
  return auditStep(tx, job, { subject: 'term', subjectId, before: { status, stage }, after });
}
