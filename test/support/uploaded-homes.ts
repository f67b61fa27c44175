// Homes of one street, billed together: for some their use is uploaded, some have their bill of
// February left out.
import assert from 'node:assert/strict';
import { billsOf, generate, post, rowsOf, type ShownBill } from './bill-run.ts';
import { assertChecks } from './checks.ts';
import { april, february, january, march, needEnergy, type openHome } from './skipped-bills.ts';

export type Home = Awaited<ReturnType<typeof openHome>>;
export type Month = { use?: string; read?: string; isSkipped?: true };
/** What happens in February, in March and in April, which is read at its end. */
export type Months = { feb: Month; mar: Month; apr: string };
export type BilledMonths = Record<keyof Months, ShownBill>;

/** January was read 310 on its last day and billed, everywhere. */
export async function billHomes<Name extends string>(
  home: Home,
  wanted: Record<Name, Months>,
): Promise<Record<Name, BilledMonths>> {
  await needEnergy(home.client);
  const names = Object.keys(wanted) as Name[];
  const [, ...others] = names;
  const places = [{ connection: home.connection, number: home.number }];
  for (const _ of others) places.push(await home.hung());
  await rowsOf(
    home.run,
    `update subscriptions set billed_through = '2025-12-31' where tenant_id = $1`,
  );
  const billed = async (days: typeof january, monthOf: (months: Months) => Month) => {
    const months = places.map((place, index) => {
      return { ...place, ...monthOf(wanted[names[index] as Name]) };
    });
    const bills = await billMonth(home, days, months);
    return places.map(({ connection }) => {
      const bill = bills.find((one) => one.connectionNumber === connection);
      assert.ok(bill);
      return bill;
    });
  };
  await billed(january, () => ({ read: '310' }));
  const feb = await billed(february, (months) => months.feb);
  const mar = await billed(march, (months) => months.mar);
  const apr = await billed(april, (months) => ({ read: months.apr }));
  await assertChecks(home.run.scene, home.run.tenantId);
  const ofHome = (index: number) => ({ feb: feb[index], mar: mar[index], apr: apr[index] });
  return Object.fromEntries(names.map((name, index) => [name, ofHome(index)])) as Record<
    Name,
    BilledMonths
  >;
}

/** The bills as they were before they were posted, or left out. */
export async function billMonth(
  home: Home,
  days: typeof january,
  months: (Month & { connection: string; number: number })[],
): Promise<ShownBill[]> {
  const { client, run } = home;
  const operation = 'schedule' as const;
  const termID = await home.open(days);
  const readings = months.flatMap(({ connection, number, read }) =>
    read === undefined ? [] : [[connection, String(number), read, days.endDate, '']],
  );
  await client.uploadMeterReadings({
    operation,
    data: { data: JSON.stringify({ termID, readings }) },
  });
  const usage = months.flatMap(({ connection, use }) =>
    use === undefined ? [] : [[connection, 'energy', use]],
  );
  if (usage.length > 0) {
    await client.uploadUsage({ operation, data: { data: JSON.stringify({ termID, usage }) } });
  }
  await home.lock(termID);
  await generate(run, termID);
  const bills = await billsOf(run, termID);
  for (const { billID, status, errors, connectionNumber } of bills) {
    assert.deepEqual([status, errors], ['Draft', []]);
    const month = months.find((one) => one.connection === connectionNumber);
    if (!month?.isSkipped) continue;
    await client.holdBill({ data: { billID, hold: true, reason: 'to be looked at' } });
  }
  await post(run, termID, true);
  return bills;
}
