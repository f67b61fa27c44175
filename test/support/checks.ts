// The checks of every workspace of a scene, as `billwright verify` judges them.
import assert from 'node:assert/strict';
import { type Database, openDatabase, openingFor, transact } from '../../src/base/db/pool.ts';
import { type CheckResult, checkWorkspace } from '../../src/domain/bills/verify/checks.ts';
import { findSettings } from '../../src/domain/tenants/store.ts';
import { tenantFrom } from '../../src/domain/tenants/tenant.ts';
import type { Cluster } from './cluster.ts';

export type Place = {
  cluster: Cluster;
  databaseName: string;
  /** A scene has one open; where the database may be killed, one is opened for each question. */
  owner?: Database;
};

export async function resultsOf(
  { cluster, databaseName, owner }: Place,
  tenantId: number,
  now: Temporal.Instant = Temporal.Now.instant(),
): Promise<CheckResult[]> {
  const connection = { ...cluster.owner, database: databaseName };
  const database = owner ?? openDatabase({ connection, name: 'test checks', max: 2 });
  const read = <T>(work: Parameters<typeof transact<T>>[2]) =>
    transact(database, { opening: openingFor(tenantId), readOnly: true }, work);
  try {
    const settings = await read((tx) => findSettings(tx, tenantId));
    const tenant = tenantFrom(tenantId, settings);
    const results: CheckResult[] = [];
    const reader = { tenant, now, read: (work: never) => read(work) as never };
    for await (const result of checkWorkspace(reader)) results.push(result);
    return results;
  } finally {
    if (!owner) await database.close();
  }
}

/** Every check holds, and the trial balance is zero. */
export async function assertChecks(place: Place, tenantId: number): Promise<void> {
  const results = await resultsOf(place, tenantId);
  const broken = results.filter((result) => result.wrong > 0);
  assert.deepEqual(broken, []);
}
