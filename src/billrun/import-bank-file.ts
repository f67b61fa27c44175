// A bank file comes in: it is accepted, and a small one is posted at once. The lines of a larger
// one are posted by a job, which goes on after any crash.
import { dateIn } from '../base/calendar.ts';
import type { Tx } from '../base/db/pool.ts';
import { acceptFile, type SentFile } from '../domain/bank-files/accept.ts';
import {
  countLines,
  getFileJob,
  type LineCounts,
  updateFileJob,
} from '../domain/bank-files/files-store.ts';
import { listReceived } from '../domain/bank-files/lines-store.ts';
import { matchLines } from '../domain/bank-files/match.ts';
import { chunkLines, postLines } from '../domain/bank-files/post-lines.ts';
import { markBeforeImport, undoImport } from '../domain/imports/store.ts';
import type { JobTenant } from '../domain/tenants/tenant.ts';
import { findJob } from '../jobs/jobs-store.ts';
import { scheduleStep } from '../jobs/schedule-step.ts';
import { postBankLinesStep } from './post-bank-lines.ts';

type Options = {
  tenant: JobTenant;
  /** The workspace's time. */
  now: Temporal.Instant;
  by: string;
  onProgress?: (lines: number) => void;
};

export type ImportedFile = {
  bankFileId: number;
  counts: LineCounts;
  /** The job that posts the lines; null if all of them are posted. */
  jobId: number | null;
  /** Whether the same file was sent before. */
  isRepeated: boolean;
};

export async function importBankFile(
  tx: Tx,
  file: SentFile,
  options: Options,
): Promise<ImportedFile> {
  const { tenantId } = options.tenant;
  const accepted = await acceptFile(tx, file, acceptOptions(options));
  const { bankFileId, isRepeated } = accepted;
  const { lines, job_id: knownJob } = await getFileJob(tx, tenantId, bankFileId);
  const before = await countLines(tx, tenantId, bankFileId);
  if (before.Received === 0) return { bankFileId, counts: before, jobId: null, isRepeated };
  if (lines > chunkLines) {
    const jobId = await jobFor(tx, options, { bankFileId, lines, knownJob });
    return { bankFileId, counts: before, jobId, isRepeated };
  }
  const { today, stamp } = acceptOptions(options);
  const range = { firstId: 1, lastId: lines };
  await postLines(tx, tenantId, { bankFileId, range }, { today, stamp });
  const counts = await countLines(tx, tenantId, bankFileId);
  return { bankFileId, counts, jobId: null, isRepeated };
}

/** The job that already posts the lines of the file, or a new one. */
async function jobFor(
  tx: Tx,
  { tenant, now, by }: Options,
  { bankFileId, lines, knownJob }: { bankFileId: number; lines: number; knownJob: number | null },
): Promise<number> {
  const job = knownJob === null ? undefined : await findJob(tx, tenant.tenantId, knownJob);
  if (job && (job.status === 'Scheduled' || job.status === 'Running')) return job.job_id;
  const request = { tenant, now, requestedBy: by, termId: null, billId: null };
  const parameters = { bankFileId, lines };
  const { jobId } = await scheduleStep(tx, postBankLinesStep, { ...request, parameters }, null);
  await updateFileJob(tx, tenant.tenantId, bankFileId, jobId);
  return jobId;
}

/** What would become of the lines; nothing of it stays. */
export async function tryBankFile(
  tx: Tx,
  file: SentFile,
  options: Options,
): Promise<Pick<ImportedFile, 'counts' | 'isRepeated'>> {
  const { tenantId } = options.tenant;
  await markBeforeImport(tx);
  const { bankFileId, lines, isRepeated } = await acceptFile(tx, file, acceptOptions(options));
  const counts = await countLines(tx, tenantId, bankFileId);
  for (let firstId = 1; firstId <= lines; firstId += chunkLines) {
    const range = { firstId, lastId: firstId + chunkLines - 1 };
    const received = await listReceived(tx, tenantId, bankFileId, range);
    for (const { status } of await matchLines(tx, tenantId, received)) {
      counts[status] += 1;
      counts.Received -= 1;
    }
  }
  await undoImport(tx);
  return { counts, isRepeated };
}

function acceptOptions({ tenant, now, by, onProgress }: Options) {
  const today = dateIn(now, tenant.timezone);
  return { tenant, today, stamp: { at: now, by }, ...(onProgress ? { onProgress } : {}) };
}
