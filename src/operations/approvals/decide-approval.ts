import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import type { Permission } from '../../domain/access/roles.ts';
import {
  type ApprovalKind,
  type ApprovalRow,
  lockApproval,
  updateDecided,
} from '../../domain/receivables/approvals-store.ts';
import { type AdjustmentsSent, adjustAll } from '../adjustments/make-adjustments.ts';
import { type DepositRefundSent, makeDepositRefund } from '../deposits/refund-deposit.ts';
import { empty, filledText, id, limits, oneOf } from '../fields.ts';
import { type Call, operation } from '../operation.ts';
import { makeRefund, type RefundSent } from '../payments/refund-payment.ts';

type Decided = {
  permission: Permission;
  /** Does what waits, and returns what it did in words. */
  run(call: Call, request: object): Promise<{ message: string }>;
};

const kinds: Record<ApprovalKind, Decided> = {
  Refund: {
    permission: 'payments:manage',
    run: (call, request) => makeRefund(call, request as RefundSent),
  },
  DepositRefund: {
    permission: 'credits:write',
    run: (call, request) => makeDepositRefund(call, request as DepositRefundSent),
  },
  Adjustments: {
    permission: 'credits:write',
    run: (call, request) => adjustAll(call, request as AdjustmentsSent),
  },
};

export const decideApproval = operation({
  path: '/billing/approvals/decide-approval',
  method: 'Update',
  action: 'Decide Approval',
  access: { permission: 'credits:write' },
  summary: 'Approves or rejects what another person asked for; what is approved is booked.',
  request: Type.Object({
    data: Type.Object({
      approvalID: id,
      decision: oneOf(['Approve', 'Reject']),
      reason: filledText({ max: limits.text }),
    }),
  }),
  response: empty,
  errors: [
    'APPROVAL_NOT_FOUND',
    'INVALID_STATE',
    'PARTY_NOT_FOUND',
    'SUBSCRIPTION_NOT_FOUND',
    'COMPONENT_NOT_FOUND',
    'DUPLICATE',
    'WALLET_TOO_LOW',
    'NOT_CLEARED',
    'AMOUNT_ABOVE_OPEN',
    'ROWS_REJECTED',
  ],
  example: { data: { approvalID: 1, decision: 'Approve', reason: 'Agreed with the customer' } },
  async handle(call, { data }) {
    const { approvalID: approvalId, reason } = data;
    const approval = await findWaiting(call, approvalId);
    const isApproved = data.decision === 'Approve';
    const status = isApproved ? 'Approved' : 'Rejected';
    const stamp = { at: call.now, by: call.principal.name };
    await updateDecided(call.tx, call.tenant.tenantId, { approvalId, status, reason }, stamp);
    call.audit({
      subject: 'approval',
      subjectId: approvalId,
      before: { status: 'Waiting', requestedBy: approval.requested_by, reason: null },
      after: { status, requestedBy: approval.requested_by, reason },
    });
    if (!isApproved) return { message: `Approval ${approvalId} is rejected`, data: {} };
    const { message } = await kinds[approval.kind].run(call, approval.request);
    return { message: `Approval ${approvalId} is given. ${message}`, data: {} };
  },
});

/** That the caller may decide on. */
async function findWaiting(call: Call, approvalId: number): Promise<ApprovalRow> {
  const field = 'data.approvalID';
  const approval = await lockApproval(call.tx, call.tenant.tenantId, approvalId);
  if (!approval) throw new AppError('APPROVAL_NOT_FOUND', { field });
  const { permission } = kinds[approval.kind];
  if (!call.principal.permissions.has(permission)) {
    const message = `A ${approval.kind.toLowerCase()} needs the permission ${permission}`;
    throw new AppError('PERMISSION_DENIED', { message, field });
  }
  if (approval.requested_by === call.principal.name) {
    const message = 'You asked for this yourself: another person must decide';
    throw new AppError('PERMISSION_DENIED', { message, field });
  }
  if (approval.status !== 'Waiting') {
    const message = `Approval ${approvalId} was already ${approval.status.toLowerCase()}`;
    throw new AppError('INVALID_STATE', { message, field });
  }
  return approval;
}
