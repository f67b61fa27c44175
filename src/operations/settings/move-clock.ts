import * as Type from 'typebox';
import { formatTimestamp, instantOf, parseLocalDateTime } from '../../base/calendar.ts';
import { AppError } from '../../base/errors.ts';
import { findSettings, updateSettings, wakeDailyJobs } from '../../domain/tenants/store.ts';
import { empty, localDateTime } from '../fields.ts';
import { operation } from '../operation.ts';

/**
 * Years ahead of the real time. Further on, dates that a workspace computes (due dates, the ends of
 * terms) could leave the years that can be written with four digits.
 */
const yearsAheadMax = 10;

export const moveClock = operation({
  path: '/billing/settings/move-clock',
  method: 'Update',
  action: 'Move Clock',
  access: { permission: 'settings:write' },
  summary: "Moves a sandbox's clock forward, to try out what a later day brings.",
  request: Type.Object({ data: Type.Object({ to: localDateTime }) }),
  response: empty,
  errors: ['NOT_A_SANDBOX', 'CLOCK_BACKWARDS', 'CLOCK_TOO_FAR'],
  example: { data: { to: '2027-01-01T00:00:00' } },
  async handle(call, body) {
    const { tx, tenant } = call;
    const before = await findSettings(tx, tenant.tenantId, { lock: true });
    if (!before.sandbox) throw new AppError('NOT_A_SANDBOX');
    const local = parseLocalDateTime(body.data.to);
    if (!local) throw new AppError('INVALID_DATETIME', { field: 'data.to' });
    const realNow = call.now.subtract({ milliseconds: tenant.clockOffsetMs });
    const now = realNow.add({ milliseconds: before.clock_offset_ms });
    const to = instantOf(local, before.timezone);
    if (Temporal.Instant.compare(to, now) < 0) {
      throw new AppError('CLOCK_BACKWARDS', {
        field: 'data.to',
        current: formatTimestamp(now, before.timezone),
      });
    }
    const latest = realNow
      .toZonedDateTimeISO(before.timezone)
      .add({ years: yearsAheadMax })
      .toInstant();
    if (Temporal.Instant.compare(to, latest) > 0) {
      const until = formatTimestamp(latest, before.timezone);
      throw new AppError('CLOCK_TOO_FAR', {
        message: `The clock may be moved to ${until} at most, ${yearsAheadMax} years from now`,
        field: 'data.to',
        current: formatTimestamp(now, before.timezone),
      });
    }
    const clock_offset_ms = Math.max(0, to.epochMilliseconds - realNow.epochMilliseconds);
    const stamp = { at: to, by: call.principal.name };
    await Promise.all([
      updateSettings(tx, tenant.tenantId, { ...before, clock_offset_ms }, stamp),
      wakeDailyJobs(tx, tenant.tenantId),
    ]);
    call.audit({
      subject: 'clock',
      subjectId: tenant.workspace,
      before: { now: formatTimestamp(now, before.timezone) },
      after: { now: formatTimestamp(to, before.timezone) },
    });
    return { message: `It is now ${formatTimestamp(to, before.timezone)}`, data: {} };
  },
});
