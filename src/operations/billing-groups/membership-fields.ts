// The request of assign-accounts and remove-accounts, and their audit entries.
import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import type { AccountKeys, AccountRow } from '../../domain/parties/accounts-store.ts';
import { filledText, id, limits, maybe } from '../fields.ts';
import type { Call } from '../operation.ts';

export const membershipRequest = Type.Object({
  data: Type.Object({
    billingGroupID: id,
    connectionGroupIDs: maybe(Type.Array(id, { maxItems: limits.batch })),
    connectionGroupLabels: maybe(
      Type.Array(filledText({ max: limits.accountLabel }), { maxItems: limits.batch }),
    ),
  }),
});

/** The keys of the accounts in a request: ids, labels, or both. Throws if there are none. */
export function accountKeysOf(body: Type.Static<typeof membershipRequest>): AccountKeys[] {
  const { connectionGroupIDs: ids, connectionGroupLabels: labels } = body.data;
  const keys = [
    ...(ids?.length ? [{ ids }] : []),
    ...(labels?.length ? [{ labels: labels.map((label) => label.trim()) }] : []),
  ];
  if (keys.length > 0) return keys;
  throw new AppError('REQUIRED_FIELD', {
    message: 'Name the billing accounts by connectionGroupIDs or connectionGroupLabels',
    field: 'data.connectionGroupIDs',
  });
}

export function auditGroupChange(
  call: Call,
  accounts: readonly AccountRow[],
  to: number | null,
): void {
  for (const account of accounts) {
    call.audit({
      subject: 'billing account',
      subjectId: account.account_id,
      before: { billingGroupID: account.billing_group_id },
      after: { billingGroupID: to },
    });
  }
}
