import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import { detailsOf, errorFromRows } from '../../base/errors.ts';
import { makePromises as make } from '../../domain/collections/arrangements.ts';
import { date, empty, filledText, id, limits } from '../fields.ts';
import { operation } from '../operation.ts';
import { dayOf, postingOf } from '../payments/payment-fields.ts';
import { decimal } from '../pricing-fields.ts';
import { amountsFrom } from './arrangement-fields.ts';

const promise = Type.Object({
  partyNumber: id,
  amount: decimal,
  date,
  reason: filledText({ max: 500 }),
});

export const makePromises = operation({
  path: '/billing/dunning/make-promises',
  method: 'Create',
  action: 'Create Promises',
  access: { permission: 'collections:write' },
  summary: 'Records promises to pay: dunning pauses until their dates; all or none.',
  takesRows: true,
  request: Type.Object({
    promises: Type.Array(promise, { minItems: 1, maxItems: limits.batch }),
  }),
  response: empty,
  errors: ['PARTY_NOT_FOUND', 'ROWS_REJECTED'],
  example: {
    promises: [
      { partyNumber: 100001, amount: 1_500, date: '31/12/2099', reason: 'Salary on the 30th' },
    ],
  },
  async handle(call, body) {
    const { today, stamp } = postingOf(call);
    const { amounts, problems } = amountsFrom(body.promises, call);
    if (problems.length > 0) throw errorFromRows(detailsOf(problems, 'promises'));
    const wanted = body.promises.map((sent, row) => ({
      partyNumber: sent.partyNumber,
      amount: amounts[row] ?? 0,
      date: dayOf(sent.date) ?? today,
      reason: sent.reason.trim(),
    }));
    const made = await make(call.tx, call.tenant.tenantId, wanted, { today, stamp });
    if (made.problems.length > 0) throw errorFromRows(detailsOf(made.problems, 'promises'));
    wanted.forEach((one, row) => {
      const after = { kind: 'Promise', ...one, date: one.date.toString() };
      const subjectId = made.ids[row] ?? 0;
      call.audit({ subject: 'arrangement', subjectId, before: null, after });
    });
    const message = `${counted(wanted.length, 'promise')} recorded`;
    return { message, data: {}, ids: { resourceIds: [...made.ids] } };
  },
});
