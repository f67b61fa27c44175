import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import { detailsOf, errorFromRows } from '../../base/errors.ts';
import { makePlans } from '../../domain/collections/arrangements.ts';
import { date, empty, filledText, id, limits } from '../fields.ts';
import { operation } from '../operation.ts';
import { dayOf, postingOf } from '../payments/payment-fields.ts';
import { decimal } from '../pricing-fields.ts';
import { amountsFrom } from './arrangement-fields.ts';

const plan = Type.Object({
  connectionNumber: filledText({ max: 120 }),
  billIDs: Type.Array(id, { minItems: 1, maxItems: 100 }),
  instalments: Type.Array(Type.Object({ dueDate: date, amount: decimal }), {
    minItems: 1,
    maxItems: 120,
  }),
  reason: filledText({ max: 500 }),
});

export const makeInstalmentPlans = operation({
  path: '/billing/dunning/make-instalment-plans',
  method: 'Create',
  action: 'Create Instalment Plans',
  access: { permission: 'collections:write' },
  summary:
    'Agrees on instalments for bills: no dunning and no surcharge while each is paid in time.',
  takesRows: true,
  request: Type.Object({ plans: Type.Array(plan, { minItems: 1, maxItems: limits.batch }) }),
  response: empty,
  errors: ['SUBSCRIPTION_NOT_FOUND', 'BILL_NOT_FOUND', 'INVALID_STATE', 'ROWS_REJECTED'],
  example: {
    plans: [
      {
        connectionNumber: 'ELEC-00000001',
        billIDs: [991],
        instalments: [
          { dueDate: '31/10/2099', amount: 500 },
          { dueDate: '30/11/2099', amount: 500 },
        ],
        reason: 'Lost the job',
      },
    ],
  },
  async handle(call, body) {
    const { today, stamp } = postingOf(call);
    const read = body.plans.map((sent, row) =>
      amountsFrom(sent.instalments, call, (at) => ({ row, name: `instalments[${at}].amount` })),
    );
    const wrong = read.flatMap((one) => one.problems);
    if (wrong.length > 0) throw errorFromRows(detailsOf(wrong, 'plans'));
    const wanted = body.plans.map((sent, row) => ({
      connectionNumber: sent.connectionNumber.trim(),
      billIds: sent.billIDs,
      instalments: sent.instalments.map(({ dueDate }, at) => ({
        dueDate: dayOf(dueDate) ?? today,
        amount: read[row]?.amounts[at] ?? 0,
      })),
      reason: sent.reason.trim(),
    }));
    const made = await makePlans(call.tx, call.tenant.tenantId, wanted, { today, stamp });
    if (made.problems.length > 0) throw errorFromRows(detailsOf(made.problems, 'plans'));
    body.plans.forEach((sent, row) => {
      const after = { kind: 'InstalmentPlan', ...sent };
      const subjectId = made.ids[row] ?? 0;
      call.audit({ subject: 'arrangement', subjectId, before: null, after });
    });
    const message = `${counted(wanted.length, 'instalment plan')} made`;
    return { message, data: {}, ids: { resourceIds: [...made.ids] } };
  },
});
