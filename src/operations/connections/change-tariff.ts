import * as Type from 'typebox';
import { changePlanOf } from '../../domain/subscriptions/change-plan.ts';
import { empty, filledText, tsGuard } from '../fields.ts';
import { operation } from '../operation.ts';
import {
  changeDone,
  changeErrors,
  datedChange,
  dateErrors,
  effectiveDate,
  readingErrors,
  readings,
  readingsSent,
  stampOf,
} from './change-fields.ts';
import { connectionNumber } from './connection-fields.ts';

export const changeTariff = operation({
  path: '/billing/connections/change-tariff',
  method: 'Update',
  action: 'Change Plan',
  access: { permission: 'subscriptions:write' },
  summary: 'Changes the plan of a subscription from a date on.',
  request: Type.Object({
    data: Type.Object({
      connectionNumber,
      tariffCode: filledText({ max: 64 }),
      effectiveDate,
      readings,
      ts: tsGuard,
    }),
  }),
  response: empty,
  errors: [
    ...changeErrors,
    ...dateErrors,
    ...readingErrors,
    'PLAN_NOT_FOUND',
    'PLAN_ABSTRACT',
    'PLAN_NOT_BASE',
    'PLAN_NOT_AVAILABLE',
    'DUPLICATE',
  ],
  example: {
    data: {
      connectionNumber: 'ELEC-00000001',
      tariffCode: 'RES-A2',
      effectiveDate: '11/08/2026',
    },
  },
  async handle(call, { data }) {
    const date = { name: 'effectiveDate', value: data.effectiveDate };
    const change = {
      ...datedChange(call, data, date),
      planCode: data.tariffCode.trim(),
      readings: readingsSent(data.readings),
    };
    const done = await changePlanOf(call.tx, call.tenant, change, stampOf(call));
    return changeDone(call, done, `takes the plan ${change.planCode}`, 'subscription.plan_changed');
  },
});
