import * as Type from 'typebox';
import { formatDate, parseDate } from '../../base/calendar.ts';
import { counted } from '../../base/counted.ts';
import { type CreatedTerm, createTerm } from '../../domain/terms/create.ts';
import { countEligible, listFilledBatches } from '../../domain/terms/population-store.ts';
import { termTypes } from '../../domain/terms/term.ts';
import { connectionNumber } from '../connections/connection-fields.ts';
import { date, empty, filledText, id, limits, maybe, oneOf, text } from '../fields.ts';
import { type Call, operation } from '../operation.ts';
import { scheduleOperation } from '../scheduling.ts';
import { withGaps } from './term-fields.ts';

export const makeTerm = operation({
  path: '/billing/terms/make-term',
  method: 'Create',
  action: 'Create Bill Term',
  access: { permission: 'terms:write' },
  summary: 'Opens a term: the days for which a batch of a pricing context is billed.',
  request: Type.Object({
    operation: scheduleOperation,
    data: Type.Object({
      serviceCode: filledText({ max: 32 }),
      batchCode: maybe(filledText({ max: 32, description: 'null is DEFAULT' })),
      billingPeriodID: maybe(id),
      label: filledText({ max: 120 }),
      startDate: date,
      endDate: date,
      dueDate: maybe(date),
      postType: maybe(text({ max: 64, description: 'that of the context' })),
      type: maybe(oneOf(termTypes)),
      connectionNumbers: maybe(
        Type.Array(connectionNumber, {
          maxItems: limits.batch,
          description: 'the subscriptions that an OffCycle or Final term bills',
        }),
      ),
    }),
  }),
  response: empty,
  errors: [
    'INVALID_OPERATION',
    'SERVICE_NOT_FOUND',
    'SERVICE_ARCHIVED',
    'BATCH_NOT_FOUND',
    'PERIOD_NOT_FOUND',
    'SUBSCRIPTION_NOT_FOUND',
    'SUBSCRIPTION_NOT_IN_TERM',
    'POST_TYPE_MISMATCH',
    'TERM_DATES_INVALID',
    'TERM_OVERLAP',
    'DUPLICATE',
  ],
  example: {
    operation: 'schedule',
    data: {
      serviceCode: 'ELEC',
      batchCode: 'B01',
      billingPeriodID: 1,
      label: 'Jul-2025',
      startDate: '01/07/2025',
      endDate: '31/07/2025',
      dueDate: '15/08/2025',
      postType: 'Post Subscription',
    },
  },
  async handle(call, { data }) {
    const { tx, tenant, now, principal } = call;
    const request = {
      contextCode: data.serviceCode.trim(),
      batchCode: data.batchCode?.trim() ?? null,
      billingPeriodId: data.billingPeriodID ?? null,
      postType: data.postType ?? null,
      type: data.type ?? ('Regular' as const),
      label: data.label.trim(),
      startDate: realDate(data.startDate),
      endDate: realDate(data.endDate),
      dueDate: data.dueDate ? realDate(data.dueDate) : null,
      subscriptionNumbers: (data.connectionNumbers ?? []).map((number) => number.trim()),
    };
    const stamp = { at: now, by: principal.name };
    const term = await createTerm(tx, tenant.tenantId, request, stamp);
    call.audit({
      subject: 'term',
      subjectId: term.termId,
      before: null,
      after: {
        label: term.label,
        serviceCode: request.contextCode,
        batchCode: term.batchCode,
        startDate: formatDate(term.startDate),
        endDate: formatDate(term.endDate),
        dueDate: formatDate(term.dueDate),
        type: term.type,
      },
    });
    const ids = { resourceIds: [term.termId], termIds: [term.termId] };
    const opened = `Term ${term.label} is open. ${await populationOf(call, term)}`;
    return { message: withGaps(opened, term.gaps), data: {}, ids };
  },
});

/** How many subscriptions the term would bill now, with a warning if there are none. */
async function populationOf({ tx, tenant }: Call, term: CreatedTerm): Promise<string> {
  const { tenantId } = tenant;
  const { count, isExact } = await countEligible(tx, tenantId, {
    term_id: term.termId,
    context_id: term.contextId,
    context_period_id: term.contextPeriodId,
    batch_id: term.batchId,
    billing_period_id: term.billingPeriodId,
    term_type: term.type,
    start_date: term.startDate.toString(),
    end_date: term.endDate.toString(),
  });
  const more = isExact ? '' : 'more than ';
  const subscriptions = counted(count, 'subscription');
  if (count > 0) return `It will bill ${more}${subscriptions} of batch ${term.batchCode}.`;
  const filled = await listFilledBatches(tx, tenantId, term.contextId);
  const others = filled.filter((code) => code !== term.batchCode);
  const hint = others.length === 0 ? '' : ` Other batches have some: ${others.join(', ')}.`;
  return (
    `Warning: it will bill 0 subscriptions of batch ${term.batchCode}.${hint} ` +
    'If it is not needed, cancel it with cancel-term.'
  );
}

function realDate(text: string): Temporal.PlainDate {
  const parsed = parseDate(text);
  if (!parsed) throw new Error('the schema let an invalid date through');
  return parsed;
}
