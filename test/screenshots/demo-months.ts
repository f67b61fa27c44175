// What the pictures of the demo show: October is billed and mostly paid, November is on its way.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../sdk/client.ts';

type Month = { label: string; startDate: string; endDate: string; dueDate: string };

const october: Month = {
  label: 'Oct 2026',
  startDate: '01/10/2026',
  endDate: '31/10/2026',
  dueDate: '20/11/2026',
};
const november: Month = {
  label: 'Nov 2026',
  startDate: '01/11/2026',
  endDate: '30/11/2026',
  dueDate: '16/12/2026',
};
const afterNovember = '2026-12-01T09:00:00';

const batches = [
  { serviceCode: 'ELEC', batchCode: 'B01' },
  { serviceCode: 'ELEC', batchCode: 'B02' },
  { serviceCode: 'WATER', batchCode: 'B01' },
  { serviceCode: 'SOC', batchCode: 'B01' },
];
type Batch = { serviceCode: string; batchCode: string };

/** One customer in so many does not pay in October. */
const unpaid = 9;
/** One meter in so many is not read, goes backwards, or shows too much. */
const unread = 19;
const lower = 29;
const higher = 23;
const overdueMs = 60_000;

export type DemoMonths = { billed: number; published: number; reviewed: number; read: number };

/** Ids of terms: one of October, and of November one published, one in review, one being read. */
export async function makeDemoMonths(client: Client): Promise<DemoMonths> {
  const billed: number[] = [];
  for (const batch of batches) billed.push(await publishTerm(client, batch, october));
  for (const termID of billed) await payTerm(client, termID);
  await client.moveClock({ data: { to: afterNovember } });
  await untilOverdue(client, billed);
  const [elec1, elec2, water, society] = batches as [Batch, Batch, Batch, Batch];
  const published = await publishTerm(client, society, november);
  await openTerm(client, water, november);
  const reviewed = await openTerm(client, elec1, november);
  await sendReadings(client, elec1, { month: november, termID: reviewed, oddities: true });
  await client.postMeterReadings({
    operation: 'schedule',
    data: { termID: reviewed, reading: 'current' },
  });
  await client.generateBills(now(reviewed));
  const read = await openTerm(client, elec2, november);
  await sendReadings(client, elec2, { month: november, termID: read, oddities: true });
  return { billed: billed[0] ?? 0, published, reviewed, read };
}

async function openTerm(client: Client, batch: Batch, month: Month): Promise<number> {
  const { headers } = await client.makeTerm({
    operation: 'schedule',
    data: { ...batch, ...month },
  });
  return Number(headers.get('x-term-id'));
}

const now = (termID: number) => ({ operation: 'schedule' as const, data: { termID } });

async function publishTerm(client: Client, batch: Batch, month: Month): Promise<number> {
  const termID = await openTerm(client, batch, month);
  if (batch.serviceCode !== 'SOC') {
    await sendReadings(client, batch, { month, termID, oddities: false });
    await client.postMeterReadings({
      operation: 'schedule',
      data: { termID, reading: 'estimated' },
    });
  }
  await client.generateBills(now(termID));
  await client.postBills({ operation: 'schedule', data: { termID, skipErrors: true } });
  await client.publishBills(now(termID));
  await client.distributeBills({ ...now(termID), billId: null });
  return termID;
}

type Round = { month: Month; termID: number; oddities: boolean };

async function sendReadings(client: Client, batch: Batch, round: Round): Promise<void> {
  const { month, termID, oddities } = round;
  const days = { sinceDate: month.startDate, readingDate: month.endDate };
  const { data } = await client.getRouteSheet({ ...batch, ...days });
  const [names = [], ...rows] = data.lines.map((line) => line.split(','));
  const readings = rows.flatMap((cells, place) => {
    // Addresses have commas; what is read here is counted from the end.
    const cell = (name: string) => cells.at(names.indexOf(name) - names.length) ?? '';
    const [low, high] = [Number(cell('expectedLow')), Number(cell('expectedHigh'))];
    if (high === 0 || (oddities && place % unread === unread - 1)) return [];
    const usual = Math.floor(low + (high - low) * (0.2 + ((place * 7) % 10) / 60));
    const isLower = oddities && place % lower === lower - 1;
    const isHigher = oddities && place % higher === higher - 1;
    const value = isLower ? Math.floor(low) - 90 : isHigher ? Math.floor(high) + 400 : usual;
    const row = [cell('connectionNumber'), cell('number'), String(value), month.endDate];
    return [[...row, 'Actual', '', cell('register')]];
  });
  if (readings.length === 0) return;
  const some = JSON.stringify({ termID, readings });
  await client.uploadMeterReadings({ operation: 'schedule', data: { data: some } });
}

async function payTerm(client: Client, termID: number): Promise<void> {
  const { bills } = (await client.getBills({ termID, status: 'Published' })).data;
  const payments = bills
    .filter((bill, place) => place % unpaid !== unpaid - 1 && bill.outstandingAmount > 0)
    .map((bill) => ({
      reference: `BANK-${bill.billRefNo}`,
      billRefNo: bill.billRefNo,
      amount: bill.outstandingAmount,
      paymentMethod: 'Bank' as const,
    }));
  await client.makePayments({ payments });
}

/** The nights that went by are worked through: bills are overdue, surcharged and dunned. */
async function untilOverdue(client: Client, termIDs: readonly number[]): Promise<void> {
  const deadline = performance.now() + overdueMs;
  for (;;) {
    const { dunning } = (await client.getDunning({})).data;
    const { bills } = (await client.getBills({ termID: termIDs[0] ?? 0 })).data;
    const late = bills.filter(({ paymentStatus }) => paymentStatus === 'Overdue');
    if (late.length > 0 && dunning.length >= late.length) return;
    if (performance.now() > deadline) throw new Error('The nights of the demo do not pass.');
    await sleep(500);
  }
}
