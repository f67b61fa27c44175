// The lines of a bank file are posted, in chunks that any worker does. A file that was posted in
// part goes on: only lines that are still Received are looked at.
import { dateIn } from '../base/calendar.ts';
import type { Tx } from '../base/db/pool.ts';
import { countsText } from '../domain/bank-files/counts.ts';
import { countLines } from '../domain/bank-files/files-store.ts';
import { chunkLines, postLines } from '../domain/bank-files/post-lines.ts';
import type { Chunk, ChunkResult, Finish, Plan, Step, StepJob } from '../jobs/step.ts';

export const postBankLinesStep: Step = {
  operation: 'import-bank-file',
  // The file was accepted by the call that asks for this, in the same transaction.
  check: async () => {},
  prepare,
  work,
  finish,
};

function fileOf({ parameters }: StepJob): { bankFileId: number; lines: number } {
  return parameters as { bankFileId: number; lines: number };
}

async function prepare(_tx: Tx, job: StepJob): Promise<Plan> {
  const { lines } = fileOf(job);
  const chunks = Array.from({ length: Math.ceil(lines / chunkLines) }, (_, index) => ({
    firstId: index * chunkLines + 1,
    lastId: Math.min((index + 1) * chunkLines, lines),
  }));
  return { chunks, total: lines };
}

async function work(tx: Tx, job: StepJob, range: Chunk): Promise<ChunkResult> {
  const { tenantId, timezone } = job.tenant;
  const { bankFileId } = fileOf(job);
  const today = dateIn(job.now, timezone);
  const stamp = { at: job.now, by: job.requestedBy };
  await postLines(tx, tenantId, { bankFileId, range }, { today, stamp });
  return { done: range.lastId - range.firstId + 1 };
}

async function finish(tx: Tx, job: StepJob): Promise<Finish> {
  const counts = await countLines(tx, job.tenant.tenantId, fileOf(job).bankFileId);
  return { message: countsText(counts) };
}
