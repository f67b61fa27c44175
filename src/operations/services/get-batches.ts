import * as Type from 'typebox';
import { type BatchRow, countBatches, listBatches } from '../../domain/pricing/batches-store.ts';
import { maybe, text } from '../fields.ts';
import { wholeListing } from '../listing.ts';
import { operation } from '../operation.ts';
import { batchView, presentBatch } from './service-view-fields.ts';

export const getBatches = operation({
  path: '/billing/services/get-batches',
  method: 'Retrieve',
  action: 'Retrieve Batches',
  access: { permission: 'contexts:read' },
  summary: 'Lists the batches of a pricing context, or of all.',
  request: Type.Object({ serviceCode: maybe(text({ max: 32 })) }),
  response: Type.Object({
    batches: Type.Array(Type.Object({ serviceCode: Type.String(), ...batchView.properties })),
  }),
  errors: [],
  example: { serviceCode: 'ELEC' },
  handle(call, body) {
    const { tenantId } = call.tenant;
    const contextCode = body.serviceCode || null;
    return wholeListing(call, {
      count: (tx) => countBatches(tx, tenantId, contextCode),
      after: (tx, { after, limit }) =>
        listBatches(tx, tenantId, { contextCode, afterId: after?.batch_id ?? 0, limit }),
      present: (row: BatchRow) => ({ serviceCode: row.context_code, ...presentBatch(row) }),
      wrap: (batches) => ({ batches }),
    });
  },
});
