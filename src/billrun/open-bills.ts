// Bills that keep a term from being posted, by name.

import { counted, firstFew } from '../base/counted.ts';
import type { Tx } from '../base/db/pool.ts';
import { AppError, type ErrorCode, type ErrorDetail } from '../base/errors.ts';
import { listReview, type ReviewRow } from '../domain/bills/review/review-store.ts';
import { countOpenBills } from '../domain/bills/store.ts';
import type { Term } from '../domain/terms/store.ts';

/** Bills in the details of a refusal; get-bill-term shows all. */
const detailsMax = 20;

export async function assertAllReady(tx: Tx, tenantId: number, term: Term): Promise<void> {
  const { errors, holds } = await countOpenBills(tx, tenantId, term.term_id);
  if (errors + holds === 0) return;
  const rows = await listReview(tx, tenantId, term.term_id, detailsMax);
  throw new AppError('TERM_HAS_OPEN_BILLS', {
    message:
      `Term ${term.label} has ${counted(errors, 'bill')} in error and ${holds} on hold: ` +
      `${firstFew(rows.map(nameOf), errors + holds)}. Correct or release them and generate ` +
      'again, or send skipErrors: true to leave them for the next term.',
    current: { errors, holds },
    details: [
      ...(errors > 0 ? [countOf(`${errors} in error`)] : []),
      ...(holds > 0 ? [countOf(`${holds} on hold`)] : []),
      ...rows.map(detailOf),
    ],
  });
}

/** `: ELEC-00000004 READING_MISSING and ...`, or '' where every bill is ready. */
export async function openBillsText(
  tx: Tx,
  tenantId: number,
  termId: number,
  open: number,
): Promise<string> {
  if (open === 0) return '';
  const rows = await listReview(tx, tenantId, termId, detailsMax);
  return `: ${firstFew(rows.map(nameOf), open)}`;
}

function nameOf({ bill_id: id, connection_number: number, status, code }: ReviewRow): string {
  return `${number ?? `bill ${id}`} ${status === 'Hold' ? 'on hold' : code}`;
}

function countOf(message: string): ErrorDetail {
  return { field: null, code: 'TERM_HAS_OPEN_BILLS', message };
}

function detailOf(row: ReviewRow): ErrorDetail {
  const reason = row.status === 'Hold' ? `on hold, ${row.hold_reason}` : row.message;
  return {
    field: `bills[${row.bill_id}]`,
    code: row.status === 'Error' && row.code ? (row.code as ErrorCode) : 'TERM_HAS_OPEN_BILLS',
    message: `${row.connection_number ?? `Bill ${row.bill_id}`}: ${reason}`,
  };
}
