import * as Type from 'typebox';
import { meterStatuses } from '../../domain/meters/meter.ts';
import {
  countMeters,
  listMeterIdsAfter,
  listMetersAfter,
  listMetersAt,
  listMetersByIds,
  type MeterFilter,
  type MeterRow,
  type MeterSort,
  meterSortNames,
} from '../../domain/meters/store.ts';
import { filterOf, maybe, metaData, nullable, page } from '../fields.ts';
import { foundAhead, listing } from '../listing.ts';
import { operation } from '../operation.ts';
import { meterFields, presentMeter } from './meter-fields.ts';

/** A number that does not exist is not an error: the list is empty. */
const wholeNumber = Type.Integer({
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
  'x-code': 'INVALID_FILTER_VALUE',
});

export const getMeters = operation({
  path: '/billing/meters/get-meters',
  method: 'Retrieve',
  action: 'Retrieve Meters',
  access: { permission: 'meters:read' },
  summary: 'Lists meters: all, a page, or those that match.',
  byKey: ({ number }) => Boolean(number),
  request: Type.Object({
    number: maybe(wholeNumber),
    status: filterOf(meterStatuses),
    mfNo: maybe(wholeNumber),
    page: Type.Optional(page),
    metaData: metaData(meterSortNames),
  }),
  response: Type.Object({
    meters: Type.Object({
      meters: Type.Array(
        Type.Partial(
          Type.Object({
            ...meterFields,
            brand: Type.String({ description: 'only where metaData.fields asks for it' }),
          }),
        ),
      ),
      page: nullable(Type.Object({ pageNumber: Type.Integer(), size: Type.Integer() })),
    }),
  }),
  errors: [],
  example: { status: 'InActive', page: { pageNumber: 0, size: 20 } },
  handle(call, body) {
    const { tenantId } = call.tenant;
    const meta = body.metaData ?? {};
    const filter: MeterFilter = {
      number: body.number ?? null,
      status: body.status ?? null,
      mf: body.mfNo ?? null,
      search: meta.search || null,
      updatedSince: meta.updatedSince ?? null,
    };
    const sort: MeterSort = { by: meta.sortBy ?? 'meterID', descending: meta.sortOrder === 'desc' };
    const shown = body.page ? { pageNumber: body.page.pageNumber, size: body.page.size } : null;
    const withBrand = meta.fields?.includes('brand') ?? false;
    return listing(call, {
      page: body.page,
      fields: meta.fields,
      count: (tx) => countMeters(tx, tenantId, filter),
      at: (tx, window) => listMetersAt(tx, tenantId, filter, sort, window),
      after:
        filter.search === null
          ? (tx, options) => listMetersAfter(tx, tenantId, filter, sort, options)
          : foundAhead({
              find: (tx, options) => listMeterIdsAfter(tx, tenantId, filter, sort, options),
              rowsOf: (tx, ids) => listMetersByIds(tx, tenantId, ids),
              idOf: (row) => row.meter_id,
            }),
      present: (row: MeterRow) => ({
        ...presentMeter(row, call.tenant),
        ...(withBrand ? { brand: row.brand } : {}),
      }),
      wrap: (meters) => ({ meters: { meters, page: shown } }),
    });
  },
});
