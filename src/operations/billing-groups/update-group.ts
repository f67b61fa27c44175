import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import { assertNotStale } from '../../base/stale.ts';
import {
  findBillingGroup,
  lockGroupToChange,
  updateBillingGroup,
} from '../../domain/billing-groups/store.ts';
import { empty, filledText, id, limits, maybe, text, tsGuard } from '../fields.ts';
import { operation } from '../operation.ts';

export const updateBillingGroupOperation = operation({
  path: '/billing/billing-groups/update-group',
  method: 'Update',
  action: 'Update Billing Group',
  access: { permission: 'billing-groups:write' },
  summary: 'Changes the name, the billing period and the description of a billing group.',
  request: Type.Object({
    data: Type.Object({
      billingGroupID: id,
      name: Type.Optional(filledText({ max: 120 })),
      billingPeriodID: maybe(id),
      description: maybe(text({ max: limits.description })),
      ts: tsGuard,
    }),
  }),
  response: empty,
  errors: ['BILLING_GROUP_NOT_FOUND', 'STALE_OBJECT', 'DUPLICATE', 'PERIOD_NOT_FOUND'],
  example: { data: { billingGroupID: 1, name: 'Block B', billingPeriodID: null } },
  async handle(call, { data }) {
    const { tx, tenant } = call;
    const { billingGroupID: groupId } = data;
    await lockGroupToChange(tx, tenant.tenantId, groupId);
    const group = await findBillingGroup(tx, tenant.tenantId, groupId);
    if (!group) throw new AppError('BILLING_GROUP_NOT_FOUND', { field: 'data.billingGroupID' });
    assertNotStale(data.ts, group, { what: `Billing group ${groupId}`, field: 'data.ts' });
    const before = {
      name: group.name,
      billingPeriodId: group.billing_period_id,
      description: group.description,
    };
    const { name = before.name, billingPeriodID, description } = data;
    const after = {
      name: name.trim(),
      billingPeriodId: billingPeriodID === undefined ? before.billingPeriodId : billingPeriodID,
      description: description === undefined ? before.description : description,
    };
    const stamp = { at: call.now, by: call.principal.name };
    await updateBillingGroup(tx, tenant.tenantId, { id: groupId, ...after }, stamp);
    call.audit({ subject: 'billing group', subjectId: groupId, before, after });
    return { message: `Billing group ${groupId} updated`, data: {} };
  },
});
