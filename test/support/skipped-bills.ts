// A home with one meter, and bills that are left out when a term is posted.
import assert from 'node:assert/strict';
import { billsOf, generate, type Running, rowsOf, type ShownBill } from './bill-run.ts';
import { type FrozenMeter, openMetered } from './metered.ts';
import { postNothing } from './post-nothing.ts';
import type { Service } from './pricing.ts';
import type { Scene } from './scene.ts';
import { newTerm } from './terms.ts';

export const january = { startDate: '01/01/2026', endDate: '31/01/2026' };
export const february = { startDate: '01/02/2026', endDate: '28/02/2026' };
export const march = { startDate: '01/03/2026', endDate: '31/03/2026' };
export const april = { startDate: '01/04/2026', endDate: '30/04/2026' };

type ReadingRow = [value: string, date: string, type?: string, meter?: number];

let places = 0;

/** One home with a meter since 01/01/2026, billed from then on at 20 for a unit and 10% tax. */
export async function openHome(
  scene: Scene,
  service: Partial<Service> = {},
  meter: FrozenMeter & { value?: string } = {},
) {
  places += 1;
  const place = await openMetered(scene, `home-${places}`, { holdRules: [], ...service });
  const { admin: client, tenantId } = place;
  const run: Running = { scene, client, tenantId };
  const { connection, number } = await place.hung(meter);
  await rowsOf(run, `update subscriptions set billed_through = '2025-12-31' where tenant_id = $1`);
  const { data } = await client.getServices({});
  const serviceCode = data.services[0]?.serviceCode ?? '';
  const upload = (termID: number, rows: ReadingRow[]) => {
    const readings = rows.map(([value, date, type = '', of = number]) => {
      return [connection, String(of), value, date, type];
    });
    const sent = JSON.stringify({ termID, readings });
    return client.uploadMeterReadings({ operation: 'schedule', data: { data: sent } });
  };
  const lock = (termID: number, reading = 'current') =>
    client.postMeterReadings({ operation: 'schedule', data: { termID, reading } });
  return {
    ...place,
    client,
    run,
    connection,
    number,
    lock,
    upload,
    open: (days: { startDate: string; endDate: string }) =>
      newTerm(client, { serviceCode, ...days }),
    /** A term whose readings are uploaded and locked. */
    read: async (days: { startDate: string; endDate: string }, ...rows: ReadingRow[]) => {
      const term = await newTerm(client, { serviceCode, ...days });
      await upload(term, rows);
      await lock(term);
      return term;
    },
    set: (termID: number, component: string, value: string) => {
      const sent = JSON.stringify({ termID, compsData: [[connection, component, value]] });
      return client.postManualComponentValues({ operation: 'schedule', data: { data: sent } });
    },
  };
}

/** Its plan cannot be billed without what the meter shows. */
export async function needEnergy(client: Running['client'], usage: object = {}): Promise<void> {
  const [plan] = (await client.getTariffs({})).data.tariffs;
  const { serviceCode = '', tariffCode: code = '' } = plan ?? {};
  const usageData = [
    { input: 'energy', source: 'Metered' as const, required: 1 as const, ...usage },
  ];
  await client.updateTariff({
    tariff: { serviceCode, code, usageData, effectiveDate: '01/01/2026' },
  });
}

export async function billOf(run: Running, term: number): Promise<ShownBill> {
  const [bill, ...others] = await billsOf(run, term);
  assert.ok(bill);
  assert.deepEqual(others, []);
  return bill;
}

/** All bills of a term are held back when it is posted. */
export async function skipBill(run: Running, term: number): Promise<void> {
  await generate(run, term);
  for (const { billID } of await billsOf(run, term)) {
    await run.client.holdBill({ data: { billID, hold: true, reason: 'to be looked at' } });
  }
  await postNothing(run, term);
}

export const readingsOn = (bill: ShownBill) =>
  bill.meterReadings.map((one) => [
    one.previousDate,
    one.previousReading,
    one.currentDate,
    one.currentReading,
    one.consumption,
  ]);

export const daysOf = (bill: ShownBill) => [bill.status, bill.billedFrom, bill.billedTo];

export const linesOf = (bill: ShownBill) =>
  bill.lines.map((line) => [line.component, line.fromDate, line.amount]);

export async function hashOf(run: Running, billId: number): Promise<string> {
  const query =
    "select encode(hash, 'hex') as hash from bills where tenant_id = $1 and bill_id = $2";
  const [row] = await rowsOf<{ hash: string }>(run, query, [billId]);
  return row?.hash ?? '';
}

/** January's 100 units and February's 120, each on its own days. */
export async function assertBothMonths(run: Running, term: number): Promise<void> {
  const bill = await billOf(run, term);
  assert.deepEqual(daysOf(bill), ['Draft', '01/01/2026', '28/02/2026']);
  assert.deepEqual(readingsOn(bill), [['01/01/2026', '0', '28/02/2026', '220', '220']]);
  assert.deepEqual(linesOf(bill), [
    ['energyCharge', '01/01/2026', 100 * 20],
    ['energyCharge', '01/02/2026', 120 * 20],
    ['gst', '01/01/2026', (220 * 20) / 10],
  ]);
}
