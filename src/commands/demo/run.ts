// billwright demo run: takes the demo workspace through all steps of a bill run on a new term.
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Client } from '../../../sdk/client.ts';
import { formatDate, parseDate } from '../../base/calendar.ts';
import { readCsv } from '../../base/csv/read.ts';
import { type Database, plainOpening, tenantTransact, transact } from '../../base/db/pool.ts';
import {
  type Context,
  openApiDatabase,
  openEquipment,
  openOwnerDatabase,
  openWorkerDatabase,
} from '../../context.ts';
import { findTrialBalance } from '../../domain/ledger/trial-balance.ts';
import { findContext } from '../../domain/pricing/contexts-store.ts';
import { findSettings, findTenantId } from '../../domain/tenants/store.ts';
import { startWorker } from '../../worker/worker.ts';
import { trialBalanceLines } from '../trial-balance.ts';
import { printBill } from './print-bill.ts';
import { progressLine } from './progress.ts';
import { demo, ensureDemo } from './workspace.ts';

const run = { serviceCode: 'ELEC', batchCode: 'B01' } as const;
const daysToPay = 15;
const shownBills = 3;
const lookMs = 100;

export async function runDemo(context: Context): Promise<void> {
  await ensureDemo(context, { isWanted: false });
  const tenantId = await findBillable(context);
  const api = openApiDatabase(context);
  const database = openWorkerDatabase(context);
  const equipment = openEquipment(context);
  const { clock, log, config } = context;
  const worker = await startWorker({
    connection: context.owner.connection,
    database,
    clock,
    log,
    lanes: config.workerLanes,
    equipment,
    // Jobs of other workspaces wait for a worker that was started for them.
    tenantId,
  });
  try {
    // With the whole server, once it is known that there is something to bill.
    const { askAs } = await import('./client.ts');
    const asked = await askAs(context, api, demo);
    try {
      await billTerm(asked.billing);
      await showLedger(context);
      const folder = join(config.dataFolder, 'outbox');
      say(`\nMails, each with its bill as PDF, are in ${folder}`);
    } finally {
      await asked.close();
    }
  } finally {
    await worker.stop();
    await equipment.close();
    await database.close();
    await api.close();
  }
}

/** There may be other workspaces and no demo, or a demo that was made without any customers. */
async function findBillable(context: Context): Promise<number> {
  const { workspace } = demo;
  const database = openOwnerDatabase(context);
  try {
    const tenantId = await findDemo(database);
    if (tenantId === undefined) {
      throw new Error(`There is no workspace named '${workspace}'. 'billwright demo' makes it.`);
    }
    const book = await tenantTransact(database, tenantId, (tx) =>
      findContext(tx, tenantId, run.serviceCode),
    );
    if (book) return tenantId;
    throw new Error(
      `The workspace ${workspace} has no sample data, so there are no customers to bill. ` +
        'DEMO_SUBSCRIPTIONS was 0 when it was made: give BILLWRIGHT_DATA another folder.',
    );
  } finally {
    await database.close();
  }
}

