// The jobs that every workspace runs once for each of its local dates.
import { dateIn } from '../base/calendar.ts';
import type { Clock } from '../base/clock.ts';
import { type Database, type Tx, tenantTransact } from '../base/db/pool.ts';
import type { Log } from '../base/log.ts';
import { deleteExpired } from '../domain/access/sessions-store.ts';
import { fallOverdue } from '../domain/bills/late/fall-overdue-store.ts';
import { surchargeLate } from '../domain/bills/late/surcharge.ts';
import { checkBooks } from '../domain/bills/verify/check-books.ts';
import { reviewArrangements } from '../domain/collections/arrangements.ts';
import { dunOverdue } from '../domain/collections/dunning.ts';
import { watchPrepaid } from '../domain/collections/prepaid.ts';
import { deleteOldDocuments } from '../domain/delivery/retention.ts';
import { deleteOldEvents } from '../domain/events/events-store.ts';
import { deleteOldMessages } from '../domain/events/messages-store.ts';
import { hashClosedMonths } from '../domain/exports/month-file.ts';
import { deleteOldParts } from '../domain/imports/uploads-store.ts';
import { foldOpenChanges } from '../domain/ledger/open-totals-store.ts';
import { foldLedgerTotals } from '../domain/ledger/totals-store.ts';
import { advanceSubscriptions } from '../domain/subscriptions/daily.ts';
import {
  type ChunkDone,
  claimDailyRun,
  findLastDailyRun,
  lockDailyRun,
  openDailyRun,
  type RowKey,
  saveDailyRun,
} from '../domain/tenants/daily-store.ts';
import { findSettings, findStatus } from '../domain/tenants/store.ts';
import { type JobTenant, tenantFrom } from '../domain/tenants/tenant.ts';

export type DailyTask = { tenantId: number; job: string; localDate: string };

type Day = {
  localDate: Temporal.PlainDate;
  /** Later than the date where that is caught up on. */
  today: Temporal.PlainDate;
  /** The workspace's time, which a sandbox may have moved ahead. */
  now: Temporal.Instant;
  realNow: Temporal.Instant;
};

type DailyJob = {
  /** Local time of day from which the job of a date is due. */
  at: Temporal.PlainTime;
} & ({ run(tx: Tx, tenantId: number, day: Day): Promise<object> } | { runChunk: RunChunk });

/** For a job over many rows: does those after a key, in a transaction of its own. */
type RunChunk = (tx: Tx, tenantId: number, day: Day, after: RowKey | null) => Promise<ChunkDone>;

const dailyJobs: ReadonlyMap<string, DailyJob> = new Map<string, DailyJob>([
  [
    'housekeeping',
    {
      at: Temporal.PlainTime.from('00:05'),
      run: async (tx, tenantId, { realNow, now }) => {
        const dayAgo = realNow.subtract({ hours: 24 });
        const expired = { tokens: realNow, answers: realNow, failures: dayAgo };
        const parts = await deleteOldParts(tx, tenantId, dayAgo);
        const events = await deleteOldEvents(tx, tenantId, now.subtract({ hours: 24 * 30 }));
        const messages = await deleteOldMessages(
          tx,
          tenantId,
          realNow.subtract({ hours: 24 * 30 }),
        );
        return { ...(await deleteExpired(tx, tenantId, expired)), parts, events, messages };
      },
    },
  ],
  ['subscriptions', { at: Temporal.PlainTime.from('00:05'), run: advanceSubscriptions }],
  ['overdue', { at: Temporal.PlainTime.from('00:10'), runChunk: fallOverdue }],
  ['ledger', { at: Temporal.PlainTime.from('00:20'), run: keepLedger }],
  ['arrangements', { at: Temporal.PlainTime.from('00:25'), run: reviewArrangements }],
  ['surcharges', { at: Temporal.PlainTime.from('00:30'), runChunk: surchargeLate }],
  ['dunning', { at: Temporal.PlainTime.from('00:50'), runChunk: dunOverdue }],
  ['prepaid', { at: Temporal.PlainTime.from('00:55'), runChunk: watchPrepaid }],
  ['documents', { at: Temporal.PlainTime.from('01:00'), runChunk: deleteOldDocuments }],
  ['books', { at: Temporal.PlainTime.from('00:40'), run: checkBooks }],
]);

async function keepLedger(tx: Tx, tenantId: number): Promise<object> {
  const tenant = tenantFrom(tenantId, await findSettings(tx, tenantId));
  const opened = await foldOpenChanges(tenantId, (fold) => fold(tx));
  return {
    ...(await foldLedgerTotals(tx, tenantId)),
    opened,
    ...(await hashClosedMonths(tx, tenant)),
  };
}

/** A workspace that missed more dates than this does not have each of them done. */
const catchUpDaysMax = 31;

