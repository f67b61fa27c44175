// Keeps the files of documents that no bill run makes.
import type { Tx } from '../../base/db/pool.ts';
import { takeNumbers } from '../tenants/numbers-store.ts';
import type { FileFacts, KeptFile } from './document-file.ts';
import { insertFiles, saveParts } from './files-store.ts';
import { type FurtherKey, insertFurther, listKeptKeys } from './further-documents-store.ts';

export type RenderedFurther = FurtherKey & KeptFile & FileFacts;

/**
 * Numbers are taken when all are rendered, because publishing takes them too. Of two that keep the
 * same document, one waits there for the other, and leaves out what the other has kept.
 */
export async function keepFurther(
  tx: Tx,
  tenantId: number,
  rendered: readonly RenderedFurther[],
  parts: ReadonlyMap<string, Uint8Array>,
  at: Temporal.Instant,
): Promise<void> {
  if (rendered.length === 0) return;
  const firstId = await takeNumbers(tx, tenantId, 'document', rendered.length);
  const kept = await listKeptKeys(tx, tenantId, rendered);
  const isKept = (one: FurtherKey) =>
    kept.some((key) => key.kind === one.kind && key.subjectId === one.subjectId);
  const documents = rendered
    .map((one, index) => ({ ...one, documentId: firstId + index }))
    .filter((one) => !isKept(one));
  if (documents.length === 0) return;
  await insertFurther(tx, tenantId, documents, at);
  await insertFiles(tx, tenantId, documents);
  await saveParts(tx, tenantId, parts, at);
}
