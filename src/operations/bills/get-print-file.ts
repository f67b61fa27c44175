import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import type { MadeDocument } from '../../domain/delivery/document-thread.ts';
import { documentThreads, printFileTurns } from '../../domain/delivery/document-threads.ts';
import { printBatches } from '../../domain/delivery/print-batches.ts';
import {
  findPrintFile,
  listPrintedBills,
  type PrintFileRow,
} from '../../domain/delivery/print-files-store.ts';
import type { PrintBatch } from '../../domain/delivery/print-inputs.ts';
import { id, ordinal } from '../fields.ts';
import { type Call, operation } from '../operation.ts';

export const getPrintFile = operation({
  path: '/billing/bills/get-print-file',
  method: 'Retrieve',
  action: 'Retrieve Print File',
  access: { permission: 'bills:read' },
  summary: 'A file of bills that are to be printed, as PDF.',
  request: Type.Object({ jobID: id, part: ordinal }),
  response: Type.Object({ contentType: Type.String(), base64: Type.String() }),
  errors: [
    'PRINT_FILE_NOT_FOUND',
    'TEMPLATE_INVALID',
    'DOCUMENT_TOO_LONG',
    'DOCUMENT_TOO_SLOW',
    'DOCUMENT_FAILED',
    'DOCUMENT_DIFFERS',
  ],
  example: { jobID: 901, part: 1 },
  turns: printFileTurns,
  async handle(call, { jobID: jobId, part }) {
    const file = await findPrintFile(call.tx, call.tenant.tenantId, { jobId, part });
    if (!file) {
      const message = `Job ${jobId} has no print file ${part}`;
      throw new AppError('PRINT_FILE_NOT_FOUND', { message, field: 'part' });
    }
    const { made, cancelled } = await render(call, file);
    const data = { contentType: 'application/pdf', base64: made.base64 };
    return { message: compared(made, file, cancelled), data };
  },
});

/** Bytes are not kept, as they are not of documents: any server makes them from the same parts. */
async function render(call: Call, file: PrintFileRow) {
  const { tenantId } = call.tenant;
  const billIds = await listPrintedBills(call.tx, tenantId, file);
  const print = { termId: file.term_id, billIds };
  const batches = printBatches(call.tx, tenantId, print, (billId) => {
    throw new Error(`bill ${billId} of print file ${file.name} has no document`);
  });
  let cancelled = 0;
  async function* counted(): AsyncGenerator<PrintBatch> {
    for await (const batch of batches) {
      cancelled += batch.bills.filter(({ bill }) => bill.status === 'Cancelled').length;
      yield batch;
    }
  }
  return { made: await documentThreads().makePrintFile(counted()), cancelled };
}

function compared(made: MadeDocument, file: PrintFileRow, cancelled: number): string {
  if (file.sha256 === made.sha256) return '1 found';
  if (cancelled > 0) return `1 found, with ${cancelled} cancelled since and marked so`;
  if (file.edition === made.edition) throw new AppError('DOCUMENT_DIFFERS');
  return '1 found, laid out again by another version of the program';
}
