// Makes the documents that no bill run makes, in every workspace, soon after they are due: those of
// credit notes and cancelled bills. No caller waits for it.
import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../base/clock.ts';
import { type Database, plainOpening, type Tx, tenantTransact, transact } from '../base/db/pool.ts';
import type { Log } from '../base/log.ts';
import { insertFiles, saveParts } from '../domain/delivery/files-store.ts';
import { cancelledSource, creditNoteSource } from '../domain/delivery/further-documents.ts';
import {
  deleteQueued,
  type FurtherKey,
  insertFurther,
  listWorkspacesWithDocuments,
  takeQueued,
} from '../domain/delivery/further-documents-store.ts';
import type { Renderer } from '../domain/delivery/renderer.ts';
import { takeNumbers } from '../domain/tenants/numbers-store.ts';
import { findSettings } from '../domain/tenants/store.ts';
import { tenantFrom } from '../domain/tenants/tenant.ts';

export type DocumentMakerOptions = {
  database: Database;
  clock: Clock;
  log: Log;
  equipment: { renderer: Renderer };
  /** The one workspace to work for, instead of all. */
  tenantId?: number;
};

/** A document is made after this long at most. */
const everyMs = 30_000;

/** Makes all that wait, and returns how many. */
export async function makeDocuments(options: DocumentMakerOptions): Promise<number> {
  const { database, log, tenantId: only } = options;
  const found = await transact(database, { opening: plainOpening }, listWorkspacesWithDocuments);
  let made = 0;
  for (const tenantId of found) {
    if (only !== undefined && only !== tenantId) continue;
    try {
      while (await tenantTransact(database, tenantId, (tx) => makeNext(tx, tenantId, options))) {
        made += 1;
      }
    } catch (error) {
      log.error({ err: error, tenantId }, 'documents could not be made');
    }
  }
  return made;
}

async function makeNext(
  tx: Tx,
  tenantId: number,
  { equipment, clock, log }: DocumentMakerOptions,
): Promise<boolean> {
  const key = await takeQueued(tx, tenantId);
  if (key === undefined) return false;
  await deleteQueued(tx, tenantId, key);
  const source = await sourceOf(tx, tenantId, key);
  if (source === undefined) return true;
  const { setting, bill, cancellation, creditNote } = source;
  const more = { ...(cancellation && { cancellation }), ...(creditNote && { creditNote }) };
  const { results, parts } = await equipment.renderer.render(setting, [{ ...bill, ...more }]);
  const result = results.get(bill.bill_id);
  if (result === undefined || 'error' in result) {
    // It is made on request then, which names the error to the caller.
    log.error({ tenantId, ...key, error: result?.error }, 'a document could not be made');
    return true;
  }
  const documentId = await takeNumbers(tx, tenantId, 'document', 1);
  await insertFurther(tx, tenantId, { ...key, documentId, at: clock.now() }, result);
  await insertFiles(tx, tenantId, [{ ...result, documentId }]);
  await saveParts(tx, tenantId, parts);
  return true;
}

async function sourceOf(tx: Tx, tenantId: number, { kind, subjectId }: FurtherKey) {
  if (kind === 'Cancelled') return cancelledSource(tx, tenantId, subjectId);
  const tenant = tenantFrom(tenantId, await findSettings(tx, tenantId));
  return creditNoteSource(tx, tenant, subjectId);
}

export function startDocumentMaker(options: DocumentMakerOptions): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = (async () => {
    while (!signal.aborted) {
      await makeDocuments(options).catch((error) =>
        options.log.error({ err: error }, 'workspaces with documents to make were not found'),
      );
      await setTimeout(everyMs, undefined, { signal, ref: false }).catch(() => {});
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
