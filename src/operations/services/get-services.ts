import * as Type from 'typebox';
import { getWholeContext } from '../../domain/pricing/contexts.ts';
import {
  type ContextRow,
  countContexts,
  findContext,
  listContexts,
} from '../../domain/pricing/contexts-store.ts';
import { maybe, text } from '../fields.ts';
import { wholeListing } from '../listing.ts';
import { operation } from '../operation.ts';
import { presentService, presentWholeService, serviceView } from './service-view-fields.ts';

export const getServices = operation({
  path: '/billing/services/get-services',
  method: 'Retrieve',
  action: 'Retrieve Packages',
  access: { permission: 'contexts:read' },
  summary: 'Lists pricing contexts; with serviceCode, returns one in full.',
  byKey: ({ serviceCode }) => Boolean(serviceCode),
  request: Type.Object({ serviceCode: maybe(text({ max: 32 })) }),
  response: Type.Object({ services: Type.Array(serviceView) }),
  errors: [],
  example: { serviceCode: 'ELEC' },
  async handle(call, body) {
    const { tx, tenant } = call;
    const { tenantId } = tenant;
    if (body.serviceCode) {
      const row = await findContext(tx, tenantId, body.serviceCode);
      const whole = row && (await getWholeContext(tx, tenantId, row));
      const services = whole ? [presentWholeService(whole, tenant)] : [];
      return { message: `${services.length} found`, total: services.length, data: { services } };
    }
    return wholeListing(call, {
      count: (one) => countContexts(one, tenantId),
      after: (one, { after, limit }) =>
        listContexts(one, tenantId, { afterId: after?.context_id ?? 0, limit }),
      present: (row: ContextRow) => presentService(row, tenant),
      wrap: (services) => ({ services }),
    });
  },
});
