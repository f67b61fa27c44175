import * as Type from 'typebox';
import { endArrangement as end } from '../../domain/collections/arrangements.ts';
import { empty, filledText, id } from '../fields.ts';
import { operation } from '../operation.ts';
import { postingOf } from '../payments/payment-fields.ts';

export const endArrangement = operation({
  path: '/billing/dunning/end-arrangement',
  method: 'Update',
  action: 'End Arrangement',
  access: { permission: 'collections:write' },
  summary: 'Ends a promise or an instalment plan; dunning goes on with the next night.',
  request: Type.Object({
    data: Type.Object({ arrangementID: id, reason: filledText({ max: 500 }) }),
  }),
  response: empty,
  errors: ['ARRANGEMENT_NOT_FOUND', 'INVALID_STATE'],
  example: { data: { arrangementID: 7, reason: 'The customer moved away' } },
  async handle(call, { data }) {
    const { arrangementID: arrangementId } = data;
    const wanted = { arrangementId, reason: data.reason.trim() };
    const before = await end(call.tx, call.tenant.tenantId, wanted, postingOf(call));
    call.audit({
      subject: 'arrangement',
      subjectId: arrangementId,
      before: { kind: before.kind, status: before.status, reason: before.reason },
      after: { kind: before.kind, status: 'Ended', reason: wanted.reason },
    });
    return { message: `Arrangement ${arrangementId} ended`, data: {} };
  },
});
