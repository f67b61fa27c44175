// The documents of the bills of a print file, read some at a time.
import { setImmediate as turn } from 'node:timers/promises';
import type { Tx } from '../../base/db/pool.ts';
import { listPublished } from './documents-store.ts';
import { readFiles } from './files-store.ts';

const billsPerRead = 100;

/** In the order of the bills. A bill whose document is missing, damaged or deleted is left out. */
export async function* printDocuments(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
  onMissing: (billId: number, isDeleted: boolean) => void,
): AsyncGenerator<{ billId: number; file: Buffer }> {
  for (let at = 0; at < billIds.length; at += billsPerRead) {
    const some = billIds.slice(at, at + billsPerRead);
    const documents = await listPublished(tx, tenantId, some);
    const documentOf = new Map(documents.map((one) => [one.bill_id, one]));
    const files = await readFiles(tx, tenantId, documents);
    for (const billId of some) {
      const document = documentOf.get(billId);
      const file = files.get(document?.document_id ?? 0);
      const isDeleted = document !== undefined && document.deleted_on !== null;
      if (file === undefined) onMissing(billId, isDeleted);
      else yield { billId, file };
      // Between two bills other things get their turn.
      await turn();
    }
  }
}
