import * as Type from 'typebox';
import { dateIn } from '../../base/calendar.ts';
import { billConnectionStep } from '../../billrun/bill-connection.ts';
import { openFinalTerm } from '../../domain/terms/final.ts';
import { empty } from '../fields.ts';
import { operation } from '../operation.ts';
import {
  awaitJob,
  requestStep,
  scheduleOperation,
  sheduleTime,
  stepErrors,
} from '../scheduling.ts';
import { stampOf } from './change-fields.ts';
import { connectionNumber } from './connection-fields.ts';

export const billConnection = operation({
  path: '/billing/connections/bill-connection',
  method: 'Generate',
  action: 'Generate Final Bill',
  access: { permission: 'bills:write' },
  summary: 'Creates the draft of the final bill of a subscription whose owner is leaving.',
  request: Type.Object({
    operation: Type.Optional(scheduleOperation),
    data: Type.Object({ connectionNumber, sheduleTime }),
  }),
  response: empty,
  errors: ['SUBSCRIPTION_NOT_FOUND', 'SERVICE_ARCHIVED', ...stepErrors],
  example: { data: { connectionNumber: 'ELEC-00000001', sheduleTime: null } },
  async handle(call, { data }) {
    const { tx, tenant, now } = call;
    const number = data.connectionNumber.trim();
    const today = dateIn(now, tenant.timezone);
    const term = await openFinalTerm(tx, tenant.tenantId, { number, today }, stampOf(call));
    const answer = await requestStep(call, billConnectionStep, {
      termId: term.termId,
      sheduleTime: data.sheduleTime,
      audited: { connectionNumber: number, term: term.label, isNew: term.isNew },
    });
    return { ...answer, ids: { ...answer.ids, termIds: [term.termId] } };
  },
  settle: awaitJob,
});
