import * as Type from 'typebox';
import { insertBillingGroup } from '../../domain/billing-groups/store.ts';
import { takeNumbers } from '../../domain/tenants/numbers-store.ts';
import { empty, filledText, id, limits, maybe, text } from '../fields.ts';
import { operation } from '../operation.ts';

export const addBillingGroup = operation({
  path: '/billing/billing-groups',
  method: 'Create',
  action: 'Add Billing Group',
  access: { permission: 'billing-groups:write' },
  summary: 'Creates a billing group, which collects billing accounts.',
  request: Type.Object({
    name: filledText({ max: 120 }),
    billingPeriodID: maybe(id),
    description: maybe(text({ max: limits.description })),
  }),
  response: empty,
  errors: ['DUPLICATE', 'PERIOD_NOT_FOUND'],
  example: { name: 'Block A', billingPeriodID: 1 },
  async handle(call, body) {
    const { tx, tenant } = call;
    const group = {
      id: await takeNumbers(tx, tenant.tenantId, 'billing-group', 1),
      name: body.name.trim(),
      billingPeriodId: body.billingPeriodID ?? null,
      description: body.description ?? null,
    };
    const stamp = { at: call.now, by: call.principal.name };
    await insertBillingGroup(tx, tenant.tenantId, group, stamp);
    call.audit({ subject: 'billing group', subjectId: group.id, before: null, after: group });
    return { message: 'Billing group created', data: {}, ids: { resourceIds: [group.id] } };
  },
});
