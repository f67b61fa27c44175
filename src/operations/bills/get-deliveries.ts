import * as Type from 'typebox';
import {
  countDeliveries,
  type DeliveryFilter,
  type DeliveryRow,
  listDeliveries,
} from '../../domain/delivery/list-store.ts';
import { deliveryStatuses } from '../../domain/delivery/store.ts';
import { deliveryChannels } from '../../domain/tenants/channels.ts';
import { fieldsOnly, filterOf, maybe, page } from '../fields.ts';
import { listing } from '../listing.ts';
import { operation } from '../operation.ts';
import { deliveryView, presentDelivery } from './delivery-fields.ts';

/** An id that does not exist is not an error: the list is empty. */
const wholeNumber = Type.Integer({
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
  'x-code': 'INVALID_FILTER_VALUE',
});

export const getDeliveries = operation({
  path: '/billing/bills/get-deliveries',
  method: 'Retrieve',
  action: 'Retrieve Deliveries',
  access: { permission: 'bills:read' },
  summary: 'Lists the deliveries of bills with their outcome: sent, failed or uncertain.',
  request: Type.Object({
    termID: maybe(wholeNumber),
    billID: maybe(wholeNumber),
    status: filterOf(deliveryStatuses),
    channel: filterOf(deliveryChannels),
    page: Type.Optional(page),
    metaData: fieldsOnly,
  }),
  response: Type.Object({ deliveries: Type.Array(Type.Partial(Type.Object(deliveryView))) }),
  errors: [],
  example: { termID: 1, status: 'Uncertain', page: { pageNumber: 0, size: 20 } },
  handle(call, body) {
    const { tenantId } = call.tenant;
    const filter: DeliveryFilter = {
      termId: body.termID ?? null,
      billId: body.billID ?? null,
      status: body.status ?? null,
      channel: body.channel ?? null,
    };
    return listing(call, {
      page: body.page,
      fields: body.metaData?.fields,
      count: (tx) => countDeliveries(tx, tenantId, filter),
      at: (tx, window) => listDeliveries(tx, tenantId, filter, { ...window, afterId: 0 }),
      after: (tx, { after, limit }) =>
        listDeliveries(tx, tenantId, filter, {
          offset: 0,
          limit,
          afterId: after?.delivery_id ?? 0,
        }),
      present: (row: DeliveryRow) => presentDelivery(row, call.tenant),
      wrap: (deliveries) => ({ deliveries }),
    });
  },
});
