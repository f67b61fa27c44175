// Registering meters: all or none, every bad row named.

import { formatDate } from '../../base/calendar.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { RowProblem } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import { takeNumbers } from '../tenants/numbers-store.ts';
import { type MeterStatus, type NewMeter, repeated } from './meter.ts';
import { findTakenNumbers, insertMeters } from './store.ts';
import { findMeterTypeNames } from './types-store.ts';

export type CheckedMeters = {
  problems: RowProblem[];
  /** Of the first meter; the others follow it. */
  firstId: number;
  /** Names by id. */
  types: ReadonlyMap<number, string>;
};

/**
 * Taking ids holds off every other registration in the workspace, so that what is read after it
 * stays true: of calls with the same number one succeeds and the others name their row.
 */
export async function checkNewMeters(
  tx: Tx,
  tenantId: number,
  meters: readonly NewMeter[],
  today: Temporal.PlainDate,
): Promise<CheckedMeters> {
  const [firstId, types, taken] = await Promise.all([
    takeNumbers(tx, tenantId, 'meter', meters.length),
    findMeterTypeNames(tx, tenantId, [...new Set(meters.map((meter) => meter.meterTypeId))]),
    findTakenNumbers(
      tx,
      tenantId,
      meters.map((meter) => meter.number),
    ),
  ]);
  return { problems: problemsOf(meters, { types, taken, today }), firstId, types };
}

/** Stores checked meters. Those that the same transaction installs are Active. */
export function registerMeters(
  tx: Tx,
  tenantId: number,
  meters: readonly NewMeter[],
  { firstId }: CheckedMeters,
  options: { stamp: Stamp; status: MeterStatus },
): Promise<void> {
  return insertMeters(tx, tenantId, firstId, meters, options);
}

/** What new meters are checked against. */
type MeterLookups = {
  types: ReadonlyMap<number, string>;
  taken: ReadonlySet<number>;
  today: Temporal.PlainDate;
};

/** All problems of the rows, by row. */
function problemsOf(meters: readonly NewMeter[], known: MeterLookups): RowProblem[] {
  const twice = new Set(repeated(meters.map((meter) => meter.number)).map(({ index }) => index));
  return meters.flatMap((meter, row) => {
    const problems: RowProblem[] = [];
    if (known.taken.has(meter.number) || twice.has(row)) {
      const message = known.taken.has(meter.number)
        ? `A meter with the number ${meter.number} is registered already`
        : `The number ${meter.number} appears twice in this request`;
      const rejectedValue = meter.number;
      problems.push({ row, name: 'number', code: 'DUPLICATE', message, rejectedValue });
    }
    if (!known.types.has(meter.meterTypeId)) {
      const message = `No meter type has the id ${meter.meterTypeId}`;
      const rejectedValue = meter.meterTypeId;
      const name = 'meterType';
      problems.push({ row, name, code: 'METER_TYPE_NOT_FOUND', message, rejectedValue });
    }
    if (Temporal.PlainDate.compare(meter.purchaseDate, known.today) > 0) {
      const rejectedValue = formatDate(meter.purchaseDate);
      const message = `${rejectedValue} is later than today, ${formatDate(known.today)}`;
      const name = 'purchaseDate';
      problems.push({ row, name, code: 'DATE_IN_FUTURE', message, rejectedValue });
    }
    return problems;
  });
}
