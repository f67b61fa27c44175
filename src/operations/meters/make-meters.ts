import * as Type from 'typebox';
import { dateIn, formatDate } from '../../base/calendar.ts';
import { counted } from '../../base/counted.ts';
import { detailsOf, errorFromRows } from '../../base/errors.ts';
import { checkNewMeters, registerMeters } from '../../domain/meters/register.ts';
import { empty, id, limits } from '../fields.ts';
import { operation } from '../operation.ts';
import { newMeterFields, newMeterFrom } from './meter-fields.ts';

export const makeMeters = operation({
  path: '/billing/meters/make-meters',
  method: 'Create',
  action: 'Create Meters',
  access: { permission: 'meters:write' },
  summary: 'Registers one or more meters, all or none; each is InActive until it is installed.',
  takesRows: true,
  request: Type.Object({
    meters: Type.Array(Type.Object({ ...newMeterFields, meterType: id }), {
      minItems: 1,
      maxItems: limits.batch,
    }),
  }),
  response: empty,
  errors: ['DUPLICATE', 'METER_TYPE_NOT_FOUND', 'DATE_IN_FUTURE', 'ROWS_REJECTED'],
  example: {
    meters: [{ number: 40012345, brand: 'Itron', meterType: 1, purchaseDate: '15/01/2024', mf: 1 }],
  },
  async handle(call, body) {
    const { tx, tenant } = call;
    const { tenantId } = tenant;
    const meters = body.meters.map((meter) => newMeterFrom(meter, meter.meterType));
    const today = dateIn(call.now, tenant.timezone);
    const checked = await checkNewMeters(tx, tenantId, meters, today);
    if (checked.problems.length > 0) throw errorFromRows(detailsOf(checked.problems, 'meters'));
    const stamp = { at: call.now, by: call.principal.name };
    await registerMeters(tx, tenantId, meters, checked, { stamp, status: 'InActive' });
    const { firstId, types } = checked;
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
    const message = `${counted(meters.length, 'meter')} registered`;
    return { message, data: {}, ids: { resourceIds } };
  },
});
