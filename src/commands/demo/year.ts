// A year of bills and payments of a few customers of the demo. It is made by the functions that
// operations and jobs call, each with the day on which it happens.
import { dateIn } from '../../base/calendar.ts';
import { tenantTransact } from '../../base/db/pool.ts';
import { steps } from '../../billrun/steps.ts';
import { type Context, openEquipment, openOwnerDatabase } from '../../context.ts';
import { fallOverdue } from '../../domain/bills/late/fall-overdue-store.ts';
import { surchargeLate } from '../../domain/bills/late/surcharge.ts';
import { dunOverdue } from '../../domain/collections/dunning.ts';
import { ledgerAccounts } from '../../domain/ledger/accounts.ts';
import { insertCashDesks } from '../../domain/receivables/cash-desks-store.ts';
import type { RowKey } from '../../domain/tenants/daily-store.ts';
import { takeNumbers } from '../../domain/tenants/numbers-store.ts';
import { findSettings } from '../../domain/tenants/store.ts';
import { tenantFrom } from '../../domain/tenants/tenant.ts';
import { createTerm } from '../../domain/terms/create.ts';
import type { StepRequest } from '../../jobs/step.ts';
import {
  author,
  lastYear,
  type Maker,
  momentOf,
  stampOf,
  transactIn,
  yearBatch,
} from './year-days.ts';
import { bounceCheque, endYear, takeMoney } from './year-money.ts';
import { listPayers } from './year-store.ts';

const months = 12;
const daysToPay = 15;

export type YearOptions = {
  /** Between two months: true ends the work. */
  isStopping?: () => boolean;
  onMonth?: (done: number, total: number) => void;
};

/** In a demo that `fillDemo` has filled; without customers in the batch nothing is made. */
export async function makeYear(
  context: Context,
  tenantId: number,
  { isStopping = () => false, onMonth }: YearOptions = {},
): Promise<void> {
  const database = openOwnerDatabase(context);
  const equipment = openEquipment(context);
  const tools = { ...equipment, database, log: context.log, isStopping: () => false };
  try {
    const { tenant, payers } = await tenantTransact(database, tenantId, async (tx) => ({
      tenant: tenantFrom(tenantId, await findSettings(tx, tenantId)),
      payers: await listPayers(tx, tenantId, yearBatch),
    }));
    if (payers.length === 0) return;
    const now = context.clock.now();
    const maker = { database, tools, tenant, now, year: lastYear(dateIn(now, tenant.timezone)) };
    await openDesk(maker);
    for (let month = 0; month < months && !isStopping(); month += 1) {
      await makeMonth(maker, month);
      onMonth?.(month + 1, months);
    }
    if (isStopping()) return;
    await transactIn(maker, (tx) => endYear(tx, maker));
    await passNight(maker, dateIn(now, tenant.timezone));
  } finally {
    await equipment.close();
    await database.close();
  }
}

async function openDesk(maker: Maker): Promise<void> {
  const desk = { code: 'MAIN', name: 'Counter', cashAccountId: ledgerAccounts.cash };
  const stamp = stampOf(maker, Temporal.PlainDate.from(maker.year.start));
  await transactIn(maker, (tx) => insertCashDesks(tx, maker.tenant.tenantId, [desk], stamp));
}

/** Bills of a month, and what happens until the bills of the next one. */
async function makeMonth(maker: Maker, month: number): Promise<void> {
  const start = Temporal.PlainDate.from(maker.year.start).add({ months: month });
  const end = start.add({ months: 1 }).subtract({ days: 1 });
  const billed = end.add({ days: 2 });
  const on = async (days: number, work: (day: Temporal.PlainDate) => Promise<void>) => {
    const day = billed.add({ days });
    if (Temporal.Instant.compare(momentOf(maker, day), maker.now) <= 0) await work(day);
  };
  await on(0, (day) => billMonth(maker, { start, end, day }));
  await on(7, (day) => takeMoney(maker, day, month, 'InTime'));
  await on(12, (day) => bounceCheque(maker, day, month));
  await on(daysToPay + 1, (day) => passNight(maker, day));
  await on(daysToPay + 6, (day) => passNight(maker, day));
  await on(daysToPay + 10, (day) => takeMoney(maker, day, month, 'Late'));
}

type Month = { start: Temporal.PlainDate; end: Temporal.PlainDate; day: Temporal.PlainDate };

async function billMonth(maker: Maker, { start, end, day }: Month): Promise<void> {
  const { tenantId } = maker.tenant;
  const term = await transactIn(maker, (tx) =>
    createTerm(
      tx,
      tenantId,
      {
        ...yearBatch,
        ...{ billingPeriodId: null, postType: null, type: 'Regular', subscriptionNumbers: [] },
        label: start.toLocaleString('en', { month: 'short', year: 'numeric' }),
        ...{ startDate: start, endDate: end, dueDate: day.add({ days: daysToPay }) },
      },
      stampOf(maker, day),
    ),
  );
  const request = { termId: term.termId, now: momentOf(maker, day) };
  await runStep(maker, 'post-meter-readings', { ...request, parameters: { reading: 'estimated' } });
  await runStep(maker, 'generate-bills', request);
  await runStep(maker, 'post-bills', { ...request, parameters: { skipErrors: true } });
  await runStep(maker, 'publish-bills', request);
}

type Asked = Pick<StepRequest, 'termId' | 'now'> & { parameters?: StepRequest['parameters'] };

/** A step of the bill run as a worker does it, chunk after chunk. */
async function runStep(maker: Maker, operation: string, asked: Asked): Promise<void> {
  const { tenant, tools } = maker;
  const step = steps.get(operation);
  if (!step) throw new Error(`no step is named ${operation}`);
  const { job, plan } = await transactIn(maker, async (tx) => {
    const jobId = await takeNumbers(tx, tenant.tenantId, 'job', 1);
    const begun = { parameters: {}, ...asked, tenant, jobId, requestedBy: author, billId: null };
    await step.check(tx, begun);
    return { job: begun, plan: await step.prepare(tx, begun) };
  });
  const outcomes: object[] = [];
  let done = 0;
  for (const [index, range] of plan.chunks.entries()) {
    const chunk = { ...range, chunk: index + 1 };
    const result = await transactIn(maker, (tx) => step.work(tx, job, chunk, tools));
    done += result.done;
    if (result.outcome) outcomes.push(result.outcome);
  }
  const worked = { done, total: plan.total, outcomes, setAside: [] };
  await transactIn(maker, (tx) => step.finish(tx, job, worked, tools));
}

/** The nightly tasks about money that is late. */
async function passNight(maker: Maker, day: Temporal.PlainDate): Promise<void> {
  const { tenantId } = maker.tenant;
  const now = momentOf(maker, day);
  const night = { localDate: day, today: day, now, realNow: now };
  for (const task of [fallOverdue, surchargeLate, dunOverdue]) {
    let after: RowKey | null = null;
    do {
      after = await transactIn(maker, async (tx) => (await task(tx, tenantId, night, after)).next);
    } while (after !== null);
  }
}
