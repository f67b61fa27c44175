import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import { majorUnits } from '../../base/money.ts';
import {
  type ApprovalRow,
  countApprovals,
  listApprovals,
} from '../../domain/receivables/approvals-store.ts';
import { fieldsOnly, filterOf, id, maybe, money, nullable, page, timestamp } from '../fields.ts';
import { listing } from '../listing.ts';
import { type Call, operation } from '../operation.ts';

const approvalView = {
  approvalID: Type.Integer(),
  kind: Type.String({ description: 'Refund or Adjustments' }),
  reference: Type.String({ description: 'of the refund, or of the first adjustment' }),
  amount: money,
  request: Type.Unsafe<object>({
    type: 'object',
    additionalProperties: true,
    description: 'the call that waits, as it was sent',
  }),
  status: Type.String({ description: 'Waiting, Approved or Rejected' }),
  requestedAt: timestamp,
  requestedBy: Type.String(),
  decidedAt: nullable(timestamp),
  decidedBy: nullable(Type.String()),
  reason: nullable(Type.String()),
};

export const getApprovals = operation({
  path: '/billing/approvals/get-approvals',
  method: 'Retrieve',
  action: 'Retrieve Approvals',
  access: { permission: 'ledger:read' },
  summary: 'Lists refunds and write-offs that wait, or waited, for a second person.',
  request: Type.Object({
    approvalID: maybe(id),
    status: filterOf(['Waiting', 'Approved', 'Rejected']),
    page: Type.Optional(page),
    metaData: fieldsOnly,
  }),
  response: Type.Object({ approvals: Type.Array(Type.Partial(Type.Object(approvalView))) }),
  errors: [],
  example: { status: 'Waiting' },
  handle(call, body) {
    const { tenantId } = call.tenant;
    const filter = { approvalId: body.approvalID ?? null, status: body.status ?? null };
    return listing(call, {
      page: body.page,
      fields: body.metaData?.fields,
      count: (tx) => countApprovals(tx, tenantId, filter),
      at: (tx, window) => listApprovals(tx, tenantId, filter, { ...window, beforeId: null }),
      after: (tx, { after, limit }) => {
        const window = { offset: 0, limit, beforeId: after?.approval_id ?? null };
        return listApprovals(tx, tenantId, filter, window);
      },
      present: (row: ApprovalRow) => present(row, call),
      wrap: (approvals) => ({ approvals }),
    });
  },
});

function present(row: ApprovalRow, { tenant }: Call) {
  const { timezone, currencyDecimals } = tenant;
  return {
    approvalID: row.approval_id,
    kind: row.kind,
    reference: row.reference,
    amount: majorUnits(BigInt(row.amount), currencyDecimals),
    request: row.request,
    status: row.status,
    requestedAt: formatTimestamp(row.requested_at, timezone),
    requestedBy: row.requested_by,
    decidedAt: row.decided_at && formatTimestamp(row.decided_at, timezone),
    decidedBy: row.decided_by,
    reason: row.reason,
  };
}
