import * as Type from 'typebox';
import { wireDay } from '../../base/days.ts';
import { majorUnits } from '../../base/money.ts';
import { lineStatuses } from '../../domain/bank-files/bank-line.ts';
import { countListed, type LineRow, listLines } from '../../domain/bank-files/lines-store.ts';
import { fieldsOnly, filterOf, id, maybe, money, nullable, page } from '../fields.ts';
import { listing } from '../listing.ts';
import { operation } from '../operation.ts';

const lineView = {
  bankLineID: Type.Integer(),
  bankFileID: Type.Integer(),
  bankAccountID: Type.Integer(),
  date: Type.String({ description: 'DD/MM/YYYY: the day on which the bank booked it' }),
  amount: Type.Number({ description: 'below zero: money went out' }),
  isReversal: Type.Integer({ description: '1: the bank took back an earlier line' }),
  payer: nullable(Type.String()),
  payerAccount: nullable(Type.String()),
  text: nullable(Type.String()),
  reference: nullable(Type.String()),
  bankID: nullable(Type.String({ description: "the bank's own id of the line" })),
  status: Type.String({ description: lineStatuses.join(', ') }),
  paymentID: nullable(Type.Integer()),
  suggestions: Type.Array(
    Type.Object({
      partyNumber: Type.Integer(),
      connectionNumber: nullable(Type.String()),
      billID: nullable(Type.Integer()),
      amount: money,
      reason: Type.String(),
    }),
  ),
  reason: nullable(Type.String({ description: 'why it was not posted, or what the clerk wrote' })),
  decidedBy: nullable(Type.String()),
};

export const getBankLines = operation({
  path: '/billing/bank-files/get-bank-lines',
  method: 'Retrieve',
  action: 'Retrieve Bank Lines',
  access: { permission: 'bank-files:read' },
  summary: 'Lists lines of bank files; Suggested and Unmatched ones wait for a decision.',
  request: Type.Object({
    bankLineID: maybe(id),
    bankFileID: maybe(id),
    status: filterOf(lineStatuses),
    page: Type.Optional(page),
    metaData: fieldsOnly,
  }),
  response: Type.Object({ lines: Type.Array(Type.Partial(Type.Object(lineView))) }),
  errors: [],
  example: { status: 'Suggested', page: { pageNumber: 0, size: 20 } },
  handle(call, body) {
    const { tenantId, currencyDecimals } = call.tenant;
    const filter = {
      bankLineId: body.bankLineID ?? null,
      bankFileId: body.bankFileID ?? null,
      status: body.status ?? null,
    };
    return listing(call, {
      page: body.page,
      fields: body.metaData?.fields,
      count: (tx) => countListed(tx, tenantId, filter),
      at: (tx, window) => listLines(tx, tenantId, filter, { ...window, afterId: null }),
      after: (tx, { after, limit }) =>
        listLines(tx, tenantId, filter, {
          ...{ offset: 0, limit, afterId: after?.bank_line_id ?? null },
        }),
      present: (row: LineRow) => present(row, currencyDecimals),
      wrap: (lines) => ({ lines }),
    });
  },
});

function present(row: LineRow, decimals: number) {
  const amount = (minor: string | number) => majorUnits(BigInt(minor), decimals);
  return {
    bankLineID: row.bank_line_id,
    bankFileID: row.bank_file_id,
    bankAccountID: row.bank_account_id,
    date: wireDay(row.line_date),
    amount: amount(row.amount),
    isReversal: row.is_reversal ? 1 : 0,
    payer: row.payer,
    payerAccount: row.payer_account,
    text: row.text,
    reference: row.reference,
    bankID: row.bank_reference,
    status: row.status,
    paymentID: row.payment_id,
    suggestions: row.suggestions.map((one) => ({
      partyNumber: one.partyNumber,
      connectionNumber: one.connectionNumber,
      billID: one.billId,
      amount: amount(one.amount),
      reason: one.reason,
    })),
    reason: row.reason,
    decidedBy: row.decided_by,
  };
}
