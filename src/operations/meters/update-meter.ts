import * as Type from 'typebox';
import { meterHealths } from '../../domain/meters/meter.ts';
import type { MeterRow } from '../../domain/meters/store.ts';
import { changeMeter } from '../../domain/meters/update.ts';
import type { Tenant } from '../../domain/tenants/tenant.ts';
import { empty, oneOf, tsGuard } from '../fields.ts';
import { operation } from '../operation.ts';
import { brand, meterNumber, mf, presentMeter } from './meter-fields.ts';

export const updateMeterOperation = operation({
  path: '/billing/meters/update-meter',
  method: 'Update',
  action: 'Update Meter',
  access: { permission: 'meters:write' },
  summary: 'Changes the brand or health of a meter, and its factor while it is InActive.',
  request: Type.Object({
    data: Type.Object({
      number: meterNumber,
      brand: Type.Optional(brand),
      meterHealth: Type.Optional(oneOf(meterHealths)),
      mf: Type.Optional(mf),
      ts: tsGuard,
    }),
  }),
  response: empty,
  errors: ['METER_NOT_FOUND', 'STALE_OBJECT', 'INVALID_STATE'],
  example: { data: { number: 40012345, meterHealth: 'faulty' } },
  async handle(call, body) {
    const { data } = body;
    const change = {
      brand: data.brand?.trim(),
      health: data.meterHealth,
      mf: data.mf,
      seenTs: data.ts,
    };
    const stamp = { at: call.now, by: call.principal.name };
    const done = await changeMeter(call.tx, call.tenant.tenantId, data.number, change, stamp);
    call.audit({
      subject: 'meter',
      subjectId: done.after.meter_id,
      before: snapshot(done.before, call.tenant),
      after: snapshot(done.after, call.tenant),
    });
    return {
      message: `Meter ${done.after.number} updated`,
      data: {},
      ids: { resourceIds: [done.after.meter_id] },
    };
  },
});

function snapshot(row: MeterRow, tenant: Tenant) {
  return { ...presentMeter(row, tenant), brand: row.brand };
}
