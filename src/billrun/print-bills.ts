// Bills that are to be printed, merged into files for the printer.
import { createWriteStream } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setImmediate as turn } from 'node:timers/promises';
import type { Tx } from '../base/db/pool.ts';
import type { AppError } from '../base/errors.ts';
import { billInput, letterheadOf } from '../domain/delivery/bill-input.ts';
import { listBillsByIds, listDocumentsOf } from '../domain/delivery/documents-store.ts';
import { settingsByVersion } from '../domain/delivery/freeze-setting.ts';
import {
  endPrinting,
  failCancelled,
  listQueuedPrints,
  type QueuedPrint,
} from '../domain/delivery/sending-store.ts';
import type { BillDocumentInput } from '../domain/documents/bill-document.ts';
import type { StepJob } from './step.ts';
import type { Tools } from './tools.ts';

/** What a printer takes as one stack. */
const billsPerFile = 2_000;
const billsPerRead = 100;

export type Printed = { printed: number; failed: number; files: string[] };

/**
 * All bills of the term that wait to be printed. Whoever begins again writes the same files again:
 * that they are printed is stored with the end of the job.
 */
export async function printBills(tx: Tx, job: StepJob, tools: Tools): Promise<Printed> {
  const { tenantId } = job.tenant;
  const termId = job.termId ?? 0;
  await failCancelled(tx, tenantId, termId, job.now);
  const all: Printed = { printed: 0, failed: 0, files: [] };
  for (let part = 1, afterId = 0; ; part += 1) {
    const queued = await listQueuedPrints(tx, tenantId, termId, { afterId, limit: billsPerFile });
    if (queued.length === 0) return all;
    const name = fileName(job, part);
    const failures = await writeFile(tx, job, join(tools.dataFolder, name), queued);
    const ends = queued.map(({ delivery_id: deliveryId, bill_id: billId }) => {
      const reason = failures.get(billId);
      return reason === undefined
        ? { deliveryId, status: 'Sent' as const, reason: name }
        : { deliveryId, status: 'Failed' as const, reason };
    });
    await endPrinting(tx, tenantId, ends, job.now);
    all.printed += queued.length - failures.size;
    all.failed += failures.size;
    if (failures.size < queued.length) all.files.push(name);
    afterId = queued.at(-1)?.delivery_id ?? afterId;
  }
}

/** Made of numbers of our own alone. */
function fileName(job: StepJob, part: number): string {
  const numbers = [job.tenant.tenantId, job.termId ?? 0, job.jobId, part].map((id) => BigInt(id));
  const [tenant, term, request, piece] = numbers;
  return `print/${tenant}/${term}/${request}-${piece}.pdf`;
}

/** Returns why some bills are not in the file. */
async function writeFile(
  tx: Tx,
  job: StepJob,
  path: string,
  queued: readonly QueuedPrint[],
): Promise<Map<number, string>> {
  const failures = new Map<number, string>();
  const onFailed = ({ bill }: BillDocumentInput, error: AppError) => {
    failures.set(bill.billID, error.message);
  };
  await mkdir(join(path, '..'), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}.part`;
  // Loaded here, because most workers never print: the threads of the renderer do the rest.
  const { mergeBills } = await import('../domain/documents/render-bill.ts');
  const pieces = mergeBills(inputsOf(tx, job, queued, failures), onFailed);
  await pipeline(Readable.from(pieces), createWriteStream(temporary, { mode: 0o600 }));
  const file = await open(temporary, 'r+');
  await file.sync();
  await file.close();
  await rename(temporary, path);
  return failures;
}

/** Between two bills the process attends to other things: rendering would keep it for minutes. */
async function* inputsOf(
  tx: Tx,
  job: StepJob,
  queued: readonly QueuedPrint[],
  failures: Map<number, string>,
): AsyncGenerator<BillDocumentInput> {
  const { tenantId } = job.tenant;
  for (let at = 0; at < queued.length; at += billsPerRead) {
    const billIds = queued.slice(at, at + billsPerRead).map((one) => one.bill_id);
    const bills = await listBillsByIds(tx, tenantId, billIds);
    const documents = await listDocumentsOf(tx, tenantId, billIds);
    const versionOf = new Map(documents.map((one) => [one.bill_id, one.setting_version]));
    const versions = [...new Set(versionOf.values())];
    const settings = await settingsByVersion(tx, tenantId, job.termId ?? 0, versions);
    const letterheads = new Map(
      [...settings].map(([version, one]) => [version, letterheadOf(one)]),
    );
    for (const bill of bills) {
      const version = versionOf.get(bill.bill_id) ?? 0;
      const setting = settings.get(version);
      const letterhead = letterheads.get(version);
      if (setting === undefined || letterhead === undefined) {
        failures.set(bill.bill_id, 'The bill has no document');
        continue;
      }
      yield billInput(setting, letterhead, bill);
      await turn();
    }
  }
}
