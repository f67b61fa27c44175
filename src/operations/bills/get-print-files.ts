import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import {
  countPrintFiles,
  listPrintFiles,
  type PrintFileRow,
} from '../../domain/delivery/print-files-store.ts';
import { fieldsOnly, maybe, page, timestamp } from '../fields.ts';
import { listing } from '../listing.ts';
import { operation } from '../operation.ts';

const printFileView = {
  jobID: Type.Integer({ description: 'of the job that wrote it' }),
  part: Type.Integer({ description: 'one job numbers its files from 1' }),
  termID: Type.Integer(),
  name: Type.String({ description: "its path in the worker's data folder" }),
  bills: Type.Integer(),
  size: Type.Integer({ description: 'bytes' }),
  sha256: Type.String(),
  createdAt: timestamp,
  createdBy: Type.String(),
};

export const getPrintFiles = operation({
  path: '/billing/bills/get-print-files',
  method: 'Retrieve',
  action: 'Retrieve Print Files',
  access: { permission: 'bills:read' },
  summary: 'Lists the files of bills that are to be printed.',
  request: Type.Object({
    termID: maybe(
      Type.Integer({
        minimum: Number.MIN_SAFE_INTEGER,
        maximum: Number.MAX_SAFE_INTEGER,
        'x-code': 'INVALID_FILTER_VALUE',
      }),
    ),
    page: Type.Optional(page),
    metaData: fieldsOnly,
  }),
  response: Type.Object({ printFiles: Type.Array(Type.Partial(Type.Object(printFileView))) }),
  errors: [],
  example: { termID: 1, page: { pageNumber: 0, size: 20 } },
  handle(call, body) {
    const { tenantId, timezone } = call.tenant;
    const filter = { termId: body.termID ?? null };
    return listing(call, {
      page: body.page,
      fields: body.metaData?.fields,
      count: (tx) => countPrintFiles(tx, tenantId, filter),
      at: (tx, window) => listPrintFiles(tx, tenantId, filter, { ...window, after: undefined }),
      after: (tx, window) => listPrintFiles(tx, tenantId, filter, { ...window, offset: 0 }),
      present: (row: PrintFileRow) => ({
        jobID: row.job_id,
        part: row.part,
        termID: row.term_id,
        name: row.name,
        bills: row.bills,
        size: row.size,
        sha256: row.sha256,
        createdAt: formatTimestamp(row.created_at, timezone),
        createdBy: row.created_by,
      }),
      wrap: (printFiles) => ({ printFiles }),
    });
  },
});
