import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import { AppError } from '../../base/errors.ts';
import { majorUnits } from '../../base/money.ts';
import { type BillingGroupView, findBillingGroupView } from '../../domain/billing-groups/store.ts';
import {
  type AccountSummaryRow,
  listAccountsOfGroup,
} from '../../domain/parties/accounts-store.ts';
import type { Tenant } from '../../domain/tenants/tenant.ts';
import { archiveStatus, id, money, nullable, timestamp, ts } from '../fields.ts';
import { wholeListing } from '../listing.ts';
import { operation } from '../operation.ts';

export const getBillingGroup = operation({
  path: '/billing/billing-groups',
  method: 'Retrieve',
  action: 'Get Billing Group',
  access: { permission: 'billing-groups:read' },
  summary: 'Shows one billing group and the billing accounts in it.',
  request: Type.Object({ billingGroupID: id }),
  response: Type.Object({
    billingGroup: Type.Object({
      billingGroupID: Type.Integer(),
      name: Type.String(),
      billingPeriodID: nullable(Type.Integer()),
      description: nullable(Type.String()),
      accountCount: Type.Integer(),
      outstandingBalance: money,
      archiveStatus,
      createdAt: timestamp,
      createdBy: Type.String(),
      modifiedAt: timestamp,
      modifiedBy: Type.String(),
      ts,
    }),
    connectionGroups: Type.Array(
      Type.Object({
        connectionGroupID: Type.Integer(),
        connectionGroupLabel: Type.String(),
        type: Type.String(),
        serviceCode: Type.String(),
        tariffLabel: Type.String(),
      }),
    ),
  }),
  errors: ['BILLING_GROUP_NOT_FOUND'],
  example: { billingGroupID: 1 },
  async handle(call, body) {
    const { tenantId } = call.tenant;
    const group = await findBillingGroupView(call.tx, tenantId, body.billingGroupID);
    if (!group) throw new AppError('BILLING_GROUP_NOT_FOUND', { field: 'billingGroupID' });
    return wholeListing(call, {
      count: () => Promise.resolve(group.account_count),
      after: (tx, { after, limit }) =>
        listAccountsOfGroup(tx, tenantId, group.billing_group_id, {
          afterId: after?.account_id ?? 0,
          limit,
        }),
      present: (row: AccountSummaryRow) => ({
        connectionGroupID: row.account_id,
        connectionGroupLabel: row.label,
        type: row.party_kind,
        serviceCode: row.context_code ?? '',
        tariffLabel: row.plan_label ?? '',
      }),
      wrap: (connectionGroups) => ({
        billingGroup: presentGroup(group, call.tenant),
        connectionGroups,
      }),
    });
  },
});

function presentGroup(group: BillingGroupView, tenant: Tenant) {
  return {
    billingGroupID: group.billing_group_id,
    name: group.name,
    billingPeriodID: group.billing_period_id,
    description: group.description,
    accountCount: group.account_count,
    outstandingBalance: majorUnits(BigInt(group.outstanding), tenant.currencyDecimals),
    archiveStatus: group.archived ? 1 : 0,
    createdAt: formatTimestamp(group.created_at, tenant.timezone),
    createdBy: group.created_by,
    modifiedAt: formatTimestamp(group.modified_at, tenant.timezone),
    modifiedBy: group.modified_by,
    ts: group.ts,
  };
}
