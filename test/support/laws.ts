// The laws of every workspace of a scene, as `billwright verify` judges them.
import assert from 'node:assert/strict';
import { type Database, openDatabase, openingFor, transact } from '../../src/base/db/pool.ts';
import { type Judgement, judgeWorkspace } from '../../src/domain/bills/verify/checks.ts';
import { findSettings } from '../../src/domain/tenants/store.ts';
import { tenantFrom } from '../../src/domain/tenants/tenant.ts';
import type { Cluster } from './cluster.ts';

export type Place = {
  cluster: Cluster;
  databaseName: string;
  /** A scene has one open; where the database may be killed, one is opened for each question. */
  owner?: Database;
};

export async function judgementsOf(
  { cluster, databaseName, owner }: Place,
  tenantId: number,
  now: Temporal.Instant = Temporal.Now.instant(),
): Promise<Judgement[]> {
  const connection = { ...cluster.owner, database: databaseName };
  const database = owner ?? openDatabase({ connection, name: 'test laws', max: 2 });
  const read = <T>(work: Parameters<typeof transact<T>>[2]) =>
    transact(database, { opening: openingFor(tenantId), readOnly: true }, work);
  try {
    const settings = await read((tx) => findSettings(tx, tenantId));
    const tenant = tenantFrom(tenantId, settings);
    const judgements: Judgement[] = [];
    const reader = { tenant, now, read: (work: never) => read(work) as never };
    for await (const judgement of judgeWorkspace(reader)) judgements.push(judgement);
    return judgements;
  } finally {
    if (!owner) await database.close();
  }
}

/** Every law holds, and the trial balance is zero. */
export async function assertLaws(place: Place, tenantId: number): Promise<void> {
  const judgements = await judgementsOf(place, tenantId);
  const broken = judgements.filter((judgement) => judgement.wrong > 0);
  assert.deepEqual(broken, []);
}
