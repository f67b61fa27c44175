// Bills that are to be printed, merged into files for the printer.
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Tx } from '../base/db/pool.ts';
import { mergePdfs } from '../base/pdf/merge.ts';
import { writeWholeFile } from '../base/whole-file.ts';
import { printDocuments } from '../domain/delivery/print-documents.ts';
import { insertPrintFile } from '../domain/delivery/print-files-store.ts';
import {
  endPrinting,
  failCancelled,
  listQueuedPrints,
  type QueuedPrint,
} from '../domain/delivery/sending-store.ts';
import { findSettings } from '../domain/tenants/store.ts';
import type { StepJob } from '../jobs/step.ts';
import type { Tools } from '../jobs/tools.ts';

/** What a printer takes as one stack. */
const billsPerFile = 2_000;

export type Printed = { printed: number; failed: number; files: string[] };

/**
 * All bills of the term that wait to be printed. A repeated attempt writes the same files again:
 * that they are printed is stored with the end of the job.
 */
export async function printBills(tx: Tx, job: StepJob, tools: Tools): Promise<Printed> {
  const { tenantId } = job.tenant;
  const termId = job.termId ?? 0;
  await failCancelled(tx, tenantId, termId, job.now);
  const all: Printed = { printed: 0, failed: 0, files: [] };
  for (let part = 1, afterId = 0; ; part += 1) {
    const queued = await listQueuedPrints(tx, tenantId, termId, { afterId, limit: billsPerFile });
    const [first, last] = [queued[0], queued.at(-1)];
    if (!first || !last) return all;
    const name = fileName(job, part);
    const { failures, ...made } = await writePrintFile(
      tx,
      job,
      join(tools.dataFolder, name),
      queued,
    );
    const ends = queued.map(({ delivery_id: deliveryId, bill_id: billId }) => {
      const reason = failures.get(billId);
      return reason === undefined
        ? { deliveryId, status: 'Sent' as const, reason: name }
        : { deliveryId, status: 'Failed' as const, reason };
    });
    await endPrinting(tx, tenantId, ends, job.now);
    const bills = queued.length - failures.size;
    all.printed += bills;
    all.failed += failures.size;
    if (bills > 0) {
      all.files.push(name);
      const range = { firstDeliveryId: first.delivery_id, lastDeliveryId: last.delivery_id };
      const file = { termId, jobId: job.jobId, part, name, bills, ...range, ...made };
      await insertPrintFile(tx, tenantId, file, { at: job.now, by: job.requestedBy });
    }
    afterId = last.delivery_id;
  }
}

/** The path has only numbers that the program assigned, so no input can change the folder. */
function fileName(job: StepJob, part: number): string {
  const numbers = [job.tenant.tenantId, job.termId ?? 0, job.jobId, part].map((id) => BigInt(id));
  const [tenant, term, request, piece] = numbers;
  return `print/${tenant}/${term}/${request}-${piece}.pdf`;
}

/** A written file, with its size and hash, and the reasons why bills are not in it. */
async function writePrintFile(tx: Tx, job: StepJob, path: string, queued: readonly QueuedPrint[]) {
  const { tenantId } = job.tenant;
  const { locale } = await findSettings(tx, tenantId);
  const failures = new Map<number, string>();
  const onMissing = (billId: number) =>
    failures.set(billId, 'The document is missing or differs from the one that was published');
  const billIds = queued.map((one) => one.bill_id);
  async function* files() {
    const documents = printDocuments(tx, tenantId, billIds, onMissing);
    for await (const { file } of documents) yield file;
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const title = `Bills ${job.jobId}`;
  const measured = measure(mergePdfs(files(), { title, language: locale }));
  await writeWholeFile(path, measured.pieces, 0o600);
  return { failures, ...measured.end() };
}

/** Passes the pieces of a file on, and adds up their size and hash. */
function measure(pieces: AsyncIterable<Buffer>) {
  const hash = createHash('sha256');
  let size = 0;
  async function* passing() {
    for await (const piece of pieces) {
      hash.update(piece);
      size += piece.length;
      yield piece;
    }
  }
  return { pieces: passing(), end: () => ({ size, sha256: hash.digest('hex') }) };
}
