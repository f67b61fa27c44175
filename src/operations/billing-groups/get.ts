import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import { AppError } from '../../base/errors.ts';
import { majorUnits } from '../../base/money.ts';
import {
  type BillingGroupView,
  findBillingGroup,
  findGroupTotals,
  type GroupTotals,
} from '../../domain/billing-groups/store.ts';
import {
  type AccountSummaryRow,
  firstAccountsOfGroups,
  listAccountsOfGroup,
} from '../../domain/parties/accounts-store.ts';
import type { Tenant } from '../../domain/tenants/tenant.ts';
import { archiveStatus, id, money, nullable, timestamp, ts } from '../fields.ts';
import { chunkRows, wholeListing } from '../listing.ts';
import { operation } from '../operation.ts';

const firstAccounts = firstAccountsOfGroups(chunkRows);

export const getBillingGroup = operation({
  path: '/billing/billing-groups',
  method: 'Retrieve',
  action: 'Get Billing Group',
  access: { permission: 'billing-groups:read' },
  summary: 'Shows one billing group and the billing accounts in it.',
  byKey: () => true,
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
    const { tx } = call;
    const { tenantId } = call.tenant;
    const id = body.billingGroupID;
    // All on their way at once: the connection answers them in turn.
    const [group, totals, first = []] = await Promise.all([
      findBillingGroup(tx, tenantId, id),
      findGroupTotals(tx, tenantId, id),
      tx.lookUp(firstAccounts, tenantId, id),
    ]);
    if (!group) throw new AppError('BILLING_GROUP_NOT_FOUND', { field: 'billingGroupID' });
    const listed = await wholeListing(call, {
      first,
      count: () => Promise.resolve(totals.account_count),
      after: (tx, { after, limit }) =>
        listAccountsOfGroup(tx, tenantId, id, { afterId: after?.account_id ?? 0, limit }),
      present: (row: AccountSummaryRow) => ({
        connectionGroupID: row.account_id,
        connectionGroupLabel: row.label,
        type: row.party_kind,
        serviceCode: row.context_code ?? '',
        tariffLabel: row.plan_label ?? '',
      }),
      wrap: (connectionGroups) => ({
        billingGroup: presentGroup(group, totals, call.tenant),
        connectionGroups,
      }),
    });
    // One group, however many accounts are in it.
    return { ...listed, message: '1 found' };
  },
});

function presentGroup(group: BillingGroupView, totals: GroupTotals, tenant: Tenant) {
  return {
    billingGroupID: group.billing_group_id,
    name: group.name,
    billingPeriodID: group.billing_period_id,
    description: group.description,
    accountCount: totals.account_count,
    outstandingBalance: majorUnits(BigInt(totals.outstanding), tenant.currencyDecimals),
    archiveStatus: group.archived ? 1 : 0,
    createdAt: formatTimestamp(group.created_at, tenant.timezone),
    createdBy: group.created_by,
    modifiedAt: formatTimestamp(group.modified_at, tenant.timezone),
    modifiedBy: group.modified_by,
    ts: group.ts,
  };
}
