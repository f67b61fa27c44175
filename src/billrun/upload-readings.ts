// Step 3: readings are entered for a term, all or none. They are not locked by it.
import { dateIn, namesNoTime, parseDate } from '../base/calendar.ts';
import { dayOf } from '../base/days.ts';
import type { Tx } from '../base/db/pool.ts';
import { detailsOf, errorFromUpload, type RowProblem } from '../base/errors.ts';
import { countReviews, outsideText, storedText } from '../domain/readings/describe.ts';
import { type CheckedReadings, storeReadings } from '../domain/readings/enter.ts';
import { checkReadings, type ReadingRow } from '../domain/readings/place.ts';
import { type ReadingType, readingTypes } from '../domain/readings/reading.ts';
import { getTerm, noteInputs } from '../domain/terms/store.ts';
import { termRules } from '../domain/terms/term-rules.ts';
import type { Finish, StepJob, StepRequest } from '../jobs/step.ts';
import { rowsOf, uploadStep } from './upload-step.ts';

/** Subscription, meter, reading, date, and where they are given type, remark and register. */
export type UploadedReading = readonly string[];

export const uploadMeterReadingsStep = uploadStep({
  operation: 'upload-meter-readings',
  read: checkedRows,
  store,
});

async function store(tx: Tx, job: StepJob, checked: CheckedReadings): Promise<Finish> {
  const { tenantId } = job.tenant;
  const stamp = { at: job.now, by: job.requestedBy };
  const stored = checked.readings.length;
  if (stored > 0) await storeReadings(tx, tenantId, checked, stamp);
  await noteInputs(
    tx,
    tenantId,
    job.termId ?? 0,
    { stage: 'ReadingsUploaded', hasChanged: stored > 0 },
    stamp,
  );
  const message = storedText(checked);
  const warning = await warningOf(tx, job, checked);
  return {
    message: warning === '' ? message : `${message.replace(/\.$/, '')}. ${warning}`,
    stored,
    unchanged: checked.unchanged,
    underReview: countReviews(checked),
  };
}

/** Readings are stored whatever their date; the term takes those of its own days. */
async function warningOf(tx: Tx, job: StepJob, checked: CheckedReadings): Promise<string> {
  const { tenantId } = job.tenant;
  const term = await getTerm(tx, tenantId, job.termId ?? 0);
  const { lastReadingDate } = await termRules(tx, tenantId, term);
  return outsideText(checked, {
    label: term.label,
    firstDate: Temporal.PlainDate.from(term.start_date),
    lastDate: lastReadingDate,
  });
}

/** The checked rows to be stored; throws if any row is rejected. */
async function checkedRows(tx: Tx, request: StepRequest): Promise<CheckedReadings> {
  const { tenant, now } = request;
  const problems: RowProblem[] = [];
  const rows: ReadingRow[] = [];
  const places: number[] = [];
  rowsOf<UploadedReading>(request).forEach((sent, index) => {
    const read = readRow(sent);
    if ('code' in read) problems.push({ row: index, ...read });
    else {
      rows.push(read);
      places.push(index);
    }
  });
  const today = dayOf(dateIn(now, tenant.timezone));
  const checked = await checkReadings(tx, tenant.tenantId, rows, { today, keepsSame: true });
  const found = checked.problems.map((problem) => ({
    ...problem,
    row: places[problem.row] ?? problem.row,
  }));
  const all = [...problems, ...found].sort((a, b) => a.row - b.row);
  if (all.length > 0) throw errorFromUpload(detailsOf(all, 'readings'));
  return checked;
}

type Refused = Omit<RowProblem, 'row'>;

const meterNumber = /^[1-9]\d{0,14}$/;
const decimal = /^\+?\d{1,30}(\.\d{1,30})?$/;
/** Those that come with hanging meters up and taking them down are not for uploads. */
const uploadedTypes = readingTypes.filter((type) => type !== 'Installation' && type !== 'Removal');

function readRow(sent: UploadedReading): ReadingRow | Refused {
  const [subscription = '', meter = '', reading = '', date = '', type = '', remark, register] =
    sent.map((text) => text.trim());
  const refuse = (
    name: string,
    code: Refused['code'],
    message: string,
    rejectedValue: string,
  ): Refused => ({ name, code, message, rejectedValue });
  if (subscription === '') {
    return refuse('connectionNumber', 'SUBSCRIPTION_NOT_FOUND', 'The number is empty', '');
  }
  if (!meterNumber.test(meter)) {
    return refuse('number', 'METER_NOT_FOUND', `No meter has the number '${meter}'`, meter);
  }
  if (!decimal.test(reading)) {
    return refuse('value', 'INVALID_NUMBER', `'${reading}' is not a number`, reading);
  }
  const readOn = parseDate(date);
  if (readOn === undefined) {
    const message = namesNoTime(date)
      ? `There is no day ${date}`
      : `'${date}' is not a date of the form DD/MM/YYYY`;
    return refuse('readingDate', 'INVALID_DATE', message, date);
  }
  const known = type === '' ? 'Actual' : uploadedTypes.find((one) => one === type);
  if (!known) {
    const message = `readingType must be one of ${uploadedTypes.join(', ')}`;
    return refuse('readingType', 'INVALID_ENUM', message, type);
  }
  return {
    meterNumber: Number(meter),
    subscriptionNumber: subscription,
    register: register || null,
    value: reading,
    day: dayOf(readOn),
    time: null,
    type: known as ReadingType,
    rollover: false,
    source: 'upload',
    remark: remark || null,
    imageUrl: null,
    externalReference: null,
  };
}
