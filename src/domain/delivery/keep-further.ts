// Keeps the files of documents that no bill run makes.
import type { Tx } from '../../base/db/pool.ts';
import { takeNumbers } from '../tenants/numbers-store.ts';
import type { FileFacts, KeptFile } from './document-file.ts';
import { insertFiles, saveParts } from './files-store.ts';
import { type FurtherKey, insertFurther } from './further-documents-store.ts';

export type RenderedFurther = FurtherKey & KeptFile & FileFacts;

/** Numbers are taken when all are rendered, because publishing takes them too. */
export async function keepFurther(
  tx: Tx,
  tenantId: number,
  rendered: readonly RenderedFurther[],
  parts: ReadonlyMap<string, Uint8Array>,
  at: Temporal.Instant,
): Promise<void> {
  if (rendered.length === 0) return;
  const firstId = await takeNumbers(tx, tenantId, 'document', rendered.length);
  const documents = rendered.map((one, index) => ({ ...one, documentId: firstId + index }));
  await insertFurther(tx, tenantId, documents, at);
  await insertFiles(tx, tenantId, documents);
  await saveParts(tx, tenantId, parts, at);
}
