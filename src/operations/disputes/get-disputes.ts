import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import { wireDay } from '../../base/days.ts';
import { majorUnits } from '../../base/money.ts';
import {
  countDisputes,
  type DisputeRow,
  disputeStatuses,
  listDisputes,
} from '../../domain/receivables/disputes-store.ts';
import { fieldsOnly, filterOf, id, maybe, money, nullable, page, timestamp } from '../fields.ts';
import { listing } from '../listing.ts';
import { type Call, operation } from '../operation.ts';

const maybeText = nullable(Type.String());

const disputeView = {
  disputeID: Type.Integer(),
  billID: Type.Integer(),
  billNumber: maybeText,
  partyID: Type.Integer(),
  partyNumber: Type.Integer(),
  partyName: Type.String(),
  amount: money,
  reason: Type.String(),
  status: Type.String({ description: 'Open, Upheld or Rejected' }),
  raisedDate: Type.String({ description: 'DD/MM/YYYY' }),
  resolvedDate: nullable(Type.String({ description: 'DD/MM/YYYY' })),
  resolvedBy: maybeText,
  remark: maybeText,
  creditNoteNumber: nullable(Type.String({ description: 'of a dispute that was upheld' })),
  createdAt: timestamp,
  createdBy: Type.String(),
};

export const getDisputes = operation({
  path: '/billing/disputes/get-disputes',
  method: 'Retrieve',
  action: 'Retrieve Disputes',
  access: { permission: 'collections:read' },
  summary: 'Lists disputes, the newest first.',
  request: Type.Object({
    disputeID: maybe(id),
    billID: maybe(id),
    partyID: maybe(id),
    partyNumber: maybe(id),
    status: filterOf(disputeStatuses),
    page: Type.Optional(page),
    metaData: fieldsOnly,
  }),
  response: Type.Object({ disputes: Type.Array(Type.Partial(Type.Object(disputeView))) }),
  errors: [],
  example: { status: 'Open', page: { pageNumber: 0, size: 20 } },
  handle(call, body) {
    const { tenantId } = call.tenant;
    const filter = {
      disputeId: body.disputeID ?? null,
      billId: body.billID ?? null,
      partyId: body.partyID ?? null,
      partyNumber: body.partyNumber ?? null,
      status: body.status ?? null,
    };
    return listing(call, {
      page: body.page,
      fields: body.metaData?.fields,
      count: (tx) => countDisputes(tx, tenantId, filter),
      at: (tx, window) => listDisputes(tx, tenantId, filter, { ...window, beforeId: null }),
      after: (tx, { after, limit }) => {
        const beforeId = after?.dispute_id ?? null;
        return listDisputes(tx, tenantId, filter, { offset: 0, limit, beforeId });
      },
      present: (row: DisputeRow) => present(row, call),
      wrap: (disputes) => ({ disputes }),
    });
  },
});

function present(row: DisputeRow, { tenant }: Call) {
  return {
    disputeID: row.dispute_id,
    billID: row.bill_id,
    billNumber: row.bill_number,
    partyID: row.party_id,
    partyNumber: row.party_number,
    partyName: row.party_name,
    amount: majorUnits(BigInt(row.amount), tenant.currencyDecimals),
    reason: row.reason,
    status: row.status,
    raisedDate: wireDay(row.raised_on),
    resolvedDate: row.resolved_on === null ? null : wireDay(row.resolved_on),
    resolvedBy: row.resolved_by,
    remark: row.remark,
    creditNoteNumber: row.credit_note_number,
    createdAt: formatTimestamp(row.created_at, tenant.timezone),
    createdBy: row.created_by,
  };
}
