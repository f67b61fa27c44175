// Fills a workspace with a small utility: electricity, water and a housing society, parties,
// meters, subscriptions and a year of readings. The same numbers give the same data, apart from the
// dates, which end with the month before today.
import { readFileSync } from 'node:fs';
import type { RequestOf } from '../../../sdk/client.ts';
import { dateIn } from '../../base/calendar.ts';
import { type Database, tenantTransact } from '../../base/db/pool.ts';
import type { Context } from '../../context.ts';
import { findSettings } from '../../domain/tenants/store.ts';
import { tenantFrom } from '../../domain/tenants/tenant.ts';
import { skipToday } from '../../worker/daily.ts';
import { askAs } from './client.ts';
import {
  analyzeDemo,
  type DemoBlock,
  type DemoYear,
  findDemoKeys,
  insertHouseholds,
  insertMeterRows,
  insertReadingRows,
  insertSubscriptionRows,
  insertUsageHistories,
  postOpeningBalances,
  raiseCounters,
} from './data-store.ts';
import { lastYear } from './year-days.ts';

/** Subscriptions made by one transaction. */
const blockSize = 9_000;
/** Five households have nine subscriptions: see data-store. */
const subscriptionsPerGroup = 9;

export type DemoTarget = {
  tenantId: number;
  workspace: string;
  username: string;
  password: string;
};

export async function fillDemo(
  context: Context,
  databases: { owner: Database; api: Database },
  target: DemoTarget,
  options: { subscriptions: number; onProgress?: (done: number) => void },
): Promise<{ subscriptions: number }> {
  const { tenantId } = target;
  const total = roundUp(options.subscriptions, subscriptionsPerGroup);
  await makeCatalogue(context, databases.api, target);
  const now = context.clock.now();
  const tenant = await tenantTransact(databases.owner, tenantId, async (tx) => {
    const found = tenantFrom(tenantId, await findSettings(tx, tenantId));
    // A worker would take bills of the year that is still being made for late ones.
    await skipToday(tx, context.clock, found);
    return found;
  });
  const year = lastYear(dateIn(now.add({ milliseconds: tenant.clockOffsetMs }), tenant.timezone));
  for (let first = 1; first <= total; first += blockSize) {
    const last = Math.min(total, first + blockSize - 1);
    await fillBlock(databases.owner, tenantId, { first, last }, year, now);
    options.onProgress?.(last);
  }
  await tenantTransact(databases.owner, tenantId, (tx) => raiseCounters(tx, tenantId, total));
  await tenantTransact(databases.owner, tenantId, (tx) => analyzeDemo(tx));
  return { subscriptions: total };
}

function roundUp(count: number, step: number): number {
  return Math.ceil(count / step) * step;
}

async function fillBlock(
  database: Database,
  tenantId: number,
  block: DemoBlock,
  year: DemoYear,
  at: Temporal.Instant,
): Promise<void> {
  const stamp = { at, by: 'demo' };
  await tenantTransact(database, tenantId, async (tx) => {
    const keys = await findDemoKeys(tx, tenantId);
    await insertHouseholds(tx, tenantId, block, stamp);
    await insertSubscriptionRows(tx, tenantId, block, { year, keys }, stamp);
    await insertMeterRows(tx, tenantId, block, year, stamp);
    await insertReadingRows(tx, tenantId, block, year, stamp);
    await insertUsageHistories(tx, tenantId, block, year);
    await postOpeningBalances(tx, tenantId, block, year, stamp);
  });
}

type DemoCatalogue = {
  services: RequestOf<'createService'>['service'][];
  tariffs: RequestOf<'createTariff'>['tariff'][];
};

/** Contexts and plans are created by calls, as a client does. */
async function makeCatalogue(
  context: Context,
  database: Database,
  target: DemoTarget,
): Promise<void> {
  const file = new URL('catalogue.json', import.meta.url);
  const catalogue = JSON.parse(readFileSync(file, 'utf8')) as DemoCatalogue;
  const { billing, close } = await askAs(context, database, target);
  try {
    for (const service of catalogue.services) await billing.createService({ service });
    for (const tariff of catalogue.tariffs) await billing.createTariff({ tariff });
  } finally {
    await close();
  }
}
