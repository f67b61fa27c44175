import * as Type from 'typebox';
import { demandDeposit as demand } from '../../domain/receivables/deposits.ts';
import { date, empty, filledText, maybe } from '../fields.ts';
import { operation } from '../operation.ts';
import { amountSent, dayOf, postingOf, requireAmount } from '../payments/payment-fields.ts';

export const demandDeposit = operation({
  path: '/billing/deposits/demand-deposit',
  method: 'Update',
  action: 'Demand Deposit',
  access: { permission: 'credits:write' },
  summary: 'Demands a security deposit for a subscription: an open item, held once it is paid.',
  request: Type.Object({
    data: Type.Object({
      connectionNumber: filledText({ max: 120 }),
      amount: amountSent,
      reference: filledText({ max: 120, description: 'unique for ever' }),
      reason: filledText({ max: 500 }),
      dueDate: maybe(date),
    }),
  }),
  response: empty,
  errors: ['SUBSCRIPTION_NOT_FOUND', 'DUPLICATE', 'INVALID_STATE'],
  example: {
    data: {
      connectionNumber: 'ELEC-00000001',
      amount: 1500,
      reference: 'DEP-2026-000003',
      reason: 'Paid late three times',
      dueDate: '30/09/2026',
    },
  },
  async handle(call, { data }) {
    const posting = postingOf(call);
    const wanted = {
      connectionNumber: data.connectionNumber.trim(),
      amount: requireAmount(call, 'data.amount', data.amount),
      reference: data.reference.trim(),
      reason: data.reason.trim(),
      dueDate: dayOf(data.dueDate) ?? posting.today,
    };
    const { depositId, isRepeated } = await demand(call.tx, call.tenant.tenantId, wanted, posting);
    if (!isRepeated) {
      const after = { ...wanted, dueDate: wanted.dueDate.toString() };
      call.audit({ subject: 'deposit', subjectId: depositId, before: null, after });
    }
    const message = `Deposit ${wanted.reference} ${isRepeated ? 'was already' : 'is'} demanded`;
    return { message, data: {}, ids: { resourceIds: [depositId] } };
  },
});
