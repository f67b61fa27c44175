import * as Type from 'typebox';
import { meterHealths } from '../../domain/meters/meter.ts';
import { replaceMeter } from '../../domain/meters/move.ts';
import { connectionNumber } from '../connections/connection-fields.ts';
import { date, empty, maybe, oneOf } from '../fields.ts';
import { operation } from '../operation.ts';
import { initialReadings, registerReading } from './installation-fields.ts';
import { meterNumber } from './meter-fields.ts';
import {
  auditMove,
  finalReadings,
  finalReadingsOf,
  installationErrors,
  moveErrors,
  moveOf,
  reason,
  releaseErrors,
} from './move-fields.ts';

export const replaceMeterOperation = operation({
  path: '/billing/meters/replace-meter',
  method: 'Update',
  action: 'Replace Meter',
  access: { permission: 'meters:write' },
  summary: 'Exchanges a meter for another, which measures the same inputs from that day on.',
  request: Type.Object({
    data: Type.Object({
      connectionNumber,
      oldNumber: meterNumber,
      newNumber: meterNumber,
      replaceDate: date,
      finalReadings,
      initialReadings,
      reason,
      oldMeterHealth: maybe(oneOf(meterHealths)),
    }),
  }),
  response: empty,
  errors: [...moveErrors, ...installationErrors, ...releaseErrors],
  example: {
    data: {
      connectionNumber: 'ELEC-00000001',
      oldNumber: 40012345,
      newNumber: 40012346,
      replaceDate: '15/02/2026',
      finalReadings: [{ register: 'kWh', value: '48352' }],
      initialReadings: [{ register: 'kWh', value: '0' }],
      reason: 'Meter stopped',
      oldMeterHealth: 'faulty',
    },
  },
  async handle(call, { data }) {
    const moved = await replaceMeter(
      call.tx,
      call.tenant.tenantId,
      {
        ...moveOf(call, data.connectionNumber, { name: 'replaceDate', value: data.replaceDate }),
        oldNumber: data.oldNumber,
        newNumber: data.newNumber,
        finalReadings: finalReadingsOf(data.finalReadings, data.oldNumber),
        initialReadings: (data.initialReadings ?? []).map(registerReading),
        reason: data.reason ?? null,
        oldMeterHealth: data.oldMeterHealth ?? null,
      },
      { at: call.now, by: call.principal.name },
    );
    const resourceIds = auditMove(call, moved);
    const message = `Meter ${data.oldNumber} replaced by ${data.newNumber}`;
    return { message, data: {}, ids: { resourceIds } };
  },
});
