import * as Type from 'typebox';
import { formatTimestamp, parseDate } from '../../base/calendar.ts';
import { wireDay } from '../../base/days.ts';
import { majorUnits } from '../../base/money.ts';
import {
  type CreditNoteFilter,
  type CreditNoteRow,
  countCreditNotes,
  listCreditNotes,
} from '../../domain/bills/credit-notes-store.ts';
import { shownName } from '../customer-fields.ts';
import { date, fieldsOnly, id, maybe, money, nullable, page, text, timestamp } from '../fields.ts';
import { listing } from '../listing.ts';
import { type Call, operation } from '../operation.ts';

const creditNoteView = {
  creditNoteID: Type.Integer(),
  creditNoteNumber: Type.String(),
  reference: Type.String({ description: 'that of the caller, otherwise the number' }),
  billID: Type.Integer(),
  billNumber: nullable(Type.String()),
  partyID: Type.Integer(),
  amount: money,
  walletAmount: Type.Number({ description: 'what had been paid of the bill: back in the wallet' }),
  issueDate: Type.String({ description: 'DD/MM/YYYY' }),
  reason: Type.String(),
  lines: Type.Array(
    Type.Object({
      component: nullable(Type.String({ description: 'null for the rounding of the bill' })),
      amount: money,
    }),
  ),
  cancelsBill: Type.Boolean({ description: 'true if the bill was cancelled by it' }),
  rebillTermID: nullable(Type.Integer({ description: 'the term that bills the days again' })),
  createdAt: timestamp,
  createdBy: Type.String(),
};

const request = Type.Object({
  creditNoteID: maybe(id),
  creditNoteNumber: maybe(text({ max: 120 })),
  reference: maybe(text({ max: 120 })),
  billID: maybe(id),
  partyID: maybe(id),
  connectionNumber: maybe(text({ max: 120 })),
  fromDate: maybe(date),
  toDate: maybe(date),
  page: Type.Optional(page),
  metaData: fieldsOnly,
});

export const getCreditNotes = operation({
  path: '/billing/credit-notes/get-credit-notes',
  method: 'Retrieve',
  action: 'Retrieve Credit Notes',
  access: { permission: 'bills:read', own: 'own-bills:read' },
  summary: 'Lists credit notes with their reasons; customers see their own.',
  request,
  response: Type.Object({ creditNotes: Type.Array(Type.Partial(Type.Object(creditNoteView))) }),
  errors: [],
  example: { billID: 1, page: { pageNumber: 0, size: 20 } },
  handle(call, body) {
    const { tenantId } = call.tenant;
    const filter = filterSent(body, call);
    return listing(call, {
      page: body.page,
      fields: body.metaData?.fields,
      count: (tx) => countCreditNotes(tx, tenantId, filter),
      at: (tx, window) => listCreditNotes(tx, tenantId, filter, { ...window, afterId: 0 }),
      after: (tx, { after, limit }) =>
        listCreditNotes(tx, tenantId, filter, {
          offset: 0,
          limit,
          afterId: after?.credit_note_id ?? 0,
        }),
      present: (row: CreditNoteRow) => present(row, call),
      wrap: (creditNotes) => ({ creditNotes }),
    });
  },
});

function filterSent(body: Type.Static<typeof request>, { ownPartyId }: Call): CreditNoteFilter {
  const isOther = ownPartyId !== null && body.partyID && body.partyID !== ownPartyId;
  return {
    // No credit note has the id 0.
    creditNoteId: isOther ? 0 : (body.creditNoteID ?? null),
    isPublished: ownPartyId !== null,
    creditNoteNumber: body.creditNoteNumber || null,
    reference: body.reference || null,
    billId: body.billID ?? null,
    partyId: ownPartyId ?? body.partyID ?? null,
    subscriptionNumber: body.connectionNumber || null,
    fromDate: body.fromDate ? (parseDate(body.fromDate) ?? null) : null,
    toDate: body.toDate ? (parseDate(body.toDate) ?? null) : null,
  };
}

function present(row: CreditNoteRow, call: Call) {
  const { tenant } = call;
  const amount = (minor: string | number) => majorUnits(BigInt(minor), tenant.currencyDecimals);
  return {
    creditNoteID: row.credit_note_id,
    creditNoteNumber: row.credit_note_number,
    reference: row.reference ?? row.credit_note_number,
    billID: row.bill_id,
    billNumber: row.bill_number,
    partyID: row.party_id,
    amount: amount(row.amount),
    walletAmount: amount(row.to_wallet),
    issueDate: wireDay(row.issue_date),
    reason: row.reason,
    lines: row.lines.map((line) => ({ component: line.component, amount: amount(line.amount) })),
    cancelsBill: row.cancels_bill,
    rebillTermID: row.rebill_term_id,
    createdAt: formatTimestamp(row.created_at, tenant.timezone),
    createdBy: shownName(call, row.created_by),
  };
}
