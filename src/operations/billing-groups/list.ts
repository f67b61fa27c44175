import * as Type from 'typebox';
import {
  type BillingGroupRow,
  countBillingGroups,
  listBillingGroups,
} from '../../domain/billing-groups/store.ts';
import { nullable } from '../fields.ts';
import { wholeListing } from '../listing.ts';
import { operation } from '../operation.ts';

export const listBillingGroupsOperation = operation({
  path: '/billing/billing-groups',
  method: 'Retrieve',
  action: 'List Billing Groups',
  access: { permission: 'billing-groups:read' },
  summary: 'Lists all billing groups.',
  request: Type.Object({}),
  response: Type.Array(
    Type.Object({
      billingGroupID: Type.Integer(),
      name: Type.String(),
      billingPeriodID: nullable(Type.Integer()),
    }),
  ),
  errors: [],
  example: {},
  handle(call) {
    const { tenantId } = call.tenant;
    return wholeListing(call, {
      count: (tx) => countBillingGroups(tx, tenantId),
      after: (tx, { after, limit }) =>
        listBillingGroups(tx, tenantId, { afterId: after?.billing_group_id ?? 0, limit }),
      present: (row: BillingGroupRow) => ({
        billingGroupID: row.billing_group_id,
        name: row.name,
        billingPeriodID: row.billing_period_id,
      }),
      wrap: (rows) => rows,
    });
  },
});
