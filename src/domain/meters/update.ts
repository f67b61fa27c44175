// Changing a meter: its brand, its health, and its factor while it is not installed.

import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import { assertNotStale } from '../../base/stale.ts';
import type { Stamp } from '../../base/stamp.ts';
import type { MeterHealth } from './meter.ts';
import { lockMeter, type MeterRow, updateMeter } from './store.ts';

export type MeterChange = {
  /** Absent facts stay as they are. */
  brand?: string | undefined;
  health?: MeterHealth | undefined;
  mf?: number | undefined;
  /** The `ts` that the caller has seen. */
  seenTs?: number | undefined;
};

export async function changeMeter(
  tx: Tx,
  tenantId: number,
  number: number,
  change: MeterChange,
  stamp: Stamp,
): Promise<{ before: MeterRow; after: MeterRow }> {
  const before = await lockMeter(tx, tenantId, number);
  if (!before) {
    throw new AppError('METER_NOT_FOUND', {
      message: `No meter has the number ${number}`,
      field: 'data.number',
    });
  }
  assertNotStale(change.seenTs, before, { what: `Meter ${number}`, field: 'data.ts' });
  const wanted = {
    ...before,
    brand: change.brand ?? before.brand,
    health: change.health ?? before.health,
    mf: change.mf ?? before.mf,
  };
  // Changing the factor of an installed meter would falsify the usage since its last reading.
  if (wanted.mf !== before.mf) assertInActive(before, 'data.mf', 'its factor can change');
  if (wanted.health === 'retired') assertInActive(before, 'data.meterHealth', 'it can be retired');
  return { before, after: await updateMeter(tx, tenantId, wanted, stamp) };
}

function assertInActive(meter: MeterRow, field: string, what: string): void {
  if (meter.status === 'InActive') return;
  throw new AppError('INVALID_STATE', {
    message: `Meter ${meter.number} is ${meter.status}; ${what} only while it is InActive`,
    field,
    current: meter.status,
    allowed: ['InActive'],
  });
}
