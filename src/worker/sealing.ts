// Seals what was written since the last time, in every workspace. No caller waits for it.
import type { Clock } from '../base/clock.ts';
import { type Database, plainOpening, tenantTransact, transact } from '../base/db/pool.ts';
import type { Log } from '../base/log.ts';
import { blockItems, sealBlock } from '../domain/audit/seal.ts';
import { listUnsealed } from '../domain/audit/seals-store.ts';
import { repeatEvery } from './repeat.ts';

export type SealingOptions = {
  database: Database;
  clock: Clock;
  log: Log;
  /** The one workspace to seal, instead of all. */
  tenantId?: number;
};

/** What was written is sealed after this long at most, and the time that sealing takes. */
const everyMs = 30_000;

/** Seals all that waits, and returns how many blocks that took. */
export async function sealAll(options: SealingOptions): Promise<number> {
  const { database, clock, log } = options;
  const found = await transact(database, { opening: plainOpening }, listUnsealed);
  let blocks = 0;
  for (const tenantId of found) {
    if (options.tenantId !== undefined && options.tenantId !== tenantId) continue;
    try {
      blocks += await sealWorkspace(database, clock, tenantId);
    } catch (error) {
      log.error({ err: error, tenantId }, 'sealing failed');
    }
  }
  return blocks;
}

async function sealWorkspace(database: Database, clock: Clock, tenantId: number): Promise<number> {
  for (let blocks = 0; ; blocks += 1) {
    const items = await tenantTransact(database, tenantId, (tx) =>
      sealBlock(tx, tenantId, clock.now()),
    );
    if (items < blockItems) return items === 0 ? blocks : blocks + 1;
  }
}

export function startSealing(options: SealingOptions): { stop(): Promise<void> } {
  const failure = 'workspaces with something to seal were not found';
  return repeatEvery(everyMs, () => sealAll(options), { log: options.log, failure });
}
