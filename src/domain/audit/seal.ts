// Seals items in blocks, and checks that sealed items are unchanged.
import { createHash } from 'node:crypto';
import { counted } from '../../base/counted.ts';
import type { Tx } from '../../base/db/pool.ts';
import { takeNumbers } from '../tenants/numbers-store.ts';
import {
  countUnsealedAudit,
  findLastSeal,
  findSealHash,
  insertSeal,
  listNeverSealed,
  listQueuedAgain,
  listSealedAgain,
  listSeals,
  readItems,
  type Seal,
  type SealedItem,
  type SealedKind,
  sealedKinds,
  takeQueued,
} from './seals-store.ts';

/** Items of a block at most. */
export const blockItems = 500;

const beginning = '0'.repeat(64);

/** Seals what waits in one block and returns how many items it has. */
export async function sealBlock(tx: Tx, tenantId: number, at: Temporal.Instant): Promise<number> {
  const queued = await takeQueued(tx, tenantId, blockItems);
  if (queued.length === 0) return 0;
  // Another worker that seals waits here: a block follows the one before it.
  const block = await takeNumbers(tx, tenantId, 'seal', 1);
  const previousHash = block === 1 ? beginning : await findSealHash(tx, tenantId, block - 1);
  if (previousHash === undefined) throw new Error(`seal ${block - 1} is missing`);
  const found = await contentsOf(tx, tenantId, queued);
  const sealed = queued.map((item) => found.get(item) ?? { item, rows: 0, hash: '-' });
  const items = sealed.map(lineOf);
  const audited = sealed.filter(({ item }) => item.startsWith('audit '));
  const auditRows = audited.reduce((sum, { rows }) => sum + rows, 0);
  const hash = blockHash({ block, items, auditRows, previousHash });
  await insertSeal(tx, tenantId, { block, items, auditRows, previousHash, hash }, at);
  return items.length;
}

function lineOf({ item, rows, hash }: SealedItem): string {
  return `${item} ${rows} ${hash}`;
}

function itemOf(line: string): SealedItem {
  const [kind, id, rows, hash = ''] = line.split(' ');
  return { item: `${kind} ${id}`, rows: Number(rows), hash };
}

/** SHA-256 of the block before, the number of this one, its audit entries and its items. */
function blockHash({ block, items, auditRows, previousHash }: Omit<Seal, 'hash'>): string {
  const text = [previousHash, block, auditRows, ...items].join('\n');
  return createHash('sha256').update(text).digest('hex');
}

async function contentsOf(
  tx: Tx,
  tenantId: number,
  items: readonly string[],
): Promise<Map<string, SealedItem>> {
  const found = new Map<string, SealedItem>();
  const byKind = Map.groupBy(items, (item) => item.split(' ')[0] as SealedKind);
  for (const kind of sealedKinds) {
    const ids = (byKind.get(kind) ?? []).map((item) => item.slice(kind.length + 1));
    if (ids.length === 0) continue;
    for (const one of await readItems(tx, tenantId, kind, ids)) found.set(one.item, one);
  }
  return found;
}

export type SealCheck = {
  /** Blocks. */
  checked: number;
  wrong: number;
  examples: string[];
  /** Audit entries that wait for their seal. */
  unsealed: number;
};

type Reader = { read<T>(work: (tx: Tx) => Promise<T>): Promise<T> };

const blocksAtOnce = 10;

/**
 * Every block follows from the one before, and every item is what its newest seal says. A few
 * blocks at a time, so that memory stays flat however many there are.
 */
export async function checkSeals(
  { read }: Reader,
  tenantId: number,
  examplesMax: number,
): Promise<SealCheck> {
  const check: SealCheck = { checked: 0, wrong: 0, examples: [], unsealed: 0 };
  const name = (what: string) => {
    check.wrong += 1;
    if (check.examples.length < examplesMax) check.examples.push(what);
  };
  const again = await read((tx) => listSealedAgain(tx, tenantId));
  const lastBlock = new Map(again.map(({ item, block }) => [item, block]));
  let before = { block: 0, hash: beginning };
  for (;;) {
    const { block: after } = before;
    const seals = await read((tx) => listSeals(tx, tenantId, { after, limit: blocksAtOnce }));
    if (seals.length === 0) break;
    for (const seal of seals) {
      check.checked += 1;
      for (const what of brokenLinks(seal, before)) name(what);
      before = { block: seal.block, hash: seal.hash };
      const wanted = seal.items
        .map(itemOf)
        .filter(({ item }) => (lastBlock.get(item) ?? seal.block) === seal.block);
      const found = await read((tx) => differences(tx, tenantId, wanted, seal.block));
      for (const what of found) name(what);
    }
  }
  await read(async (tx) => {
    const { last, taken } = await findLastSeal(tx, tenantId);
    if (last !== taken) name(`seal ${Math.max(last, taken)} is gone`);
    const never = await listNeverSealed(tx, tenantId, examplesMax);
    for (const item of never.items) name(`${item} was inserted unsealed`);
    check.wrong += never.count - never.items.length;
    check.unsealed = await countUnsealedAudit(tx, tenantId);
  });
  return check;
}

function brokenLinks(seal: Seal, before: { block: number; hash: string }): string[] {
  if (seal.block !== before.block + 1) return [`seal ${before.block + 1} is gone`];
  const isLinked = seal.previousHash === before.hash && blockHash(seal) === seal.hash;
  return isLinked ? [] : [`seal ${seal.block} was changed`];
}

/** Items that are not what their seal says. */
async function differences(
  tx: Tx,
  tenantId: number,
  sealed: readonly SealedItem[],
  block: number,
): Promise<string[]> {
  const names = sealed.map(({ item }) => item);
  const found = await contentsOf(tx, tenantId, names);
  const live = (item: string) => found.get(item) ?? { item, rows: 0, hash: '-' };
  const other = sealed.filter((one) => lineOf(live(one.item)) !== lineOf(one));
  if (other.length === 0) return [];
  const otherNames = other.map(({ item }) => item);
  const allowed = new Set(await listQueuedAgain(tx, tenantId, otherNames, block));
  return other
    .filter(({ item }) => !allowed.has(item))
    .map(({ item, rows }) => `${item} ${changeOf(rows, live(item).rows)}`);
}

function changeOf(sealed: number, found: number): string {
  if (found === 0) return 'was deleted';
  if (found === sealed) return 'was changed';
  const rows = counted(Math.abs(found - sealed), 'row');
  return found > sealed ? `has ${rows} more than were sealed` : `has lost ${rows}`;
}
