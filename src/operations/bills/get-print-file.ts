import * as Type from 'typebox';
import { fewAtOnce } from '../../base/at-once.ts';
import { AppError } from '../../base/errors.ts';
import {
  findPrintFile,
  listPrintedBills,
  type PrintFileRow,
} from '../../domain/delivery/print-files-store.ts';
import { printInputs } from '../../domain/delivery/print-inputs.ts';
import type { BillDocumentInput } from '../../domain/documents/bill-document.ts';
import { id, ordinal } from '../fields.ts';
import { type Call, operation } from '../operation.ts';

const inTurn = fewAtOnce(2);

export const getPrintFile = operation({
  path: '/billing/bills/get-print-file',
  method: 'Retrieve',
  action: 'Retrieve Print File',
  access: { permission: 'bills:read' },
  summary: 'A file of bills that are to be printed, as PDF.',
  request: Type.Object({ jobID: id, part: ordinal }),
  response: Type.Object({ contentType: Type.String(), base64: Type.String() }),
  errors: ['PRINT_FILE_NOT_FOUND', 'TEMPLATE_INVALID', 'DOCUMENT_TOO_LONG', 'DOCUMENT_DIFFERS'],
  example: { jobID: 901, part: 1 },
  async handle(call, { jobID: jobId, part }) {
    const file = await findPrintFile(call.tx, call.tenant.tenantId, { jobId, part });
    if (!file) {
      const message = `Job ${jobId} has no print file ${part}`;
      throw new AppError('PRINT_FILE_NOT_FOUND', { message, field: 'part' });
    }
    return inTurn(async () => {
      const { bytes, cancelled } = await render(call, file);
      const data = { contentType: 'application/pdf', base64: bytes.toString('base64') };
      return { message: await compared(bytes, file, cancelled), data };
    });
  },
});

/** Bytes are not kept, as they are not of documents: any server makes them from the same parts. */
async function render(call: Call, file: PrintFileRow) {
  const { tenantId } = call.tenant;
  const billIds = await listPrintedBills(call.tx, tenantId, file);
  const print = { termId: file.term_id, billIds };
  const inputs = printInputs(call.tx, tenantId, print, (billId) => {
    throw new Error(`bill ${billId} of print file ${file.name} has no document`);
  });
  let cancelled = 0;
  async function* counted(): AsyncGenerator<BillDocumentInput> {
    for await (const input of inputs) {
      if (input.bill.status === 'Cancelled') cancelled += 1;
      yield input;
    }
  }
  // Fonts and all that draws with them are loaded when a file is asked for.
  const { mergeBills } = await import('../../domain/documents/render-bill.ts');
  const pieces: Buffer[] = [];
  const onFailed = (_: BillDocumentInput, error: AppError) => {
    throw error;
  };
  for await (const piece of mergeBills(counted(), onFailed)) pieces.push(piece);
  return { bytes: Buffer.concat(pieces), cancelled };
}

async function compared(bytes: Buffer, file: PrintFileRow, cancelled: number): Promise<string> {
  const { rendererEdition, sha256 } = await import('../../domain/delivery/edition.ts');
  if (file.sha256 === sha256(bytes)) return '1 found';
  if (cancelled > 0) return `1 found, with ${cancelled} cancelled since and marked so`;
  if (file.edition === rendererEdition()) throw new AppError('DOCUMENT_DIFFERS');
  return '1 found, laid out anew by another version of the program';
}
