import * as Type from 'typebox';
import { dateIn, formatDate, parseDate } from '../../base/calendar.ts';
import { type ErrorDetail, errorFromRows } from '../../base/errors.ts';
import { type MeterFacts, repeated } from '../../domain/meters/meter.ts';
import { findTakenNumbers, insertMeters } from '../../domain/meters/store.ts';
import { findMeterTypeNames } from '../../domain/meters/types-store.ts';
import { takeNumbers } from '../../domain/tenants/numbers-store.ts';
import { date, empty, id, limits } from '../fields.ts';
import { operation } from '../operation.ts';
import { brand, meterNumber, mf } from './meter-fields.ts';

export const makeMeters = operation({
  path: '/billing/meters/make-meters',
  method: 'Create',
  action: 'Create Meters',
  access: { permission: 'meters:write' },
  summary: 'Registers one or more meters, all or none; each is InActive until it is assigned.',
  request: Type.Object({
    meters: Type.Array(
      Type.Object({ number: meterNumber, brand, meterType: id, purchaseDate: date, mf }),
      { minItems: 1, maxItems: limits.batch },
    ),
  }),
  response: empty,
  errors: ['DUPLICATE', 'METER_TYPE_NOT_FOUND', 'DATE_IN_FUTURE', 'ROWS_REJECTED'],
  example: {
    meters: [{ number: 40012345, brand: 'Itron', meterType: 1, purchaseDate: '15/01/2024', mf: 1 }],
  },
  async handle(call, body) {
    const { tx, tenant } = call;
    const { tenantId } = tenant;
    const meters = body.meters.map(
      (meter): MeterFacts => ({
        number: meter.number,
        brand: meter.brand.trim(),
        meterTypeId: meter.meterType,
        purchaseDate: realDate(meter.purchaseDate),
        mf: meter.mf,
      }),
    );
    // Taking ids holds off every other registration in the workspace, so that what is read after it
    // stays true: of calls with the same number one succeeds and the others name their row.
    const [firstId, types, taken] = await Promise.all([
      takeNumbers(tx, tenantId, 'meter', meters.length),
      findMeterTypeNames(tx, tenantId, [...new Set(meters.map((meter) => meter.meterTypeId))]),
      findTakenNumbers(
        tx,
        tenantId,
        meters.map((meter) => meter.number),
      ),
    ]);
    const today = dateIn(call.now, tenant.timezone);
    const problems = problemsOf(meters, { types, taken, today });
    if (problems.length > 0) throw errorFromRows(problems);
    await insertMeters(tx, tenantId, firstId, meters, { at: call.now, by: call.principal.name });
    const resourceIds = meters.map((_, index) => firstId + index);
    meters.forEach((meter, index) => {
      const { meterTypeId, purchaseDate, ...facts } = meter;
      const after = {
        ...facts,
        meterType: types.get(meterTypeId),
        purchaseDate: formatDate(purchaseDate),
      };
      call.audit({ subject: 'meter', subjectId: resourceIds[index] ?? 0, before: null, after });
    });
    const message =
      meters.length === 1 ? '1 meter registered' : `${meters.length} meters registered`;
    return { message, data: {}, ids: { resourceIds } };
  },
});

function realDate(text: string): Temporal.PlainDate {
  const parsed = parseDate(text);
  if (!parsed) throw new Error('the schema let a date through that is none');
  return parsed;
}

type Known = {
  types: ReadonlyMap<number, string>;
  taken: ReadonlySet<number>;
  today: Temporal.PlainDate;
};

/** Everything that stands against the rows, by row. */
function problemsOf(meters: readonly MeterFacts[], known: Known): ErrorDetail[] {
  const twice = new Set(repeated(meters.map((meter) => meter.number)).map(({ index }) => index));
  return meters.flatMap((meter, index) => {
    const at = (field: string) => `meters[${index}].${field}`;
    const problems: ErrorDetail[] = [];
    if (known.taken.has(meter.number) || twice.has(index)) {
      const message = known.taken.has(meter.number)
        ? `A meter with the number ${meter.number} is registered already`
        : `The number ${meter.number} stands twice in this request`;
      const rejectedValue = meter.number;
      problems.push({ field: at('number'), code: 'DUPLICATE', message, rejectedValue });
    }
    if (!known.types.has(meter.meterTypeId)) {
      const message = `No meter type has the id ${meter.meterTypeId}`;
      const rejectedValue = meter.meterTypeId;
      const field = at('meterType');
      problems.push({ field, code: 'METER_TYPE_NOT_FOUND', message, rejectedValue });
    }
    if (Temporal.PlainDate.compare(meter.purchaseDate, known.today) > 0) {
      const rejectedValue = formatDate(meter.purchaseDate);
      const message = `${rejectedValue} is later than today, ${formatDate(known.today)}`;
      const field = at('purchaseDate');
      problems.push({ field, code: 'DATE_IN_FUTURE', message, rejectedValue });
    }
    return problems;
  });
}
