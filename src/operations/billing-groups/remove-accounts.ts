import { counted } from '../../base/counted.ts';
import { removeAccounts } from '../../domain/billing-groups/membership.ts';
import { empty } from '../fields.ts';
import { operation } from '../operation.ts';
import { accountKeysOf, auditGroupChange, membershipRequest } from './membership-fields.ts';

export const removeBillingAccounts = operation({
  path: '/billing/billing-groups/remove-accounts',
  method: 'Update',
  action: 'Remove Billing Accounts',
  access: { permission: 'billing-groups:write' },
  summary: 'Removes billing accounts from a group.',
  request: membershipRequest,
  response: empty,
  errors: ['BILLING_GROUP_NOT_FOUND', 'ACCOUNT_NOT_FOUND', 'ACCOUNT_AMBIGUOUS', 'ROWS_REJECTED'],
  example: { data: { billingGroupID: 1, connectionGroupIDs: [77] } },
  async handle(call, body) {
    const { billingGroupID: billingGroupId } = body.data;
    const stamp = { at: call.now, by: call.principal.name };
    let count = 0;
    for (const keys of accountKeysOf(body)) {
      const membership = { billingGroupId, keys };
      const accounts = await removeAccounts(call.tx, call.tenant.tenantId, membership, stamp);
      auditGroupChange(call, accounts, null);
      count += accounts.length;
    }
    return { message: `${counted(count, 'billing account')} removed`, data: {} };
  },
});
