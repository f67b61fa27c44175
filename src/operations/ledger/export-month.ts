import { createHash } from 'node:crypto';
import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import {
  type MonthFormat,
  monthContentTypes,
  monthFile,
  monthFileName,
  monthFormats,
} from '../../domain/exports/month-file.ts';
import { formatMonth, lastDayOf } from '../../domain/ledger/months.ts';
import { findExportHash, findLastClosedMonth } from '../../domain/ledger/months-store.ts';
import { countJournalLines } from '../../domain/ledger/totals-store.ts';
import { maybe, oneOf } from '../fields.ts';
import { type Call, operation } from '../operation.ts';
import { monthSent, requireMonth } from './ledger-fields.ts';

/** More make an answer too large; the command line writes files of any size. */
const linesMax = 100_000;

export const exportMonth = operation({
  path: '/billing/ledger/export-month',
  method: 'Retrieve',
  action: 'Export Month',
  access: { permission: 'ledger:read' },
  summary: 'Returns the journals of a closed month as a file, the same bytes each time.',
  request: Type.Object({ month: monthSent, format: maybe(oneOf(monthFormats)) }),
  response: Type.Object({
    fileName: Type.String(),
    contentType: Type.String(),
    base64: Type.String(),
    sha256: Type.String({ description: 'of the bytes of the file' }),
  }),
  errors: ['INVALID_STATE', 'DOCUMENT_DIFFERS'],
  example: { month: '07/2025', format: 'CSV' },
  async handle(call, body) {
    const month = requireMonth(body.month, 'month');
    const format = body.format ?? 'CSV';
    await assertExportable(call, month);
    const pieces = await Array.fromAsync(monthFile(call.read, call.tenant, { month, format }));
    const bytes = Buffer.from(pieces.join(''));
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    await assertUnchanged(call, month, format, sha256);
    return {
      message: `Journals of ${formatMonth(month)}`,
      data: {
        fileName: monthFileName(month, format),
        contentType: monthContentTypes[format],
        base64: bytes.toString('base64'),
        sha256,
      },
    };
  },
});

async function assertExportable({ tx, tenant }: Call, month: Temporal.PlainDate): Promise<void> {
  const last = await findLastClosedMonth(tx, tenant.tenantId);
  if (!last || Temporal.PlainDate.compare(month, last) > 0) {
    const message = `${formatMonth(month)} is still open: close it first`;
    throw new AppError('INVALID_STATE', { message, field: 'month' });
  }
  const days = { from: month, to: lastDayOf(month) };
  const lines = await countJournalLines(tx, tenant.tenantId, days);
  if (lines <= linesMax) return;
  const message = `${lines} lines are too many: run "billwright ledger export-month" instead`;
  throw new AppError('TOO_MANY_ITEMS', { message, field: 'month' });
}

async function assertUnchanged(
  { tx, tenant }: Call,
  month: Temporal.PlainDate,
  format: MonthFormat,
  hash: string,
): Promise<void> {
  const kept = await findExportHash(tx, tenant.tenantId, month, format);
  if (kept === undefined || kept === hash) return;
  const message = `The journals of ${formatMonth(month)} differ from those that were closed`;
  throw new AppError('DOCUMENT_DIFFERS', { message, field: 'month' });
}
