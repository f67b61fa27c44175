import * as Type from 'typebox';
import { dateIn, formatDate, formatTimestamp } from '../../base/calendar.ts';
import { counted } from '../../base/counted.ts';
import { wireDay } from '../../base/days.ts';
import { majorUnits } from '../../base/money.ts';
import { type BoardStep, stepStates } from '../../billrun/board-steps.ts';
import { type BoardEntry, boardOf } from '../../billrun/run-board.ts';
import {
  type BoardTermRow,
  countBoardTerms,
  listBoardTerms,
  listDueTerms,
} from '../../domain/terms/board-store.ts';
import { listJobs } from '../../jobs/jobs-store.ts';
import { limits, money, nullable, timestamp } from '../fields.ts';
import { jobView, presentJob } from '../jobs/job-fields.ts';
import { type Call, operation } from '../operation.ts';
import { presentTerm, termView } from './term-fields.ts';

/** Terms on one page, and of a page that is not asked for. */
const termsMax = 50;
const termsDefault = 20;
/** Published terms stay on the board for about three months. */
const recentDays = 92;
const recentJobs = 10;
/** Terms are due soon if they have to be posted within a week. */
const dueDays = 7;
const dueMax = 20;

const integer = Type.Integer();

const step = Type.Object({
  step: integer,
  name: Type.String(),
  operation: Type.String({ description: 'the last part of the path of the operation' }),
  state: Type.String({ description: stepStates.join(', ') }),
  optional: Type.Boolean({ description: 'the term can be billed without this step' }),
  count: Type.Integer({ description: 'subscriptions, rows or bills that the step has done' }),
  left: Type.Integer({ description: 'work left: unread registers, reviews, bills, deliveries' }),
  at: nullable(timestamp),
  by: nullable(Type.String()),
  error: nullable(Type.Object({ code: Type.String(), message: Type.String() })),
});

const boardTerm = Type.Object({
  ...termView,
  serviceName: Type.String(),
  steps: Type.Array(step),
  counts: Type.Object({
    subscriptions: integer,
    subscriptionsExact: Type.Boolean({ description: 'false: there are more than this' }),
    readingsExpected: nullable(
      Type.Integer({ description: 'null if posted, unmetered, or too many to count at once' }),
    ),
    readingsIn: nullable(integer),
    readingsToReview: integer,
    drafts: integer,
    posted: integer,
    published: integer,
    errors: integer,
    held: integer,
    cancelled: integer,
    undelivered: Type.Integer({ description: 'deliveries that failed or are uncertain' }),
  }),
  amounts: Type.Object({
    currentCharges: Type.Number({ description: 'of a posted term without bills on hold' }),
    heldCharges: money,
  }),
  job: nullable(jobView),
});

const due = Type.Object({
  termID: integer,
  label: Type.String(),
  serviceCode: Type.String(),
  batchCode: Type.String(),
  status: Type.String(),
  dueDate: Type.String({ description: 'DD/MM/YYYY' }),
  postBy: Type.String({ description: 'DD/MM/YYYY: the due date less the days to pay' }),
  days: Type.Integer({ description: 'until postBy; below 0 the day has passed' }),
});

export const getRunBoard = operation({
  path: '/billing/terms/get-run-board',
  method: 'Retrieve',
  action: 'Retrieve Run Board',
  access: { permission: 'terms:read' },
  summary: 'Shows every open term with its nine steps, counts and sums, the jobs and what is due.',
  request: Type.Object({
    page: Type.Optional(
      nullable(
        Type.Object(
          {
            pageNumber: Type.Integer({
              minimum: 0,
              maximum: limits.pageSize,
              'x-code': 'INVALID_PAGE',
            }),
            size: Type.Integer({ minimum: 1, maximum: termsMax, 'x-code': 'INVALID_PAGE' }),
          },
          { 'x-code': 'INVALID_PAGE', description: `null returns the first ${termsDefault}` },
        ),
      ),
    ),
  }),
  response: Type.Object({
    terms: Type.Array(boardTerm),
    jobs: Type.Array(jobView, { description: `the newest ${recentJobs}` }),
    due: Type.Array(due),
  }),
  errors: [],
  example: { page: { pageNumber: 0, size: 20 } },
  async handle(call, body) {
    const { tx, tenant, now } = call;
    const { tenantId, timezone } = tenant;
    const today = dateIn(now, timezone);
    const { pageNumber, size } = body.page ?? { pageNumber: 0, size: termsDefault };
    const filter = { since: today.subtract({ days: recentDays }) };
    const window = { offset: pageNumber * size, limit: size };
    const noFilter = { jobId: null, termId: null, status: null };
    const [rows, total, jobs, near] = await Promise.all([
      listBoardTerms(tx, tenantId, filter, window),
      countBoardTerms(tx, tenantId, filter),
      listJobs(tx, tenantId, noFilter, { offset: 0, limit: recentJobs }),
      listDueTerms(tx, tenantId, { until: today.add({ days: dueDays }), limit: dueMax }),
    ]);
    const entries = await boardOf(tx, tenantId, rows);
    return {
      message: `${counted(total, 'term')}, ${near.length} due soon`,
      total,
      data: {
        terms: entries.map((entry) => presentEntry(call, entry)),
        jobs: jobs.map((row) => presentJob(row, call)),
        due: near.map((row) => presentDue(row, today)),
      },
    };
  },
});

function presentEntry(call: Call, entry: BoardEntry) {
  const { tenant } = call;
  const { term, bills, readings } = entry;
  const amount = (minor: string | undefined) =>
    majorUnits(BigInt(minor ?? '0'), tenant.currencyDecimals);
  const ready = bills?.ready ?? 0;
  return {
    ...presentTerm(term, tenant),
    serviceName: term.context_name,
    steps: entry.steps.map((one) => presentStep(one, tenant.timezone)),
    counts: {
      subscriptions: entry.subscriptions.count,
      subscriptionsExact: entry.subscriptions.isExact,
      readingsExpected: readings?.expected ?? null,
      readingsIn: readings?.read ?? null,
      readingsToReview: entry.toReview,
      drafts: term.status === 'Open' ? ready : 0,
      posted: term.status === 'Posted' ? ready : 0,
      published: term.status === 'Published' ? ready : 0,
      errors: bills?.errors ?? 0,
      held: bills?.held ?? 0,
      cancelled: bills?.cancelled ?? 0,
      undelivered: entry.undelivered,
    },
    amounts: {
      currentCharges: amount(bills?.current_charges),
      heldCharges: amount(bills?.held_charges),
    },
    job: entry.job ? presentJob(entry.job, call) : null,
  };
}

function presentStep({ isOptional, at, ...shown }: BoardStep, timezone: string) {
  return { ...shown, optional: isOptional, at: at && formatTimestamp(at, timezone) };
}

function presentDue(term: BoardTermRow, today: Temporal.PlainDate) {
  const postBy = Temporal.PlainDate.from(term.due_date).subtract({
    days: term.minimum_days_to_pay,
  });
  return {
    termID: term.term_id,
    label: term.label,
    serviceCode: term.context_code,
    batchCode: term.batch_code,
    status: term.status,
    dueDate: wireDay(term.due_date),
    postBy: formatDate(postBy),
    days: today.until(postBy).days,
  };
}
