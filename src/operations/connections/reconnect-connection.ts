import * as Type from 'typebox';
import { reconnect } from '../../domain/subscriptions/lifecycle.ts';
import { empty, maybe, tsGuard } from '../fields.ts';
import { meterNumber } from '../meters/meter-fields.ts';
import { installationErrors } from '../meters/move-fields.ts';
import { operation } from '../operation.ts';
import {
  assertMayForce,
  changeDone,
  changeErrors,
  datedChange,
  dateErrors,
  effectiveDate,
  force,
  readingErrors,
  readings,
  readingsSent,
  stampOf,
} from './change-fields.ts';
import { connectionNumber } from './connection-fields.ts';

export const reconnectConnection = operation({
  path: '/billing/connections/reconnect-connection',
  method: 'Update',
  action: 'Reconnect Subscription',
  access: { permission: 'subscriptions:write' },
  summary: 'Reconnects a subscription from a date on, with its meter or another one.',
  request: Type.Object({
    data: Type.Object({
      connectionNumber,
      effectiveDate,
      readings,
      number: maybe(meterNumber),
      force,
      ts: tsGuard,
    }),
  }),
  response: empty,
  errors: [
    ...changeErrors,
    ...dateErrors,
    ...readingErrors,
    ...installationErrors,
    'BALANCE_OUTSTANDING',
    'PARTY_ARCHIVED',
  ],
  example: {
    data: {
      connectionNumber: 'ELEC-00000001',
      effectiveDate: '05/08/2026',
      readings: [{ number: 40012345, value: '48352' }],
    },
  },
  async handle(call, { data }) {
    const date = { name: 'effectiveDate', value: data.effectiveDate };
    const change = {
      ...datedChange(call, data, date),
      readings: readingsSent(data.readings),
      meterNumber: data.number ?? null,
      isForced: assertMayForce(call, data.force),
    };
    const done = await reconnect(call.tx, call.tenant, change, stampOf(call));
    return changeDone(call, done, 'reconnected');
  },
});
