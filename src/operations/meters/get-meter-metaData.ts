import * as Type from 'typebox';
import { meterHealths, meterStatuses } from '../../domain/meters/meter.ts';
import { listBrands } from '../../domain/meters/store.ts';
import {
  countMeterTypes,
  listMeterTypes,
  type MeterTypeRow,
} from '../../domain/meters/types-store.ts';
import { readingRemarks, readingTypes } from '../../domain/readings/reading.ts';
import { nullable } from '../fields.ts';
import { chunkRows, wholeListing } from '../listing.ts';
import { operation } from '../operation.ts';

const words = Type.Array(Type.String());

export const getMeterMetaData = operation({
  path: '/billing/meters/get-meter-metaData',
  method: 'Retrieve',
  action: 'Retrieve Meter MetaData',
  access: { permission: 'meters:read' },
  summary: 'Lists the meter types with their registers, and the values that meter fields accept.',
  request: Type.Object({}),
  response: Type.Object({
    meterTypes: Type.Array(
      Type.Object({
        id: Type.Integer(),
        name: Type.String(),
        utility: Type.String(),
        phases: nullable(Type.Integer()),
        prepaid: Type.Integer({ description: '0 or 1' }),
        registers: Type.Array(
          Type.Object({
            register: Type.String(),
            unit: Type.String(),
            kind: Type.String(),
            timeOfUse: nullable(Type.String()),
            digits: Type.Integer(),
            decimals: Type.Integer(),
          }),
        ),
      }),
    ),
    brands: Type.Array(Type.String(), { description: 'those of the registered meters' }),
    meterHealth: words,
    statuses: words,
    readingTypes: words,
    readingRemarks: words,
  }),
  errors: [],
  example: {},
  async handle(call) {
    const { tx } = call;
    const { tenantId } = call.tenant;
    const [first, brands] = await Promise.all([
      listMeterTypes(tx, tenantId, { afterId: 0, limit: chunkRows }),
      listBrands(tx, tenantId),
    ]);
    return wholeListing(call, {
      first,
      count: (tx) => countMeterTypes(tx, tenantId),
      after: (tx, { after, limit }) =>
        listMeterTypes(tx, tenantId, { afterId: after?.meter_type_id ?? 0, limit }),
      present: presentType,
      wrap: (meterTypes) => ({
        meterTypes,
        brands,
        meterHealth: [...meterHealths],
        statuses: [...meterStatuses],
        readingTypes: [...readingTypes],
        readingRemarks: [...readingRemarks],
      }),
    });
  },
});

function presentType(row: MeterTypeRow) {
  return {
    id: row.meter_type_id,
    name: row.name,
    utility: row.utility,
    phases: row.phases,
    prepaid: row.prepaid ? 1 : 0,
    registers: row.registers.map(({ register, unit, kind, timeOfUse, digits, decimals }) => ({
      register,
      unit,
      kind,
      timeOfUse,
      digits,
      decimals,
    })),
  };
}
