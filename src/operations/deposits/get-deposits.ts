import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import { wireDay } from '../../base/days.ts';
import { majorUnits } from '../../base/money.ts';
import {
  countDeposits,
  type DepositRow,
  listDeposits,
} from '../../domain/receivables/deposits-store.ts';
import { fieldsOnly, id, maybe, money, nullable, page, text, timestamp } from '../fields.ts';
import { listing } from '../listing.ts';
import { type Call, operation } from '../operation.ts';

const depositView = {
  depositID: Type.Integer(),
  connectionNumber: Type.String(),
  partyID: Type.Integer(),
  partyNumber: Type.Integer(),
  partyName: Type.String(),
  amount: Type.Number({ description: 'as demanded' }),
  paidAmount: money,
  creditedAmount: Type.Number({ description: 'no longer demanded' }),
  outstandingAmount: money,
  heldAmount: Type.Number({ description: 'of the subscription, with its other deposits' }),
  issueDate: Type.String({ description: 'DD/MM/YYYY' }),
  dueDate: Type.String({ description: 'DD/MM/YYYY' }),
  reason: Type.String(),
  reference: nullable(Type.String({ description: 'null if the plan or context demanded it' })),
  createdAt: timestamp,
  createdBy: Type.String(),
};

export const getDeposits = operation({
  path: '/billing/deposits/get-deposits',
  method: 'Retrieve',
  action: 'Retrieve Deposits',
  access: { permission: 'payments:read' },
  summary: 'Lists demanded deposits with what is paid and held, the newest first.',
  request: Type.Object({
    depositID: maybe(id),
    connectionNumber: maybe(text({ max: 120 })),
    partyID: maybe(id),
    partyNumber: maybe(id),
    page: Type.Optional(page),
    metaData: fieldsOnly,
  }),
  response: Type.Object({ deposits: Type.Array(Type.Partial(Type.Object(depositView))) }),
  errors: [],
  example: { connectionNumber: 'ELEC-00000001', page: { pageNumber: 0, size: 20 } },
  handle(call, body) {
    const { tenantId } = call.tenant;
    const filter = {
      depositId: body.depositID ?? null,
      connectionNumber: body.connectionNumber || null,
      partyId: body.partyID ?? null,
      partyNumber: body.partyNumber ?? null,
    };
    return listing(call, {
      page: body.page,
      fields: body.metaData?.fields,
      count: (tx) => countDeposits(tx, tenantId, filter),
      at: (tx, window) => listDeposits(tx, tenantId, filter, { ...window, beforeId: null }),
      after: (tx, { after, limit }) => {
        const beforeId = after?.item_id ?? null;
        return listDeposits(tx, tenantId, filter, { offset: 0, limit, beforeId });
      },
      present: (row: DepositRow) => present(row, call),
      wrap: (deposits) => ({ deposits }),
    });
  },
});

function present(row: DepositRow, { tenant }: Call) {
  const amount = (minor: string) => majorUnits(BigInt(minor), tenant.currencyDecimals);
  return {
    depositID: row.item_id,
    connectionNumber: row.subscription_number,
    partyID: row.party_id,
    partyNumber: row.party_number,
    partyName: row.party_name,
    amount: amount(row.amount),
    paidAmount: amount(row.paid),
    creditedAmount: amount(row.credited),
    outstandingAmount: amount(row.open),
    heldAmount: amount(row.held),
    issueDate: wireDay(row.issue_date),
    dueDate: wireDay(row.due_date),
    reason: row.description,
    reference: row.reference,
    createdAt: formatTimestamp(row.created_at, tenant.timezone),
    createdBy: row.created_by,
  };
}
