// What is above the approval limit of the workspace waits for a second person.
import { AppError } from '../base/errors.ts';
import { amountText } from '../base/money.ts';
import { insertApproval, type WantedApproval } from '../domain/receivables/approvals-store.ts';
import { findSettings } from '../domain/tenants/store.ts';
import type { Call } from './operation.ts';

/**
 * Refuses what is above the limit, and keeps the call for a second person. It comes after all else
 * that could refuse the call: what the call did is rolled back.
 */
export async function requireSecondPerson(call: Call, wanted: WantedApproval): Promise<void> {
  const { tenantId, currency, currencyDecimals } = call.tenant;
  const { approval_limit: limit } = await findSettings(call.tx, tenantId);
  if (limit === null || wanted.amount <= limit) return;
  const stamp = { at: call.now, by: call.principal.name };
  const approvalId = await call.tx.beside(tenantId, (own) =>
    insertApproval(own, tenantId, wanted, stamp),
  );
  const most = `${currency} ${amountText(BigInt(limit), currencyDecimals)}`;
  const message = `More than ${most} needs a second person: approval ${approvalId} waits`;
  throw new AppError('APPROVAL_REQUIRED', { message, current: approvalId });
}
