import { postManualValuesStep } from '../../billrun/manual-values.ts';
import { empty } from '../fields.ts';
import { operation } from '../operation.ts';
import { awaitJob, requestStep, stepErrors } from '../scheduling.ts';
import { parseUpload, uploadRequest } from './upload-fields.ts';

const columns = { list: 'compsData', min: 3, max: 3 };

export const postManualComponentValues = operation({
  path: '/billing/terms/post-manual-component-values',
  method: 'Update',
  action: 'Upload Manual Comps',
  access: { permission: 'terms:write' },
  summary: 'Step 5 of a bill run: uploads manual values of components for some subscriptions.',
  takesRows: true,
  request: uploadRequest(
    'JSON {termID, compsData: [[connectionNumber, component, value], ...]}, all texts; an empty ' +
      'value takes an earlier one back',
  ),
  response: empty,
  errors: [
    ...stepErrors,
    'MALFORMED_INNER_JSON',
    'SUBSCRIPTION_NOT_FOUND',
    'SUBSCRIPTION_NOT_IN_TERM',
    'COMPONENT_NOT_FOUND',
    'COMPONENT_NOT_MANUAL',
    'DUPLICATE_ROW',
    'ROWS_REJECTED',
  ],
  example: {
    operation: 'schedule',
    data: {
      data: '{"termID": 1, "compsData": [["ELEC-00000001", "adjustment", "150.00"]]}',
      sheduleTime: '2025-08-01T02:00:00',
    },
  },
  async handle(call, { data }) {
    const { termId, rows } = await parseUpload(call, data.data, columns);
    const parameters = { rows };
    const audited = { values: rows.length };
    const { sheduleTime } = data;
    return requestStep(call, postManualValuesStep, { termId, parameters, sheduleTime, audited });
  },
  settle: awaitJob,
});
