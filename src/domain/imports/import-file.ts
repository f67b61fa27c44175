// Takes in a file: all of it or nothing. A dry run does the same and then undoes it, so that it
// finds what the real run would find.

import { createHash } from 'node:crypto';
import { dateIn, formatDate } from '../../base/calendar.ts';
import type { Encoding } from '../../base/csv/decode.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { takeNumbers } from '../tenants/numbers-store.ts';
import type { Tenant } from '../tenants/tenant.ts';
import { type ImportedRows, importRows, type Loader, type Progress } from './import-rows.ts';
import { findImport, insertImport, lockFile, markBeforeImport, undoImport } from './store.ts';

export type ImportFile = {
  kind: string;
  name: string | null;
  encoding: Encoding | null;
  /** May be read more than once. */
  bytes(): AsyncIterable<Uint8Array>;
};

export type ImportOptions = {
  isDryRun: boolean;
  /** True: imports the file even if it was imported before. */
  isAgain: boolean;
  onProgress: Progress;
  rowsAtOnce?: number;
};

export type Imported = ImportedRows & { importId: number | null };

/** Stores a file or, if rows are rejected, nothing of it: the result names these rows. */
export async function importFile(
  tx: Tx,
  { tenantId, timezone }: Pick<Tenant, 'tenantId' | 'timezone'>,
  file: ImportFile,
  loader: Loader,
  options: ImportOptions,
  stamp: Stamp,
): Promise<Imported> {
  const sha256 = await hashOf(file);
  await lockFile(tx, tenantId, { kind: file.kind, sha256 });
  if (!options.isAgain) {
    const before = await findImport(tx, tenantId, { kind: file.kind, sha256 });
    if (before) throw takenBefore(before, timezone);
  }
  await markBeforeImport(tx);
  const result = await importRows(file.bytes(), file.encoding, loader, options);
  if (result.problems.length > 0 || options.isDryRun) {
    await undoImport(tx);
    return { ...result, importId: null };
  }
  const importId = await takeNumbers(tx, tenantId, 'import', 1);
  const row = { importId, kind: file.kind, fileName: file.name, sha256, rows: result.rows };
  await insertImport(tx, tenantId, row, stamp);
  return { ...result, importId };
}

async function hashOf(file: ImportFile): Promise<Buffer> {
  const hash = createHash('sha256');
  for await (const piece of file.bytes()) hash.update(piece);
  return hash.digest();
}

function takenBefore(
  before: { created_at: Temporal.Instant; created_by: string },
  timezone: string,
): AppError {
  const when = formatDate(dateIn(before.created_at, timezone));
  return new AppError('DUPLICATE', {
    message: `This file was imported on ${when} by ${before.created_by}; nothing was changed`,
    field: 'content',
  });
}
