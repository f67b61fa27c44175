import * as Type from 'typebox';
import { cancelTermStep } from '../../billrun/cancel-term.ts';
import { empty, filledText, id } from '../fields.ts';
import { operation } from '../operation.ts';
import { awaitJob, requestStep, scheduleOperation, stepErrors } from '../scheduling.ts';

export const cancelTermOperation = operation({
  path: '/billing/terms/cancel-term',
  method: 'Update',
  action: 'Cancel Bill Term',
  access: { permission: 'terms:manage' },
  summary: 'Cancels a term without posted bills: unlocks its readings, deletes values and drafts.',
  request: Type.Object({
    operation: Type.Optional(scheduleOperation),
    data: Type.Object({ termID: id, reason: filledText({ max: 500 }) }),
  }),
  response: empty,
  errors: [...stepErrors, 'DUPLICATE'],
  example: { data: { termID: 1, reason: 'Made for the wrong batch' } },
  handle(call, { data }) {
    const { termID: termId } = data;
    const parameters = { reason: data.reason.trim() };
    const asked = { termId, parameters, sheduleTime: null, audited: parameters };
    return requestStep(call, cancelTermStep, asked);
  },
  settle: awaitJob,
});
