import * as Type from 'typebox';
import { removeMeter } from '../../domain/meters/move.ts';
import { connectionNumber } from '../connections/connection-fields.ts';
import { date, empty } from '../fields.ts';
import { operation } from '../operation.ts';
import { meterNumber } from './meter-fields.ts';
import {
  auditMove,
  finalReadings,
  finalReadingsOf,
  moveErrors,
  moveOf,
  reason,
  releaseErrors,
} from './move-fields.ts';

export const removeMeterOperation = operation({
  path: '/billing/meters/remove-meter',
  method: 'Update',
  action: 'Remove Meter',
  access: { permission: 'meters:write' },
  summary:
    'Removes a meter from its subscription; the meter is InActive and can be assigned elsewhere.',
  request: Type.Object({
    data: Type.Object({
      connectionNumber,
      number: meterNumber,
      removeDate: date,
      finalReadings,
      reason,
    }),
  }),
  response: empty,
  errors: [...moveErrors, ...releaseErrors],
  example: {
    data: {
      connectionNumber: 'ELEC-00000001',
      number: 40012345,
      removeDate: '28/02/2026',
      finalReadings: [{ register: 'kWh', value: '48352' }],
      reason: 'Premises demolished',
    },
  },
  async handle(call, { data }) {
    const moved = await removeMeter(
      call.tx,
      call.tenant.tenantId,
      {
        ...moveOf(call, data.connectionNumber, { name: 'removeDate', value: data.removeDate }),
        number: data.number,
        finalReadings: finalReadingsOf(data.finalReadings, data.number),
        reason: data.reason ?? null,
      },
      { at: call.now, by: call.principal.name },
    );
    const resourceIds = auditMove(call, moved);
    const message = `Meter ${data.number} removed from ${moved.subscription.subscription_number}`;
    return { message, data: {}, ids: { resourceIds } };
  },
});
