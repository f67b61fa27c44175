import * as Type from 'typebox';
import { disconnect } from '../../domain/subscriptions/lifecycle.ts';
import { disconnectionKinds } from '../../domain/subscriptions/subscription.ts';
import { empty, maybe, oneOf, tsGuard } from '../fields.ts';
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
  reason,
  stampOf,
} from './change-fields.ts';
import { connectionNumber } from './connection-fields.ts';

export const disconnectConnection = operation({
  path: '/billing/connections/disconnect-connection',
  method: 'Update',
  action: 'Disconnect Subscription',
  access: { permission: 'subscriptions:write' },
  summary: 'Disconnects a subscription from a date on; recurring charges end the day before.',
  request: Type.Object({
    data: Type.Object({
      connectionNumber,
      effectiveDate,
      kind: maybe(oneOf(disconnectionKinds)),
      reason,
      readings,
      removeMeter: maybe(Type.Boolean()),
      ts: tsGuard,
    }),
  }),
  response: empty,
  errors: [...changeErrors, ...dateErrors, ...readingErrors],
  example: {
    data: {
      connectionNumber: 'ELEC-00000001',
      effectiveDate: '21/07/2026',
      kind: 'Temporary',
      reason: 'Unpaid bills',
      readings: [{ number: 40012345, value: '48352' }],
      removeMeter: false,
    },
  },
  async handle(call, { data }) {
    const date = { name: 'effectiveDate', value: data.effectiveDate };
    const change = {
      ...datedChange(call, data, date),
      kind: data.kind ?? ('Temporary' as const),
      reason: data.reason ?? null,
      readings: readingsSent(data.readings),
      removeMeter: data.removeMeter ?? false,
    };
    const done = await disconnect(call.tx, call.tenant.tenantId, change, stampOf(call));
    return changeDone(call, done, 'disconnected');
  },
});
