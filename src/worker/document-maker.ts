// Makes the documents that no bill run makes, in every workspace, soon after they are due: those of
// credit notes and cancelled bills, and receipts that are mailed. No caller waits for it.
import type { Clock } from '../base/clock.ts';
import { type Database, plainOpening, type Tx, tenantTransact, transact } from '../base/db/pool.ts';
import type { Log } from '../base/log.ts';
import { cancelledSource, creditNoteSource } from '../domain/delivery/further-documents.ts';
import {
  deleteQueued,
  type FurtherKey,
  listFurther,
  listWorkspacesWithDocuments,
  takeQueued,
} from '../domain/delivery/further-documents-store.ts';
import { keepFurther, type RenderedFurther } from '../domain/delivery/keep-further.ts';
import { queueReceiptMails } from '../domain/delivery/receipt-mails.ts';
import { type ReceiptSource, receiptSources } from '../domain/delivery/receipts.ts';
import type { Renderer } from '../domain/delivery/renderer.ts';
import { findSettings } from '../domain/tenants/store.ts';
import { tenantFrom } from '../domain/tenants/tenant.ts';
import { repeatEvery } from './repeat.ts';

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

/** Documents of one transaction. */
const madeAtOnce = 50;

/** Makes all that wait, and returns how many. */
export async function makeDocuments(options: DocumentMakerOptions): Promise<number> {
  const { database, log, tenantId: only } = options;
  const found = await transact(database, { opening: plainOpening }, listWorkspacesWithDocuments);
  let made = 0;
  for (const tenantId of found) {
    if (only !== undefined && only !== tenantId) continue;
    try {
      made += await makeAllOf(tenantId, options);
    } catch (error) {
      log.error({ err: error, tenantId }, 'documents could not be made');
    }
  }
  return made;
}

async function makeAllOf(tenantId: number, options: DocumentMakerOptions): Promise<number> {
  const makeNext = (tx: Tx) => makeSome(tx, tenantId, options);
  for (let made = 0; ; ) {
    const count = await tenantTransact(options.database, tenantId, makeNext);
    made += count;
    if (count < madeAtOnce) return made;
  }
}

async function makeSome(
  tx: Tx,
  tenantId: number,
  { equipment, clock, log }: DocumentMakerOptions,
): Promise<number> {
  const keys = await takeQueued(tx, tenantId, madeAtOnce);
  await deleteQueued(tx, tenantId, keys);
  const tools = { renderer: equipment.renderer, log };
  const ofBills = keys.flatMap(({ kind, subjectId }) =>
    kind === 'Cancelled' || kind === 'CreditNote' ? [{ kind, subjectId }] : [],
  );
  const mailed = keys.flatMap((key) => (key.kind === 'ReceiptMail' ? [key.subjectId] : []));
  const receipts = await receiptSources(tx, tenantId, mailed);
  const parts = new Map<string, Uint8Array>();
  const rendered = [
    ...(await renderOfBills(tx, tenantId, ofBills, tools, parts)),
    ...(await renderReceipts(tx, tenantId, receipts, tools, parts)),
  ];
  const now = clock.now();
  await keepFurther(tx, tenantId, rendered, parts, now);
  const sources = mailed.flatMap((id) => receipts.get(id) ?? []);
  await queueReceiptMails(tx, tenantId, sources, { log, now });
  return keys.length;
}

type Rendered = RenderedFurther;
type Tools = { renderer: Renderer; log: Log };

/** Those of cancelled bills and credit notes. */
async function renderOfBills(
  tx: Tx,
  tenantId: number,
  keys: readonly FurtherKey[],
  { renderer, log }: Tools,
  parts: Map<string, Uint8Array>,
): Promise<Rendered[]> {
  const rendered: Rendered[] = [];
  for (const key of keys) {
    const source = await sourceOf(tx, tenantId, key);
    if (source === undefined) continue;
    const { setting, bill, cancellation, creditNote } = source;
    const more = { ...(cancellation && { cancellation }), ...(creditNote && { creditNote }) };
    const made = await renderer.render(setting, [{ ...bill, ...more }]);
    const result = made.results.get(bill.bill_id);
    if (result === undefined || 'error' in result) {
      // It is made on request then, which names the error to the caller.
      log.error({ tenantId, ...key, error: result?.error }, 'a document could not be made');
      continue;
    }
    rendered.push({ ...key, ...result });
    if (result.eInvoice) {
      rendered.push({ ...key, kind: 'CreditNoteEInvoice', ...result.eInvoice });
    }
    for (const [sha256, bytes] of made.parts) parts.set(sha256, bytes);
  }
  return rendered;
}

async function renderReceipts(
  tx: Tx,
  tenantId: number,
  receipts: ReadonlyMap<number, ReceiptSource>,
  { renderer, log }: Tools,
  parts: Map<string, Uint8Array>,
): Promise<Rendered[]> {
  const kept = await listFurther(tx, tenantId, 'Receipt', [...receipts.keys()]);
  const missing = [...receipts].filter(([id]) => !kept.has(id));
  if (missing.length === 0) return [];
  const made = await renderer.print(missing.map(([, source]) => source.paper));
  for (const [sha256, bytes] of made.parts) parts.set(sha256, bytes);
  return missing.flatMap(([subjectId], index): Rendered[] => {
    const result = made.results[index];
    if (result && !('error' in result)) return [{ kind: 'Receipt', subjectId, ...result }];
    log.error({ tenantId, subjectId, error: result?.error }, 'a receipt could not be made');
    return [];
  });
}

async function sourceOf(tx: Tx, tenantId: number, { kind, subjectId }: FurtherKey) {
  if (kind === 'Cancelled') return cancelledSource(tx, tenantId, subjectId);
  const tenant = tenantFrom(tenantId, await findSettings(tx, tenantId));
  return creditNoteSource(tx, tenant, subjectId);
}

export function startDocumentMaker(options: DocumentMakerOptions): { stop(): Promise<void> } {
  const failure = 'workspaces with documents to make were not found';
  return repeatEvery(everyMs, () => makeDocuments(options), { log: options.log, failure });
}
