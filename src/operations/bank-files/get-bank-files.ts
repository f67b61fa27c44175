import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import { majorUnits } from '../../base/money.ts';
import { countFiles, type FileRow, listFiles } from '../../domain/bank-files/lines-store.ts';
import { fieldsOnly, id, maybe, money, nullable, page, timestamp } from '../fields.ts';
import { listing } from '../listing.ts';
import { operation } from '../operation.ts';

const fileView = {
  bankFileID: Type.Integer(),
  bankAccountID: Type.Integer(),
  format: Type.String(),
  fileName: nullable(Type.String()),
  lines: Type.Integer({ description: 'with duplicates' }),
  duplicates: Type.Integer({ description: 'lines that another file had brought' }),
  jobID: nullable(Type.Integer({ description: 'posts the lines of a large file' })),
  statements: Type.Array(
    Type.Object({
      statementID: Type.String(),
      account: nullable(Type.String()),
      openingBalance: nullable(money),
      closingBalance: nullable(money),
      lines: Type.Integer(),
      isProven: Type.Integer({ description: '1: opening balance and lines give the closing one' }),
    }),
  ),
  createdAt: timestamp,
  createdBy: Type.String(),
};

export const getBankFiles = operation({
  path: '/billing/bank-files/get-bank-files',
  method: 'Retrieve',
  action: 'Retrieve Bank Files',
  access: { permission: 'bank-files:read' },
  summary: 'Lists bank files, the newest first, with the proven balances of their statements.',
  request: Type.Object({
    bankFileID: maybe(id),
    page: Type.Optional(page),
    metaData: fieldsOnly,
  }),
  response: Type.Object({ bankFiles: Type.Array(Type.Partial(Type.Object(fileView))) }),
  errors: [],
  example: { page: { pageNumber: 0, size: 20 } },
  handle(call, body) {
    const { tenantId, timezone, currencyDecimals } = call.tenant;
    const wanted = body.bankFileID ?? null;
    const amount = (minor: string | null) =>
      minor === null ? null : majorUnits(BigInt(minor), currencyDecimals);
    return listing(call, {
      page: body.page,
      fields: body.metaData?.fields,
      count: (tx) => countFiles(tx, tenantId, wanted),
      at: (tx, window) => listFiles(tx, tenantId, wanted, { ...window, beforeId: null }),
      after: (tx, { after, limit }) =>
        listFiles(tx, tenantId, wanted, {
          ...{ offset: 0, limit, beforeId: after?.bank_file_id ?? null },
        }),
      present: (row: FileRow) => ({
        bankFileID: row.bank_file_id,
        bankAccountID: row.bank_account_id,
        format: row.format,
        fileName: row.file_name,
        lines: row.lines,
        duplicates: row.duplicates,
        jobID: row.job_id,
        statements: row.statements.map((one) => ({
          statementID: one.statementId,
          account: one.account,
          openingBalance: amount(one.opening),
          closingBalance: amount(one.closing),
          lines: one.lines,
          isProven: one.opening === null ? 0 : 1,
        })),
        createdAt: formatTimestamp(row.created_at, timezone),
        createdBy: row.created_by,
      }),
      wrap: (bankFiles) => ({ bankFiles }),
    });
  },
});
