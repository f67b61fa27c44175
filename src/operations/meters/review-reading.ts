import * as Type from 'typebox';
import { formatDay } from '../../base/days.ts';
import { reviewReading } from '../../domain/readings/review.ts';
import type { StoredReading } from '../../domain/readings/review-store.ts';
import { empty, id, maybe, oneOf, text } from '../fields.ts';
import { operation } from '../operation.ts';
import { maybeDecimal } from '../pricing-fields.ts';

export const reviewReadingOperation = operation({
  path: '/billing/meters/review-reading',
  method: 'Update',
  action: 'Review Meter Reading',
  access: { permission: 'readings:review' },
  summary: 'Accepts a reading, as it is or with a corrected value, or rejects it.',
  request: Type.Object({
    data: Type.Object({
      readingID: id,
      decision: oneOf(['Accept', 'Reject']),
      value: maybeDecimal,
      rollover: maybe(Type.Boolean({ description: 'the register passed its highest value' })),
      remark: maybe(text({ max: 500 })),
    }),
  }),
  response: empty,
  errors: ['READING_NOT_FOUND', 'READING_LOCKED', 'INVALID_STATE', 'READING_DECREASED'],
  example: { data: { readingID: 17, decision: 'Accept', remark: 'Guests in February' } },
  async handle(call, { data }) {
    const { before, after } = await reviewReading(
      call.tx,
      call.tenant.tenantId,
      {
        readingId: data.readingID,
        decision: data.decision,
        value: data.value == null ? null : String(data.value),
        rollover: data.rollover ?? null,
        remark: data.remark ?? null,
      },
      { at: call.now, by: call.principal.name },
    );
    call.audit({
      subject: 'reading',
      subjectId: data.readingID,
      before: snapshot(before),
      after: snapshot(after),
    });
    const message = `Reading ${data.readingID} is ${after.status}`;
    // What is rejected has no value that could be corrected.
    const given = (['value', 'rollover'] as const).filter((name) => data[name] != null);
    if (data.decision === 'Reject') call.ignore(given.map((name) => `data.${name}`));
    return { message, data: {}, ids: { resourceIds: [data.readingID] } };
  },
});

function snapshot(reading: StoredReading) {
  return {
    number: reading.register.meterNumber,
    register: reading.register.register,
    readingDate: formatDay(reading.day),
    value: reading.value,
    status: reading.status,
    rollover: reading.rollover ? 1 : 0,
    consumption: reading.consumption,
    remark: reading.remark,
  };
}
