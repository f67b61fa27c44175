import * as Type from 'typebox';
import { parseDate } from '../../base/calendar.ts';
import {
  type BillFilter,
  type BillRow,
  billStatuses,
  countBills,
  listBillsAfter,
  listBillsAt,
  paymentStatuses,
} from '../../domain/bills/list-store.ts';
import { billIdOf } from '../../domain/bills/reference.ts';
import { date, filterOf, id, maybe, page, text } from '../fields.ts';
import { type Call, operation } from '../operation.ts';
import { billView } from './bill-fields.ts';
import { billListing } from './bill-listing-fields.ts';

const request = Type.Object({
  billID: maybe(id),
  billNumber: maybe(text({ max: 120 })),
  billRefNo: maybe(text({ max: 32 })),
  connectionNumber: maybe(text({ max: 120 })),
  partyID: maybe(id),
  termID: maybe(id),
  status: filterOf(billStatuses),
  paymentStatus: filterOf(paymentStatuses),
  fromDate: maybe(date),
  toDate: maybe(date),
  newestFirst: maybe(
    Type.Boolean({ description: 'true: in the reverse order, which is that of their ids' }),
  ),
  short: maybe(
    Type.Boolean({ description: 'true: what a bill is made of is left out, its arrays are empty' }),
  ),
  page: Type.Optional(page),
});

export const getBills = operation({
  path: '/billing/bills/get-bills',
  method: 'Retrieve',
  action: 'Retrieve Bills',
  access: { permission: 'bills:read', own: 'own-bills:read' },
  summary: 'Lists bills with their lines; customers see their own published ones.',
  byKey: ({ billID, billNumber, billRefNo }) => Boolean(billID || billNumber || billRefNo),
  request,
  response: Type.Object({ bills: Type.Array(billView) }),
  errors: [],
  example: { termID: 1, status: 'Draft', page: { pageNumber: 0, size: 50 } },
  async handle(call, body) {
    const filter = filterSent(call, body);
    const { tenantId } = call.tenant;
    return billListing(call, {
      page: body.page,
      isShort: body.short === true,
      isEmpty: filter === null,
      count: (tx) => countBills(tx, tenantId, filter ?? {}),
      at: (tx, window) => listBillsAt(tx, tenantId, filter ?? {}, window),
      after: (tx, options) => listBillsAfter(tx, tenantId, filter ?? {}, options),
      wrap: (bills: never[]) => ({ bills }),
    });
  },
});

/** null where nothing can match. */
function filterSent(call: Call, body: Type.Static<typeof request>): BillFilter | null {
  const { ownPartyId } = call;
  const isOther = ownPartyId !== null && body.partyID && body.partyID !== ownPartyId;
  const referred = body.billRefNo ? billIdOf(body.billRefNo) : undefined;
  const isUnknown = body.billRefNo && referred === undefined;
  const isAmbiguous = referred !== undefined && body.billID && body.billID !== referred;
  if (isOther || isUnknown || isAmbiguous) return null;
  // Customers do not see drafts.
  const visible: BillRow['status'][] | null = ownPartyId === null ? null : ['Published'];
  const statuses = body.status ? [body.status] : visible;
  if (ownPartyId !== null && body.status && body.status !== 'Published') return null;
  return {
    billId: referred ?? body.billID ?? null,
    billNumber: body.billNumber || null,
    subscriptionNumber: body.connectionNumber || null,
    partyId: ownPartyId ?? body.partyID ?? null,
    termId: body.termID ?? null,
    statuses,
    paymentStatus: body.paymentStatus ?? null,
    fromDate: body.fromDate ? (parseDate(body.fromDate) ?? null) : null,
    toDate: body.toDate ? (parseDate(body.toDate) ?? null) : null,
    newestFirst: body.newestFirst === true,
    isShort: body.short === true,
  };
}
