// What makes the year of the demo, and its days.
import { type Database, type Tx, tenantTransact } from '../../base/db/pool.ts';
import type { Stamp } from '../../base/stamp.ts';
import type { JobTenant } from '../../domain/tenants/tenant.ts';
import type { Tools } from '../../jobs/tools.ts';
import type { DemoYear } from './data-store.ts';

/** The batch whose year is made. */
export const yearBatch = { contextCode: 'ELEC', batchCode: 'B03' } as const;

/** The name under which all of it is stored. */
export const author = 'demo';

export type Maker = {
  database: Database;
  tools: Tools;
  tenant: JobTenant;
  year: DemoYear;
  /** The end of the year: nothing happens after it. */
  now: Temporal.Instant;
};

export function transactIn<T>(
  { database, tenant }: Maker,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return tenantTransact(database, tenant.tenantId, work);
}

/** Mid-morning of a day. */
export function momentOf({ tenant }: Maker, day: Temporal.PlainDate): Temporal.Instant {
  return day.toZonedDateTime({ timeZone: tenant.timezone, plainTime: '09:00' }).toInstant();
}

export function stampOf(maker: Maker, day: Temporal.PlainDate): Stamp {
  return { at: momentOf(maker, day), by: author };
}

/** The last twelve whole months before a day. */
export function lastYear(today: Temporal.PlainDate): DemoYear {
  const end = today.with({ day: 1 }).subtract({ days: 1 });
  const start = end.with({ day: 1 }).subtract({ months: 11 });
  return { start: start.toString(), end: end.toString(), today: today.toString() };
}