function findDemo(database: Database): Promise<number | undefined> {
  const readOnly = { opening: plainOpening, readOnly: true };
  return transact(database, readOnly, (tx) => findTenantId(tx, demo.workspace));
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function billTerm(billing: Client): Promise<void> {
  const { termId, dates } = await makeTerm(billing);
  await readMeters(billing, termId, dates);
  const now = { operation: 'schedule', data: { termID: termId, sheduleTime: '' } } as const;
  const reading = { ...now, data: { ...now.data, reading: 'estimated' } } as const;
  await watch(billing, termId, 'Step 4  post readings', () => billing.postMeterReadings(reading));
  await watch(billing, termId, 'Step 6  generate bills', () => billing.generateBills(now));
  const posting = { ...now, data: { ...now.data, skipErrors: true } };
  await watch(billing, termId, 'Step 7  post bills', () => billing.postBills(posting));
  await watch(billing, termId, 'Step 8  publish bills', () => billing.publishBills(now));
  const distributing = { ...now, billId: null };
  await watch(billing, termId, 'Step 9  distribute bills', () =>
    billing.distributeBills(distributing),
  );
  await showTotals(billing, termId);
  await showBills(billing, termId);
}

/** The month after the last term, or the last whole month; the sandbox's clock follows. */
async function makeTerm(billing: Client): Promise<{ termId: number; dates: TermDates }> {
  const { data } = await billing.getTerms({
    serviceCode: run.serviceCode,
    filters: { batchCode: run.batchCode },
    type: 'Regular',
    metaData: { fields: ['status', 'endDate'] },
  });
  // The newest is first. A cancelled one bills no days.
  const last = data.terms.find((term) => term.status !== 'Cancelled');
  const { settings } = (await billing.getSettings()).data;
  const now = Temporal.PlainDateTime.from(settings.now.replace(' ', 'T'));
  const lastEnd = parseDate(last?.endDate ?? '');
  const start = lastEnd
    ? lastEnd.add({ days: 1 })
    : now.toPlainDate().with({ day: 1 }).subtract({ months: 1 });
  const end = start.add({ months: 1 }).subtract({ days: 1 });
  const morning = end.add({ days: 1 }).toPlainDateTime('09:00');
  const isOver = Temporal.PlainDateTime.compare(now, morning) >= 0;
  const billedOn = (isOver ? now : morning).toPlainDate();
  if (!isOver) {
    await billing.moveClock({ data: { to: morning.toString({ smallestUnit: 'second' }) } });
  }
  const label = start.toLocaleString('en', { month: 'short', year: 'numeric' });
  const dates = { startDate: formatDate(start), endDate: formatDate(end) };
  const made = await billing.makeTerm({
    operation: 'schedule',
    data: {
      ...run,
      billingPeriodID: 1,
      label,
      ...dates,
      dueDate: formatDate(billedOn.add({ days: daysToPay })),
      postType: 'Post Subscription',
    },
  });
  const days = `${dates.startDate} to ${dates.endDate}`;
  say(`Step 1  term ${label} of ${run.serviceCode}, batch ${run.batchCode}: ${days}`);
  return { termId: Number(made.headers.get('x-term-id')), dates };
}

type TermDates = { startDate: string; endDate: string };

const readingsAtOnce = 50_000;
/** One door in so many is locked, another one each month. */
const lockedDoors = 75;

/**
 * The meter readers go round with the route sheet and read the meters that are still to be read.
 */
async function readMeters(billing: Client, termID: number, dates: TermDates): Promise<void> {
  const { startDate: sinceDate, endDate: readingDate } = dates;
  const { data } = await billing.getRouteSheet({ ...run, sinceDate, readingDate });
  const readings = await filledIn(data.lines, termID, readingDate);
  if (readings.length === 0) say('Step 3  readings: those of the meter readers are there');
  for (let at = 0; at < readings.length; at += readingsAtOnce) {
    const some = JSON.stringify({ termID, readings: readings.slice(at, at + readingsAtOnce) });
    const upload = { operation: 'schedule', data: { data: some, sheduleTime: '' } } as const;
    await watch(billing, termID, 'Step 3  upload readings', () =>
      billing.uploadMeterReadings(upload),
    );
  }
}

/** Rows of readings, of about as much use as before; the same for the same term. */
async function filledIn(lines: readonly string[], termId: number, date: string) {
  const sheet = Readable.from([Buffer.from(lines.join('\r\n'))]);
  const readings: string[][] = [];
  let names: string[] = [];
  for await (const rows of readCsv(sheet, { encoding: 'utf-8', rowsAtOnce: readingsAtOnce })) {
    if (names.length === 0) names = rows.shift()?.cells ?? [];
    for (const { cells } of rows) {
      const cell = (name: string) => cells[names.indexOf(name)] ?? '';
      const [number, low, high] = ['number', 'expectedLow', 'expectedHigh']
        .map(cell)
        .map(Number) as [number, number, number];
      if (high === 0 || (number + termId) % lockedDoors === 0) continue;
      // Expected is a third to three times the usual use: this is 0.8 to 1.2 times.
      const part = 0.18 + ((number * 7 + termId * 3) % 10) / 65;
      const value = String(Math.floor(low + (high - low) * part));
      readings.push([
        ...[cell('connectionNumber'), cell('number'), value, date],
        ...['Actual', '', cell('register')],
      ]);
    }
  }
  return readings;
}

/** Asks for a step and shows how far it is until it has ended. */
async function watch(
  billing: Client,
  termId: number,
  title: string,
  ask: () => Promise<{ headers: Headers; message: string }>,
): Promise<void> {
  const began = performance.now();
  const { headers } = await ask();
  const jobId = Number(headers.get('x-job-id'));
  for (;;) {
    const page = { pageNumber: 0, size: 20 };
    const { jobs } = (await billing.getJobs({ termID: termId, page })).data;
    const job = jobs.find((one) => one.jobID === jobId);
    if (!job) throw new Error(`job ${jobId} is gone`);
    const seconds = (performance.now() - began) / 1000;
    const hasEnded = job.finishedAt !== null;
    const { done = 0, total = 0 } = job.progress ?? {};
    progressLine(title, { done, total, seconds, hasEnded });
    if (hasEnded && job.status !== 'Succeeded') {
      throw new Error(`${title}: ${job.error?.message ?? job.status}`);
    }
    if (hasEnded) return say(`        ${job.message ?? ''}`);
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}

async function showTotals(billing: Client, termId: number): Promise<void> {
  // All bills of a large term are more than one text can hold.
  const page = { pageNumber: 0, size: 1 };
  const { summary } = (await billing.getBillTerm({ billTermID: termId, page })).data;
  say(`\n${summary.bills} bills, ${summary.errors} in error, ${summary.onHold} on hold`);
  for (const { label, amount } of summary.components) say(amountLine(label, amount));
  say(amountLine('Current charges', summary.currentCharges));
  say(amountLine('Arrears brought forward', summary.arrears));
  say(amountLine('Payable within due date', summary.payableWithinDueDate));
}

function amountLine(label: string, amount: number): string {
  return `  ${label.padEnd(32)} ${figure(amount)}`;
}

function figure(amount: number): string {
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return amount.toLocaleString('en', digits).padStart(18);
}

async function showBills(billing: Client, termId: number): Promise<void> {
  const page = { pageNumber: 0, size: shownBills };
  const { bills } = (await billing.getBills({ termID: termId, status: 'Published', page })).data;
  for (const bill of bills) say(`\n${printBill(bill)}`);
}

async function showLedger(context: Context): Promise<void> {
  const database = openOwnerDatabase(context);
  try {
    const tenantId = await findDemo(database);
    if (tenantId === undefined) throw new Error('the demo workspace is gone');
    const all = { from: null, to: null, accountCode: null };
    const [balance, settings] = await tenantTransact(database, tenantId, async (tx) => [
      await findTrialBalance(tx, tenantId, all),
      await findSettings(tx, tenantId),
    ]);
    say('\nTrial balance');
    const form = { decimals: settings.currency_decimals, withEmpty: false };
    for (const line of trialBalanceLines(balance, form)) say(line);
  } finally {
    await database.close();
  }
}
