import * as Type from 'typebox';
import { balanceHandlings, transferSubscription } from '../../domain/subscriptions/transfer.ts';
import { empty, id, limits, maybe, oneOf, text, tsGuard } from '../fields.ts';
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
import { connectionNumber, trimmed } from './connection-fields.ts';

export const transferConnection = operation({
  path: '/billing/connections/transfer-connection',
  method: 'Update',
  action: 'Transfer Subscription',
  access: { permission: 'subscriptions:manage' },
  summary: 'Transfers a subscription to another party from a date on.',
  request: Type.Object({
    data: Type.Object({
      connectionNumber,
      transferDate: effectiveDate,
      toPartyID: maybe(id),
      toPartyNumber: maybe(id),
      connectionGroupLabel: maybe(text({ max: limits.accountLabel })),
      readings,
      balanceHandling: maybe(oneOf(balanceHandlings)),
      reason,
      ts: tsGuard,
    }),
  }),
  response: empty,
  errors: [
    ...changeErrors,
    ...dateErrors,
    ...readingErrors,
    'PARTY_NOT_FOUND',
    'PARTY_ARCHIVED',
    'PARTY_KEY_MISMATCH',
    'DUPLICATE',
  ],
  example: {
    data: {
      connectionNumber: 'ELEC-00000001',
      transferDate: '15/07/2026',
      toPartyNumber: 100002,
      readings: [{ number: 40012345, value: '48352' }],
      balanceHandling: 'StayWithOld',
      reason: 'House sold',
    },
  },
  async handle(call, { data }) {
    const date = { name: 'transferDate', value: data.transferDate };
    const change = {
      ...datedChange(call, data, date),
      toPartyId: data.toPartyID ?? null,
      toPartyNumber: data.toPartyNumber ?? null,
      accountLabel: trimmed(data.connectionGroupLabel),
      readings: readingsSent(data.readings),
      balanceHandling: data.balanceHandling ?? ('StayWithOld' as const),
      reason: data.reason ?? null,
    };
    const done = await transferSubscription(call.tx, call.tenant, change, stampOf(call));
    return changeDone(call, done, 'transferred', 'subscription.transferred');
  },
});
