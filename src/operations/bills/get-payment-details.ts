import * as Type from 'typebox';
import { billInput, letterheadOf } from '../../domain/delivery/bill-input.ts';
import { billView } from '../../domain/documents/bill-view.ts';
import { id, nullable } from '../fields.ts';
import { operation } from '../operation.ts';
import { billToShow } from './shown-document-fields.ts';

const text = Type.String();

export const getPaymentDetails = operation({
  path: '/billing/bills/get-payment-details',
  method: 'Retrieve',
  action: 'Retrieve Payment Details',
  access: { permission: 'bills:read', own: 'own-bills:read' },
  summary: 'Shows how to pay a bill: reference, bank accounts and the text of its payment QR code.',
  request: Type.Object({ billID: id }),
  response: Type.Object({
    billID: Type.Integer(),
    billNumber: text,
    payable: Type.Boolean({ description: 'false: there is nothing to pay' }),
    reference: text,
    banks: Type.Array(
      Type.Object({
        title: text,
        facts: Type.Array(Type.Object({ label: text, value: text })),
      }),
    ),
    code: nullable(
      Type.Object({
        text: Type.String({ description: 'for a QR code' }),
        isPayment: Type.Boolean({ description: 'false: it has the reference only' }),
      }),
    ),
  }),
  errors: ['BILL_NOT_FOUND', 'INVALID_STATE'],
  example: { billID: 991 },
  async handle(call, { billID }) {
    const { task } = await billToShow(call, billID, null);
    const letterhead = letterheadOf(task.setting);
    const view = billView(billInput(task.setting, letterhead, task.bill, task.cancellation));
    return {
      message: view.isPayable ? 'The bill can be paid' : 'There is nothing to pay',
      data: {
        billID,
        billNumber: view.billNumber,
        payable: view.isPayable,
        reference: view.reference,
        banks: view.isPayable
          ? view.banks.map(({ title, facts }) => ({
              title,
              facts: facts.map(({ label, value }) => ({ label, value })),
            }))
          : [],
        code: view.code.text === '' ? null : { ...view.code },
      },
    };
  },
});
