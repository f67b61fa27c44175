// Deletes the files of documents when their years of retention have passed.
import type { Tx } from '../../base/db/pool.ts';
import type { ChunkDone } from '../tenants/daily-store.ts';
import { findSettings } from '../tenants/store.ts';
import { deleteFiles, deleteParts, listOldDocuments } from './retention-store.ts';

/** Files of one chunk: some megabytes. */
const documentsAtOnce = 500;

/**
 * One chunk. The years count from the end of the year of publication: of what was published in 2026
 * and is kept for 10 years, the files are deleted from 2037 on. Parts go after the last document.
 */
export async function deleteOldDocuments(
  tx: Tx,
  tenantId: number,
  { localDate }: { localDate: Temporal.PlainDate },
): Promise<ChunkDone> {
  const { document_retention_years: years, timezone } = await findSettings(tx, tenantId);
  const year = localDate.year - years;
  const firstKept = Temporal.PlainDate.from({ year, month: 1, day: 1 });
  const before = firstKept.toZonedDateTime(timezone).toInstant();
  const ids = await listOldDocuments(tx, tenantId, before, documentsAtOnce);
  await deleteFiles(tx, tenantId, ids, localDate);
  if (ids.length === documentsAtOnce) {
    return { next: { documentId: ids.at(-1) ?? 0 }, outcome: { documents: ids.length } };
  }
  const parts = await deleteParts(tx, tenantId, year, documentsAtOnce);
  const next = parts === documentsAtOnce ? { documentId: ids.at(-1) ?? 0 } : null;
  return { next, outcome: { documents: ids.length, parts } };
}
