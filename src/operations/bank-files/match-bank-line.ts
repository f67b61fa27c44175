import * as Type from 'typebox';
import { AppError, errorFromRows } from '../../base/errors.ts';
import { decideLine } from '../../domain/bank-files/decide-line.ts';
import { billIdOf } from '../../domain/bills/reference.ts';
import type { PayerKey } from '../../domain/receivables/payment.ts';
import { empty, id, limits, maybe, text } from '../fields.ts';
import { operation } from '../operation.ts';
import { amountSent, postingOf, requireAmount } from '../payments/payment-fields.ts';

const payerFields = {
  partyID: maybe(id),
  partyNumber: maybe(id),
  connectionNumber: maybe(text({ max: 120 })),
  billRefNo: maybe(text({ max: 32 })),
};
const payerNames = ['partyID', 'partyNumber', 'connectionNumber', 'billRefNo'] as const;

const data = Type.Object({
  bankLineID: id,
  payer: maybe(Type.Object(payerFields)),
  ...payerFields,
  ignore: maybe(Type.Boolean({ description: 'true: the line is not a payment of a customer' })),
  allocations: maybe(
    Type.Array(Type.Object({ billID: id, amount: amountSent }), { maxItems: limits.batch }),
  ),
  reason: maybe(text({ max: 500 })),
});
type Sent = Type.Static<typeof data>;

export const matchBankLine = operation({
  path: '/billing/bank-files/match-bank-line',
  method: 'Update',
  action: 'Match Bank Line',
  access: { permission: 'bank-files:write' },
  summary: 'Says whose money a bank line is, or that it is ignored; the payer is remembered.',
  request: Type.Object({ data }),
  response: empty,
  errors: [
    'BANK_LINE_NOT_FOUND',
    'INVALID_STATE',
    'PARTY_NOT_FOUND',
    'SUBSCRIPTION_NOT_FOUND',
    'BILL_NOT_FOUND',
    'PARTY_ARCHIVED',
    'OVER_ALLOCATED',
    'BILL_OF_OTHER_PARTY',
    'DATE_IN_FUTURE',
    'DUPLICATE',
    'ROWS_REJECTED',
  ],
  example: {
    data: {
      bankLineID: 1,
      payer: { connectionNumber: 'ELEC-00000001' },
      reason: 'The customer called',
    },
  },
  async handle(call, { data: sent }) {
    const { tenantId } = call.tenant;
    const payer = payerFrom(sent);
    const allocations = (sent.allocations ?? []).map((one, index) => ({
      billId: one.billID,
      amount: requireAmount(call, `data.allocations[${index}].amount`, one.amount),
    }));
    const reason = sent.reason?.trim() || null;
    const decision = { bankLineId: sent.bankLineID, payer, allocations, reason };
    const done = await decideLine(call.tx, tenantId, decision, postingOf(call));
    if (done.problems.length > 0) {
      const named = done.problems.map(({ row: _, name, ...one }) => ({
        field: `data.${name}`,
        ...one,
      }));
      throw errorFromRows(named);
    }
    const status = payer === null ? 'Ignored' : 'Posted';
    call.audit({
      subject: 'bank line',
      subjectId: sent.bankLineID,
      before: { status: done.before.status, paymentID: null, reason: null },
      after: { status, paymentID: done.paymentId, reason },
    });
    const line = `Bank line ${sent.bankLineID}`;
    if (done.paymentId === null) return { message: `${line} is ignored`, data: {} };
    const ids = { resourceIds: [done.paymentId] };
    return { message: `${line} is posted as payment ${done.paymentId}`, data: {}, ids };
  },
});

/** Null where the line is to be ignored. */
function payerFrom(sent: Sent): PayerKey | null {
  const keys = { ...pick(sent), ...pick(sent.payer ?? {}) };
  const given = payerNames.filter((name) => keys[name]);
  const isIgnored = sent.ignore === true;
  if (given.length !== (isIgnored ? 0 : 1)) {
    const names = payerNames.join(', ');
    const message = `Name the payer by exactly one of ${names}, or send ignore: true`;
    throw new AppError('REQUIRED_FIELD', { message, field: 'data.payer' });
  }
  if (isIgnored) return null;
  const { partyID, partyNumber, connectionNumber, billRefNo } = keys;
  const billId = billRefNo ? (billIdOf(billRefNo) ?? 0) : null;
  return {
    partyId: partyID ?? null,
    partyNumber: partyNumber ?? null,
    connectionNumber: connectionNumber || null,
    billId,
  };
}

type Keys = { [Name in (typeof payerNames)[number]]?: Sent[Name] };

function pick(from: Keys): Keys {
  return Object.fromEntries(
    payerNames.flatMap((name) => (from[name] ? [[name, from[name]]] : [])),
  ) as Keys;
}
