import * as Type from 'typebox';
import { assignMeter } from '../../domain/meters/move.ts';
import { connectionNumber } from '../connections/connection-fields.ts';
import { date, empty, filledText, maybe } from '../fields.ts';
import { operation } from '../operation.ts';
import { initialReadings, registerReading } from './installation-fields.ts';
import { meterNumber } from './meter-fields.ts';
import { auditMove, installationErrors, moveErrors, moveOf } from './move-fields.ts';

export const assignMeterOperation = operation({
  path: '/billing/meters/assign-meter',
  method: 'Update',
  action: 'Assign Meter',
  access: { permission: 'meters:write' },
  summary: 'Installs a registered meter on a subscription; the meter is Active from then on.',
  request: Type.Object({
    data: Type.Object({
      connectionNumber,
      number: meterNumber,
      meteredInput: maybe(
        filledText({ max: 64, description: 'left out: by code and unit of its registers' }),
      ),
      installDate: date,
      initialReadings,
    }),
  }),
  response: empty,
  errors: [...moveErrors, ...installationErrors, 'UNKNOWN_INPUT', 'DUPLICATE_ROW'],
  example: {
    data: {
      connectionNumber: 'ELEC-00000001',
      number: 40012345,
      installDate: '01/02/2026',
      initialReadings: [{ register: 'kWh', value: '0' }],
    },
  },
  async handle(call, { data }) {
    const moved = await assignMeter(
      call.tx,
      call.tenant.tenantId,
      {
        ...moveOf(call, data.connectionNumber, { name: 'installDate', value: data.installDate }),
        number: data.number,
        input: data.meteredInput?.trim() ?? null,
        initialReadings: (data.initialReadings ?? []).map(registerReading),
      },
      { at: call.now, by: call.principal.name },
    );
    const resourceIds = auditMove(call, moved);
    const message = `Meter ${data.number} installed on ${moved.subscription.subscription_number}`;
    return { message, data: {}, ids: { resourceIds } };
  },
});
