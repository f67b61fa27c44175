import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import { mergePdfs } from '../../base/pdf/merge.ts';
import { documentThreads, printFileTurns } from '../../domain/delivery/document-threads.ts';
import { listCancelled } from '../../domain/delivery/documents-store.ts';
import { readFile } from '../../domain/delivery/files-store.ts';
import { printDocuments } from '../../domain/delivery/print-documents.ts';
import {
  findPrintFile,
  listPrintedBills,
  type PrintFileRow,
} from '../../domain/delivery/print-files-store.ts';
import { findSettings } from '../../domain/tenants/store.ts';
import { id, ordinal } from '../fields.ts';
import { type Call, operation } from '../operation.ts';
import { billToShow } from './shown-document-fields.ts';

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
    'DOCUMENT_DELETED',
  ],
  example: { jobID: 901, part: 1 },
  turns: printFileTurns,
  async handle(call, { jobID: jobId, part }) {
    const file = await findPrintFile(call.tx, call.tenant.tenantId, { jobId, part });
    if (!file) {
      const message = `Job ${jobId} has no print file ${part}`;
      throw new AppError('PRINT_FILE_NOT_FOUND', { message, field: 'part' });
    }
    const { bytes, cancelled } = await putTogether(call, file);
    const since = cancelled > 0 ? `, with ${cancelled} cancelled since and marked so` : '';
    const data = { contentType: 'application/pdf', base64: bytes.toString('base64') };
    return { message: `1 found${since}`, data };
  },
});

/** Of the documents as they were published, but for bills that were cancelled since. */
async function putTogether(call: Call, file: PrintFileRow) {
  const { tx, tenant } = call;
  const { tenantId } = tenant;
  const { locale } = await findSettings(tx, tenantId);
  const billIds = await listPrintedBills(tx, tenantId, file);
  const cancelled = await listCancelled(tx, tenantId, billIds);
  async function* files() {
    const documents = printDocuments(tx, tenantId, billIds, (_, isDeleted) => {
      throw new AppError(isDeleted ? 'DOCUMENT_DELETED' : 'DOCUMENT_DIFFERS');
    });
    for await (const { billId, file: published } of documents) {
      yield cancelled.has(billId) ? await cancelledFile(call, billId) : published;
    }
  }
  const pieces: Buffer[] = [];
  const info = { title: `Bills ${file.job_id}`, language: locale };
  for await (const piece of mergePdfs(files(), info)) pieces.push(piece);
  return { bytes: Buffer.concat(pieces), cancelled: cancelled.size };
}

async function cancelledFile(call: Call, billId: number): Promise<Buffer> {
  const { task, published } = await billToShow(call, billId, 'Cancelled');
  if (published) return readFile(call.tx, call.tenant.tenantId, published);
  const { base64 } = await documentThreads().make({ ...task, format: 'PDF' });
  return Buffer.from(base64, 'base64');
}
