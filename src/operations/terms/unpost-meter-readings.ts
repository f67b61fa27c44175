import * as Type from 'typebox';
import { unpostMeterReadingsStep } from '../../billrun/unlock-readings.ts';
import { empty, id, maybe, text } from '../fields.ts';
import { operation } from '../operation.ts';
import {
  awaitJob,
  requestStep,
  scheduleOperation,
  sheduleTime,
  stepErrors,
} from '../scheduling.ts';

export const unpostMeterReadings = operation({
  path: '/billing/terms/unpost-meter-readings',
  method: 'Update',
  action: 'Unpost Meter Readings',
  access: { permission: 'terms:write' },
  summary: 'Unposts readings: unlocks those of a term, or of one subscription in it.',
  request: Type.Object({
    operation: Type.Optional(scheduleOperation),
    data: Type.Object({
      termID: id,
      connectionNumber: maybe(text({ max: 120 })),
      sheduleTime,
    }),
  }),
  response: empty,
  errors: [...stepErrors, 'SUBSCRIPTION_NOT_FOUND'],
  example: { data: { termID: 1 } },
  handle(call, { data }) {
    const { termID: termId, sheduleTime: at } = data;
    const parameters = { connectionNumber: data.connectionNumber?.trim() || null };
    const asked = { termId, parameters, sheduleTime: at, audited: parameters };
    return requestStep(call, unpostMeterReadingsStep, asked);
  },
  settle: awaitJob,
});