/** The dates for which a job of a workspace is due and not done, oldest first. */
export async function findDueTasks(
  database: Database,
  clock: Clock,
  tenantId: number,
): Promise<DailyTask[]> {
  return tenantTransact(database, tenantId, async (tx) => {
    if ((await findStatus(tx, tenantId)) !== 'Active') return [];
    const { timezone, clock_offset_ms } = await findSettings(tx, tenantId);
    const now = clock.now().add({ milliseconds: clock_offset_ms }).toZonedDateTimeISO(timezone);
    const tasks: DailyTask[] = [];
    for (const [job, { at }] of dailyJobs) {
      const isDueToday = Temporal.PlainTime.compare(now.toPlainTime(), at) >= 0;
      const newest = isDueToday ? now.toPlainDate() : now.toPlainDate().subtract({ days: 1 });
      const last = await findLastDailyRun(tx, tenantId, job);
      // A new workspace has no past to catch up on.
      const oldest = last
        ? later(last.add({ days: 1 }), newest.subtract({ days: catchUpDaysMax - 1 }))
        : newest;
      for (
        let day = oldest;
        Temporal.PlainDate.compare(day, newest) <= 0;
        day = day.add({ days: 1 })
      ) {
        if (isInZone(day, timezone)) tasks.push({ tenantId, job, localDate: day.toString() });
      }
    }
    return tasks;
  });
}

/** A place that moves across the date line skips a date: it never was there. */
function isInZone(day: Temporal.PlainDate, timezone: string): boolean {
  return day.toZonedDateTime(timezone).toPlainDate().equals(day);
}

function later(a: Temporal.PlainDate, b: Temporal.PlainDate): Temporal.PlainDate {
  return Temporal.PlainDate.compare(a, b) >= 0 ? a : b;
}

/** Marks the jobs of today as done: those of a workspace that is made with a past of its own. */
export async function skipToday(tx: Tx, clock: Clock, tenant: JobTenant): Promise<void> {
  const realNow = clock.now();
  const localDate = dateIn(realNow.add({ milliseconds: tenant.clockOffsetMs }), tenant.timezone);
  for (const job of dailyJobs.keys()) {
    await claimDailyRun(tx, tenant.tenantId, { job, localDate, at: realNow });
  }
}

export type DailyTools = {
  database: Database;
  clock: Clock;
  log: Log;
  /** A job that works in chunks stops between two of them. */
  isStopping?: () => boolean;
};

/** Does the job of one date, once. False if another worker did it, or its last chunk. */
export async function runDailyTask(tools: DailyTools, task: DailyTask): Promise<boolean> {
  const job = dailyJobs.get(task.job);
  if (!job) throw new Error(`no daily job is named ${task.job}`);
  if ('runChunk' in job) return runChunks(tools, task, job.runChunk);
  const { database, clock, log } = tools;
  // The claim and the work are one transaction.
  return tenantTransact(database, task.tenantId, async (tx) => {
    const day = await dayOf(tx, clock, task);
    const run = { job: task.job, localDate: day.localDate, at: day.realNow };
    if (!(await claimDailyRun(tx, task.tenantId, run))) return false;
    const outcome = await job.run(tx, task.tenantId, day);
    const isWrong = 'wrong' in outcome && outcome.wrong !== 0;
    if (isWrong) log.error({ ...task, outcome }, 'the books do not balance: run verify');
    else log.info({ ...task, outcome }, 'daily job done');
    return true;
  });
}

async function dayOf(tx: Tx, clock: Clock, { tenantId, localDate }: DailyTask): Promise<Day> {
  const realNow = clock.now();
  const { clock_offset_ms: milliseconds, timezone } = await findSettings(tx, tenantId);
  const now = realNow.add({ milliseconds });
  return {
    localDate: Temporal.PlainDate.from(localDate),
    today: dateIn(now, timezone),
    now,
    realNow,
  };
}

/** More chunks than a workspace with the most rows has. */
const chunksMax = 1_000_000;

/**
 * Each chunk is a transaction that also keeps how far the job has come. After a crash the job goes
 * on where it was; several workers wait for each other between chunks, so that each is done once.
 */
async function runChunks(
  { database, clock, log, isStopping = () => false }: DailyTools,
  task: DailyTask,
  runChunk: RunChunk,
): Promise<boolean> {
  const { tenantId, job } = task;
  const run = { job, localDate: Temporal.PlainDate.from(task.localDate) };
  await tenantTransact(database, tenantId, (tx) => openDailyRun(tx, tenantId, run));
  for (let chunk = 0; chunk < chunksMax && !isStopping(); chunk += 1) {
    const state = await tenantTransact(database, tenantId, async (tx) => {
      const before = await lockDailyRun(tx, tenantId, run);
      if (!before) return 'finished before';
      const day = await dayOf(tx, clock, task);
      const done = await runChunk(tx, tenantId, day, before.progress);
      const outcome = added(before.outcome, done.outcome);
      const finishedAt = done.next === null ? day.realNow : null;
      await saveDailyRun(tx, tenantId, run, { progress: done.next, outcome, finishedAt });
      return { outcome, isFinished: done.next === null };
    });
    if (state === 'finished before') return false;
    if (state.isFinished) {
      log.info({ ...task, outcome: state.outcome }, 'daily job done');
      return true;
    }
  }
  return false;
}

function added(
  sums: Readonly<Record<string, number>>,
  more: Readonly<Record<string, number>>,
): Record<string, number> {
  const all = { ...sums };
  for (const [name, count] of Object.entries(more)) all[name] = (all[name] ?? 0) + count;
  return all;
}
