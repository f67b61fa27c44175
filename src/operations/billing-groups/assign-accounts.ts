import { counted } from '../../base/counted.ts';
import { assignAccounts } from '../../domain/billing-groups/membership.ts';
import { empty } from '../fields.ts';
import { operation } from '../operation.ts';
import { accountKeysOf, auditGroupChange, membershipRequest } from './membership-fields.ts';

export const assignBillingAccounts = operation({
  path: '/billing/billing-groups/assign-accounts',
  method: 'Update',
  action: 'Assign Billing Accounts',
  access: { permission: 'billing-groups:write' },
  summary: 'Puts billing accounts into a group; an account that was in another one moves.',
  request: membershipRequest,
  response: empty,
  errors: ['BILLING_GROUP_NOT_FOUND', 'ACCOUNT_NOT_FOUND', 'ACCOUNT_AMBIGUOUS', 'ROWS_REJECTED'],
  example: { data: { billingGroupID: 1, connectionGroupLabels: ['House 12-B'] } },
  async handle(call, body) {
    const { billingGroupID: billingGroupId } = body.data;
    const stamp = { at: call.now, by: call.principal.name };
    let count = 0;
    for (const keys of accountKeysOf(body)) {
      const membership = { billingGroupId, keys };
      const accounts = await assignAccounts(call.tx, call.tenant.tenantId, membership, stamp);
      auditGroupChange(call, accounts, billingGroupId);
      count += accounts.length;
    }
    return { message: `${counted(count, 'billing account')} assigned`, data: {} };
  },
});
