import { uploadUsageStep } from '../../billrun/upload-usage.ts';
import { empty } from '../fields.ts';
import { operation } from '../operation.ts';
import { awaitJob, requestStep, stepErrors } from '../scheduling.ts';
import { parseUpload, uploadRequest } from './upload-fields.ts';

const columns = { list: 'usage', min: 3, max: 4 };

export const uploadUsage = operation({
  path: '/billing/terms/upload-usage',
  method: 'Update',
  action: 'Upload Usage',
  access: { permission: 'terms:write' },
  summary:
    'Uploads usage that no meter measures, for the whole term or for a date: all rows or none.',
  takesRows: true,
  request: uploadRequest(
    'JSON {termID, usage: [[connectionNumber, inputName, quantity, date?], ...]}, each item as ' +
      'text; an empty quantity removes an earlier row',
  ),
  response: empty,
  errors: [
    ...stepErrors,
    'MALFORMED_INNER_JSON',
    'SUBSCRIPTION_NOT_FOUND',
    'SUBSCRIPTION_NOT_IN_TERM',
    'UNKNOWN_INPUT',
    'DUPLICATE_ROW',
    'ROWS_REJECTED',
  ],
  example: {
    operation: 'schedule',
    data: {
      data: '{"termID": 1, "usage": [["ELEC-00000001", "calls", "1200", "15/07/2025"]]}',
      sheduleTime: null,
    },
  },
  async handle(call, { data }) {
    const { termId, rows } = await parseUpload(call, data.data, columns);
    const parameters = { rows };
    const audited = { rows: rows.length };
    const { sheduleTime } = data;
    return requestStep(call, uploadUsageStep, { termId, parameters, sheduleTime, audited });
  },
  settle: awaitJob,
});
