import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import {
  countMappings,
  listMappings,
  type MappingRow,
} from '../../domain/bank-files/files-store.ts';
import { fieldsOnly, maybe, page, text, timestamp } from '../fields.ts';
import { listing } from '../listing.ts';
import { operation } from '../operation.ts';
import { columns } from './mapping-fields.ts';

const mappingView = {
  name: Type.String(),
  columns,
  modifiedAt: timestamp,
  modifiedBy: Type.String(),
};

export const getMappings = operation({
  path: '/billing/bank-files/get-mappings',
  method: 'Retrieve',
  action: 'Retrieve Bank Mappings',
  access: { permission: 'bank-files:read' },
  summary: 'Lists how CSV files of banks are read.',
  request: Type.Object({
    name: maybe(text({ max: 60 })),
    page: Type.Optional(page),
    metaData: fieldsOnly,
  }),
  response: Type.Object({ mappings: Type.Array(Type.Partial(Type.Object(mappingView))) }),
  errors: [],
  example: { name: 'First Bank' },
  handle(call, body) {
    const { tenantId, timezone } = call.tenant;
    const names = body.name ? { names: [body.name] } : {};
    return listing(call, {
      page: body.page,
      fields: body.metaData?.fields,
      count: (tx) => countMappings(tx, tenantId, names.names),
      at: (tx, window) => listMappings(tx, tenantId, { ...names, ...window }),
      after: (tx, { after, limit }) =>
        listMappings(tx, tenantId, { ...names, offset: 0, limit, afterName: after?.name ?? null }),
      present: (row: MappingRow) => ({
        name: row.name,
        columns: row.columns,
        modifiedAt: formatTimestamp(row.modified_at, timezone),
        modifiedBy: row.modified_by,
      }),
      wrap: (mappings) => ({ mappings }),
    });
  },
});
