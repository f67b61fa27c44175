import { uploadMeterReadingsStep } from '../../billrun/upload-readings.ts';
import { empty } from '../fields.ts';
import { operation } from '../operation.ts';
import { awaitJob, requestStep, stepErrors } from '../scheduling.ts';
import { parseUpload, uploadRequest } from './upload-fields.ts';

const columns = { list: 'readings', min: 4, max: 7 };

export const uploadMeterReadings = operation({
  path: '/billing/terms/upload-meter-readings',
  method: 'Update',
  action: 'Upload Meter Readings',
  access: { permission: 'readings:write' },
  summary: 'Step 3 of a bill run: stores readings for a term, all or none, and checks them.',
  takesRows: true,
  request: uploadRequest(
    'JSON {termID, readings: [[connectionNumber, meterNumber, reading, readingDate, ' +
      'readingType?, remark?, register?], ...]}, all texts',
  ),
  response: empty,
  errors: [
    ...stepErrors,
    'MALFORMED_INNER_JSON',
    'SUBSCRIPTION_NOT_FOUND',
    'METER_NOT_FOUND',
    'METER_NOT_ASSIGNED',
    'REGISTER_REQUIRED',
    'DATE_IN_FUTURE',
    'DUPLICATE_ROW',
    'READING_LOCKED',
    'ROWS_REJECTED',
  ],
  example: {
    operation: 'schedule',
    data: {
      data: '{"termID": 1, "readings": [["ELEC-00000001", "40012345", "1250", "31/07/2025"]]}',
      sheduleTime: null,
    },
  },
  async handle(call, { data }) {
    const { termId, rows } = await parseUpload(call, data.data, columns);
    const parameters = { rows };
    const audited = { readings: rows.length };
    const { sheduleTime } = data;
    return requestStep(call, uploadMeterReadingsStep, { termId, parameters, sheduleTime, audited });
  },
  settle: awaitJob,
});
