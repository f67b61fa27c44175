// Uploaded use of some days of a bill, beside what a meter measured of all of them.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FrozenMeter } from '../../src/domain/rating/frozen-inputs.ts';
import { billOf, connected, meter, shown } from './small-tariff.ts';

/** June was left out, and 200 were uploaded for it. */
const june = {
  uploadedUsage: { energy: [{ quantity: '200', date: '30/06/2025' }] },
  uploadedDays: { energy: [{ fromDate: '01/06/2025', toDate: '30/06/2025' }] },
};

const since = (date: string, value: string, current: string, more: Partial<FrozenMeter> = {}) => [
  meter(value, current, { previous: { date, value }, ...more }),
];

const energy = (bill: ReturnType<typeof billOf>) =>
  shown(bill).filter((line) => line.startsWith('energy'));

describe('an upload of a part of the days', () => {
  test('leaves the rest to the others, as readings divide it', () => {
    const transfers = [{ transferDate: '11/07/2025' }];
    const readings = [{ date: '10/07/2025', value: '600' }];
    const bill = billOf({
      ...connected({ billedThrough: '31/05/2025', transfers }),
      meters: since('31/05/2025', '310', '720', { readings }),
      ...june,
    });
    // 200 x 2, (600 - 310 - 200) x 2, (720 - 600) x 2
    assert.deepEqual(energy(bill), [
      'energyCharge 400 01/06-30/06',
      'energyCharge 180 01/07-10/07',
      'energyCharge 240 11/07-31/07',
    ]);
  });

  test('fall between days that were measured', () => {
    const billed = (date: string, value: string) =>
      energy(
        billOf({
          ...connected({ billedThrough: '30/04/2025' }),
          meters: since('30/04/2025', '0', '500', { readings: [{ date, value }] }),
          ...june,
        }),
      );
    // 500 - 200 = 300, of which 100 were used in May: (100 + 200) x 2, 200 x 2
    const byMay = ['energyCharge 600 01/05-30/06', 'energyCharge 400'];
    assert.deepEqual(billed('31/05/2025', '100'), byMay);
    // 320 - 200 = 120 in May: (120 + 200) x 2, 180 x 2
    const byJune = ['energyCharge 640 01/05-30/06', 'energyCharge 360'];
    assert.deepEqual(billed('30/06/2025', '320'), byJune);
  });

  test('replace the measured usage of a register that shows usage, on their days', () => {
    const readings = [{ date: '30/06/2025', value: '210' }];
    const more = { kind: 'Consumptive', readings } as const;
    const bill = billOf({
      ...connected({ billedThrough: '31/05/2025' }),
      meters: since('31/05/2025', '0', '150', more),
      ...june,
    });
    // 200 x 2, 150 x 2
    assert.deepEqual(energy(bill), ['energyCharge 400 01/06-30/06', 'energyCharge 300']);
    assert.deepEqual(bill.usage, [{ input: 'energy', unit: 'kWh', quantity: '350' }]);
  });

  test('that is more than was measured is carried, and so is what is not measured yet', () => {
    const carried = (meters: readonly FrozenMeter[], unread: readonly string[] = []) => {
      const [usage] = billOf({
        ...connected({ billedThrough: '31/05/2025' }),
        meters,
        unread,
        carriedUnits: { energy: '5' },
        ...june,
      }).usage;
      return [usage?.quantity, usage?.carried];
    };
    // 430 - 310 - 200 - 5, and 0 - 200 - 5
    assert.deepEqual(carried(since('31/05/2025', '310', '430')), ['200', '85']);
    assert.deepEqual(carried([], ['energy']), ['200', '205']);
  });
});
