import * as Type from 'typebox';
import { dateIn } from '../../base/calendar.ts';
import { wireDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import { majorUnits } from '../../base/money.ts';
import { contextOn } from '../../domain/bills/late/late-rules.ts';
import { type ArrangementRow, listActive } from '../../domain/collections/arrangements-store.ts';
import { type DunningHold, listHolds } from '../../domain/collections/holds-store.ts';
import {
  countDunning,
  type DunningRow,
  listDunning,
  listSteps,
  type StepRow,
} from '../../domain/collections/list-store.ts';
import {
  type DunningPlan,
  type DunningStep,
  dunningActions,
} from '../../domain/pricing/dunning-plan.ts';
import { fieldsOnly, filterOf, id, maybe, money, nullable, page, text } from '../fields.ts';
import { listing } from '../listing.ts';
import { type Call, operation } from '../operation.ts';

const day = Type.String({ description: 'DD/MM/YYYY' });
const word = Type.String();

const dunningView = {
  partyNumber: Type.Integer(),
  partyName: word,
  connectionNumber: word,
  serviceCode: word,
  step: Type.Integer({ description: 'steps of the dunning plan that are done' }),
  action: Type.String({ description: 'of the last step: Remind, Fee, List or Disconnect' }),
  stepDate: day,
  startDate: day,
  overdueAmount: Type.Number({ description: 'as of last night' }),
  oldestDueDate: day,
  daysOverdue: Type.Integer(),
  nextAction: nullable(word),
  nextDate: nullable(day),
  disconnected: Type.Integer({ description: '1 if a step disconnected it' }),
  dunningHold: nullable(Type.Object({ until: day, reason: word })),
  arrangements: Type.Array(
    Type.Object({
      arrangementID: Type.Integer(),
      kind: word,
      until: day,
      amount: money,
      reason: word,
    }),
    { description: 'promises and instalment plans in force' },
  ),
  steps: Type.Array(
    Type.Object({
      step: Type.Integer(),
      action: word,
      date: day,
      overdueAmount: money,
      fee: nullable(money),
      mail: nullable(word),
      reminderID: nullable(Type.Integer({ description: 'of get-reminder-document' })),
      problem: nullable(word),
    }),
  ),
};

const request = Type.Object({
  serviceCode: maybe(text({ max: 32 })),
  step: filterOf(dunningActions),
  partyNumber: maybe(id),
  page: Type.Optional(page),
  metaData: fieldsOnly,
});

type Listed = DunningRow & {
  steps: readonly StepRow[];
  arrangements: readonly ArrangementRow[];
  hold: DunningHold | undefined;
  next: DunningStep | undefined;
};

export const getDunning = operation({
  path: '/billing/dunning/get-dunning',
  method: 'Retrieve',
  action: 'Retrieve Dunning',
  access: { permission: 'collections:read' },
  summary: 'Lists subscriptions with overdue debts and the dunning step that each has reached.',
  request,
  response: Type.Object({ dunning: Type.Array(Type.Partial(Type.Object(dunningView))) }),
  errors: [],
  example: { serviceCode: 'ELEC', step: 'List', page: { pageNumber: 0, size: 20 } },
  handle(call, body) {
    const { tenantId } = call.tenant;
    const filter = {
      contextCode: body.serviceCode || null,
      action: body.step ?? null,
      partyNumber: body.partyNumber ?? null,
    };
    const rows = async (
      tx: Tx,
      window: { offset: number; limit: number; afterId: number },
    ): Promise<Listed[]> => withDetails(tx, call, await listDunning(tx, tenantId, filter, window));
    return listing(call, {
      page: body.page,
      fields: body.metaData?.fields,
      count: (tx) => countDunning(tx, tenantId, filter),
      at: (tx, window) => rows(tx, { ...window, afterId: 0 }),
      after: (tx, { after, limit }) =>
        rows(tx, { offset: 0, limit, afterId: after?.episode_id ?? 0 }),
      present: (row: Listed) => present(row, call),
      wrap: (dunning) => ({ dunning }),
    });
  },
});

async function withDetails(tx: Tx, call: Call, rows: readonly DunningRow[]): Promise<Listed[]> {
  const { tenantId } = call.tenant;
  const partyIds = rows.map((row) => row.party_id);
  const steps = await listSteps(
    tx,
    tenantId,
    rows.map((row) => row.episode_id),
  );
  const arrangements = await listActive(tx, tenantId, partyIds);
  const ofParty = await listHolds(tx, tenantId, 'Party', partyIds);
  const ids = rows.map((row) => row.subscription_id);
  const ofOne = await listHolds(tx, tenantId, 'Subscription', ids);
  const plans = new Map<number, DunningPlan | null | undefined>();
  for (const contextId of new Set(rows.map((row) => row.context_id))) {
    const { dunning } = await contextOn(tx, tenantId, contextId, todayOf(call));
    plans.set(contextId, dunning);
  }
  const stepsOf = Map.groupBy(steps, (step) => step.episode_id);
  return rows.map((row) => ({
    ...row,
    steps: stepsOf.get(row.episode_id) ?? [],
    arrangements: arrangements.filter(
      (one) =>
        one.party_id === row.party_id &&
        (one.subscription_id === null || one.subscription_id === row.subscription_id),
    ),
    hold: ofOne.get(row.subscription_id) ?? ofParty.get(row.party_id),
    next: plans.get(row.context_id)?.steps[row.steps_done],
  }));
}

function todayOf(call: Call): Temporal.PlainDate {
  return dateIn(call.now, call.tenant.timezone);
}

function present(row: Listed, call: Call) {
  const amount = (minor: string) => majorUnits(BigInt(minor), call.tenant.currencyDecimals);
  const oldest = Temporal.PlainDate.from(row.oldest_due_on);
  const { next, hold } = row;
  return {
    partyNumber: row.party_number,
    partyName: row.party_name,
    connectionNumber: row.subscription_number,
    serviceCode: row.context_code,
    step: row.steps_done,
    action: row.last_action,
    stepDate: wireDay(row.last_step_on),
    startDate: wireDay(row.started_on),
    overdueAmount: amount(row.amount),
    oldestDueDate: wireDay(row.oldest_due_on),
    daysOverdue: oldest.until(todayOf(call)).days,
    nextAction: next?.action ?? null,
    nextDate: next ? wireDay(oldest.add({ days: next.daysAfterDue }).toString()) : null,
    disconnected: row.is_disconnected ? 1 : 0,
    dunningHold: hold ? { until: wireDay(hold.until), reason: hold.reason } : null,
    arrangements: row.arrangements.map((one) => ({
      arrangementID: one.arrangement_id,
      kind: one.kind,
      until: wireDay(one.until_date),
      amount: amount(String(one.amount)),
      reason: one.reason,
    })),
    steps: row.steps.map((step) => ({
      step: step.step_number,
      action: step.action,
      date: wireDay(step.done_on),
      overdueAmount: amount(step.amount),
      fee: step.fee === null ? null : amount(step.fee),
      mail: step.mail,
      reminderID: step.notice_id,
      problem: step.problem,
    })),
  };
}
