import * as Type from 'typebox';
import { postMeterReadingsStep } from '../../billrun/lock-readings.ts';
import { empty, id, text } from '../fields.ts';
import { operation } from '../operation.ts';
import {
  awaitJob,
  requestStep,
  scheduleOperation,
  sheduleTime,
  stepErrors,
} from '../scheduling.ts';

export const postMeterReadings = operation({
  path: '/billing/terms/post-meter-readings',
  method: 'Update',
  action: 'Post Meter Readings',
  access: { permission: 'terms:write' },
  summary: 'Step 4 of a bill run: locks the readings with which the term is billed.',
  request: Type.Object({
    operation: scheduleOperation,
    data: Type.Object({
      termID: id,
      reading: text({ max: 64, description: 'current, estimated or previous' }),
      sheduleTime,
    }),
  }),
  response: empty,
  errors: [...stepErrors, 'INVALID_READING_MODE'],
  example: {
    operation: 'schedule',
    data: { termID: 1, reading: 'current', sheduleTime: '2025-08-01T02:00:00' },
  },
  handle(call, { data }) {
    const { termID: termId, reading, sheduleTime: at } = data;
    const parameters = { reading };
    const asked = { termId, parameters, sheduleTime: at, audited: parameters };
    return requestStep(call, postMeterReadingsStep, asked);
  },
  settle: awaitJob,
});
