// Putting billing accounts into a group and taking them out. An account is in at most one group;
// putting it into another moves it.

import type { Tx } from '../../base/db/pool.ts';
import { AppError, type ErrorDetail, errorFromRows } from '../../base/errors.ts';
import type { Stamp } from '../../base/stamp.ts';
import {
  type AccountKeys,
  type AccountRow,
  lockAccounts,
  setBillingGroup,
} from '../parties/accounts-store.ts';
import { lockGroup } from './store.ts';

export type Membership = { billingGroupId: number; keys: AccountKeys };

/** Returns the accounts as they were before. */
export async function assignAccounts(
  tx: Tx,
  tenantId: number,
  membership: Membership,
  stamp: Stamp,
): Promise<AccountRow[]> {
  const accounts = await lockMembers(tx, tenantId, membership);
  const ids = accounts.map((account) => account.account_id);
  await setBillingGroup(tx, tenantId, ids, membership.billingGroupId, stamp);
  return accounts;
}

export async function removeAccounts(
  tx: Tx,
  tenantId: number,
  membership: Membership,
  stamp: Stamp,
): Promise<AccountRow[]> {
  const { billingGroupId } = membership;
  const accounts = await lockMembers(tx, tenantId, membership, (account) =>
    account.billing_group_id === billingGroupId
      ? undefined
      : `Billing account ${account.account_id} is not in billing group ${billingGroupId}`,
  );
  const ids = accounts.map((account) => account.account_id);
  await setBillingGroup(tx, tenantId, ids, null, stamp);
  return accounts;
}

async function lockMembers(
  tx: Tx,
  tenantId: number,
  membership: Membership,
  objection: (account: AccountRow) => string | undefined = () => undefined,
): Promise<AccountRow[]> {
  if (!(await lockGroup(tx, tenantId, membership.billingGroupId))) {
    throw new AppError('BILLING_GROUP_NOT_FOUND', { field: 'data.billingGroupID' });
  }
  const accounts = await lockAccounts(tx, tenantId, membership.keys);
  const problems = problemsOf(membership.keys, accounts, objection);
  if (problems.length > 0) throw errorFromRows(problems);
  return accounts;
}

function problemsOf(
  keys: AccountKeys,
  accounts: readonly AccountRow[],
  objection: (account: AccountRow) => string | undefined,
): ErrorDetail[] {
  const byId = 'ids' in keys;
  const wanted: readonly (number | string)[] = byId ? keys.ids : keys.labels;
  const field = byId ? 'data.connectionGroupIDs' : 'data.connectionGroupLabels';
  const found = Map.groupBy(accounts, (row) => (byId ? row.account_id : row.label));
  return wanted.flatMap((key, index): ErrorDetail[] => {
    const rows = found.get(key) ?? [];
    const at = { field: `${field}[${index}]`, rejectedValue: key };
    const [account] = rows;
    if (!account) {
      const message = `No billing account has the ${byId ? 'id' : 'label'} ${key}`;
      return [{ ...at, code: 'ACCOUNT_NOT_FOUND', message }];
    }
    if (rows.length > 1) {
      const message = `${rows.length} billing accounts have the label ${key}; name them by id`;
      return [{ ...at, code: 'ACCOUNT_AMBIGUOUS', message }];
    }
    const message = objection(account);
    return message === undefined ? [] : [{ ...at, code: 'ACCOUNT_NOT_FOUND', message }];
  });
}
