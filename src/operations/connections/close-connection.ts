import * as Type from 'typebox';
import { close } from '../../domain/subscriptions/lifecycle.ts';
import { depositHandlings } from '../../domain/subscriptions/settlement.ts';
import { empty, maybe, oneOf, tsGuard } from '../fields.ts';
import { operation } from '../operation.ts';
import {
  changeDone,
  changeErrors,
  datedChange,
  dateErrors,
  effectiveDate,
  readingErrors,
  stampOf,
} from './change-fields.ts';
import { connectionNumber } from './connection-fields.ts';

export const closeConnection = operation({
  path: '/billing/connections/close-connection',
  method: 'Update',
  action: 'Close Subscription',
  access: { permission: 'subscriptions:manage' },
  summary:
    'Closes a subscription permanently; nothing may be owed on it, and its meters are removed.',
  request: Type.Object({
    data: Type.Object({
      connectionNumber,
      effectiveDate,
      depositHandling: maybe(oneOf(depositHandlings)),
      ts: tsGuard,
    }),
  }),
  response: empty,
  errors: [...changeErrors, ...dateErrors, ...readingErrors, 'BALANCE_OUTSTANDING'],
  example: {
    data: {
      connectionNumber: 'ELEC-00000001',
      effectiveDate: '31/08/2026',
      depositHandling: 'ApplyToBalance',
    },
  },
  async handle(call, { data }) {
    const date = { name: 'effectiveDate', value: data.effectiveDate };
    const change = {
      ...datedChange(call, data, date),
      depositHandling: data.depositHandling ?? ('ApplyToBalance' as const),
    };
    const done = await close(call.tx, call.tenant, change, stampOf(call));
    return changeDone(call, done, 'closed');
  },
});
