import * as Type from 'typebox';
import { retryDeliveriesStep } from '../../billrun/retry-deliveries.ts';
import { type Resolution, resolveDeliveries } from '../../domain/delivery/resolve.ts';
import { empty, id, limits, maybe, oneOf, text } from '../fields.ts';
import { operation } from '../operation.ts';
import { awaitJob, requestStep } from '../scheduling.ts';

const resolutions = ['Resend', 'Sent', 'Failed'] as const satisfies readonly Resolution[];

export const resolveDeliveriesOperation = operation({
  path: '/billing/bills/resolve-deliveries',
  method: 'Update',
  action: 'Resolve Deliveries',
  access: { permission: 'bills:distribute' },
  summary: 'Resends deliveries that failed or are uncertain, or records how they ended.',
  request: Type.Object({
    data: Type.Object({
      termID: id,
      deliveryIDs: Type.Array(id, { minItems: 1, maxItems: limits.batch }),
      resolution: oneOf(resolutions),
      reason: maybe(text({ max: 500 })),
    }),
  }),
  response: empty,
  errors: ['TERM_NOT_FOUND', 'DELIVERY_NOT_FOUND', 'INVALID_STATE', 'JOB_ALREADY_RUNNING'],
  example: { data: { termID: 1, deliveryIDs: [17], resolution: 'Resend' } },
  async handle(call, { data }) {
    const { termID: termId, deliveryIDs, resolution, reason } = data;
    const stamp = { at: call.now, by: call.principal.name };
    const asked = { termId, deliveryIds: [...new Set(deliveryIDs)], resolution, reason };
    const changes = await resolveDeliveries(call.tx, call.tenant.tenantId, asked, stamp);
    for (const { deliveryId, before, after } of changes) {
      call.audit({ subject: 'delivery', subjectId: deliveryId, before, after });
    }
    if (resolution === 'Resend') {
      return requestStep(call, retryDeliveriesStep, { termId, sheduleTime: null });
    }
    const what = changes.length === 1 ? '1 delivery is' : `${changes.length} deliveries are`;
    return { message: `${what} ${resolution}`, data: {} };
  },
  settle: awaitJob,
});
