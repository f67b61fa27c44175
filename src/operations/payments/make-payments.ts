import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import { detailsOf, errorFromRows, type RowProblem } from '../../base/errors.ts';
import { billIdOf } from '../../domain/bills/reference.ts';
import { type CashDesk, listCashDesks } from '../../domain/receivables/cash-desks-store.ts';
import type { PayerKey, WantedPayment } from '../../domain/receivables/payment.ts';
import { makePayments as make } from '../../domain/receivables/take-payments.ts';
import { date, empty, filledText, id, limits, maybe, text } from '../fields.ts';
import { type Call, operation } from '../operation.ts';
import {
  amountMessage,
  amountOf,
  amountSent,
  dayOf,
  paymentMethod,
  postingOf,
} from './payment-fields.ts';

const payment = Type.Object({
  reference: filledText({ max: 120, description: 'of the payer or the bank; unique for ever' }),
  partyID: maybe(id),
  partyNumber: maybe(id),
  connectionNumber: maybe(text({ max: 120 })),
  billRefNo: maybe(text({ max: 32 })),
  amount: amountSent,
  currency: maybe(text({ max: 3 })),
  paymentDate: maybe(date),
  paymentMethod,
  bankAccountID: maybe(id),
  allocations: maybe(
    Type.Array(Type.Object({ billID: id, amount: amountSent }), { maxItems: limits.batch }),
  ),
  cashDesk: maybe(text({ max: 16, description: 'gives a receipt of this desk' })),
  chequeNumber: maybe(text({ max: 40 })),
  remark: maybe(text({ max: limits.text })),
});
type PaymentSent = Type.Static<typeof payment>;

const payerNames = ['partyID', 'partyNumber', 'connectionNumber', 'billRefNo'] as const;

export const makePayments = operation({
  path: '/billing/payments/make-payments',
  method: 'Create',
  action: 'Create Payments',
  access: { permission: 'payments:write' },
  summary:
    'Takes payments, all or none; each settles what its payer owes, the rest fills the wallet.',
  takesRows: true,
  request: Type.Object({
    payments: Type.Array(payment, { minItems: 1, maxItems: limits.batch }),
  }),
  response: empty,
  errors: [
    'PARTY_NOT_FOUND',
    'SUBSCRIPTION_NOT_FOUND',
    'BILL_NOT_FOUND',
    'CASH_DESK_NOT_FOUND',
    'DUPLICATE',
    'INVALID_STATE',
    'PARTY_ARCHIVED',
    'OVER_ALLOCATED',
    'BILL_OF_OTHER_PARTY',
    'CURRENCY_MISMATCH',
    'AMOUNT_ABOVE_OPEN',
    'DATE_IN_FUTURE',
    'ROWS_REJECTED',
  ],
  example: {
    payments: [
      {
        reference: 'TT-2026-000451',
        connectionNumber: 'ELEC-00000001',
        amount: 8500,
        paymentDate: '18/08/2026',
        paymentMethod: 'Bank',
        remark: 'Paid at the counter of the bank',
      },
    ],
  },
  async handle(call, body) {
    const { tenantId } = call.tenant;
    const { today, stamp } = postingOf(call);
    const desks = body.payments.some((one) => one.cashDesk)
      ? await listCashDesks(call.tx, tenantId)
      : [];
    const read = body.payments.map((sent, row) => paymentFrom(sent, row, call, { today, desks }));
    const wrong = read.flatMap((one) => one.problems);
    if (wrong.length > 0) throw errorFromRows(detailsOf(wrong, 'payments'));
    const wanted = read.map((one) => one.payment);
    const made = await make(call.tx, tenantId, wanted, { today, stamp });
    if (made.problems.length > 0) throw errorFromRows(detailsOf(made.problems, 'payments'));
    wanted.forEach(({ reference, amount, payer }, row) => {
      const subjectId = made.paymentIds[row] ?? 0;
      const after = { reference, amount, ...payer };
      call.audit({ subject: 'payment', subjectId, before: null, after });
    });
    const { repeated } = made;
    const again =
      repeated > 0 ? `; ${counted(repeated, 'reference')} was already taken before` : '';
    const message = `${counted(wanted.length - repeated, 'payment')} taken${again}`;
    return { message, data: {}, ids: { resourceIds: [...made.paymentIds] } };
  },
});

function paymentFrom(
  sent: PaymentSent,
  row: number,
  call: Call,
  { today, desks }: { today: Temporal.PlainDate; desks: readonly CashDesk[] },
): { payment: WantedPayment; problems: RowProblem[] } {
  const problems: RowProblem[] = [];
  const amount = amountOf(sent.amount, call);
  const refuse = (name: string, code: RowProblem['code'], message: string, value: unknown) =>
    problems.push({ row, name, code, message, rejectedValue: value });
  if (amount === undefined) {
    refuse('amount', 'INVALID_NUMBER', amountMessage('amount', call), sent.amount);
  }
  const { currency } = call.tenant;
  if (sent.currency && sent.currency !== currency) {
    const message = `The workspace takes payments in ${currency} only`;
    refuse('currency', 'CURRENCY_MISMATCH', message, sent.currency);
  }
  const given = payerNames.filter((name) => sent[name] !== undefined && sent[name] !== null);
  if (given.length !== 1) {
    const message = `Name the payer by exactly one of ${payerNames.join(', ')}`;
    refuse('partyNumber', 'REQUIRED_FIELD', message, given);
  }
  const payer = payerFrom(sent);
  if (sent.billRefNo && payer.billId === null) {
    const message = `No posted bill has the reference ${sent.billRefNo}`;
    refuse('billRefNo', 'BILL_NOT_FOUND', message, sent.billRefNo);
  }
  const allocations = (sent.allocations ?? []).map((one, index) => {
    const share = amountOf(one.amount, call);
    const name = `allocations[${index}].amount`;
    if (share === undefined) refuse(name, 'INVALID_NUMBER', amountMessage(name, call), one.amount);
    return { billId: one.billID, amount: share ?? 0 };
  });
  const desk = sent.cashDesk ? desks.find((one) => one.code === sent.cashDesk) : null;
  if (desk === undefined) {
    const message = `No cash desk has the code ${sent.cashDesk}`;
    refuse('cashDesk', 'CASH_DESK_NOT_FOUND', message, sent.cashDesk);
  }
  const wanted = {
    ...{ desk: desk ?? null, chequeNumber: sent.chequeNumber || null },
    ...{ payer, allocations, amount: amount ?? 0 },
    reference: sent.reference.trim(),
    valueDate: dayOf(sent.paymentDate) ?? today,
    paymentMethod: sent.paymentMethod,
    bankAccountId: sent.bankAccountID ?? null,
    remark: sent.remark || null,
  };
  return { payment: wanted, problems };
}

function payerFrom(sent: PaymentSent): PayerKey {
  return {
    partyId: sent.partyID ?? null,
    partyNumber: sent.partyNumber ?? null,
    connectionNumber: sent.connectionNumber ?? null,
    billId: sent.billRefNo ? (billIdOf(sent.billRefNo) ?? null) : null,
  };
}
