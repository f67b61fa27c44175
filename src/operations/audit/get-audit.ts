import * as Type from 'typebox';
import { formatTimestamp, parseDate, startOfDay } from '../../base/calendar.ts';
import {
  type AuditFilter,
  type AuditRow,
  countAuditEntries,
  listAuditEntries,
} from '../../domain/audit/store.ts';
import { date, maybe, nullable, page, text, timestamp } from '../fields.ts';
import { listing } from '../listing.ts';
import { operation } from '../operation.ts';

const anyObject = Type.Unsafe<object>({ type: 'object', additionalProperties: true });

export const getAudit = operation({
  path: '/billing/audit/get-audit',
  method: 'Retrieve',
  action: 'Retrieve Audit Entries',
  access: { permission: 'audit:read' },
  summary: 'Lists changes, newest first: the login, what it changed, when and from which address.',
  request: Type.Object({
    subject: maybe(text({ max: 120 })),
    subjectID: maybe(text({ max: 254 })),
    actor: maybe(text({ max: 254 })),
    fromDate: maybe(date),
    toDate: maybe(date),
    page: Type.Optional(page),
  }),
  response: Type.Object({
    entries: Type.Array(
      Type.Object({
        requestID: Type.String(),
        at: timestamp,
        actor: Type.String(),
        actorType: Type.String(),
        address: nullable(Type.String()),
        operation: Type.String(),
        subject: Type.String(),
        subjectID: Type.String(),
        before: nullable(anyObject),
        after: nullable(anyObject),
      }),
    ),
  }),
  errors: [],
  example: { subject: 'party', page: { pageNumber: 0, size: 50 } },
  handle(call, body) {
    const { tenantId, timezone } = call.tenant;
    const filter: AuditFilter = {
      subject: body.subject ?? null,
      subjectId: body.subjectID ?? null,
      actor: body.actor ?? null,
      from: startOf(body.fromDate, timezone, 0),
      to: startOf(body.toDate, timezone, 1),
    };
    return listing(call, {
      page: body.page,
      count: (tx) => countAuditEntries(tx, tenantId, filter),
      at: (tx, window) => listAuditEntries(tx, tenantId, filter, window),
      after: (tx, { after, limit }) =>
        listAuditEntries(tx, tenantId, filter, {
          limit,
          offset: 0,
          ...(after ? { after: { requestId: after.request_id, position: after.position } } : {}),
        }),
      present: (row: AuditRow) => ({
        requestID: row.request_id,
        at: formatTimestamp(row.at, timezone),
        actor: row.actor,
        actorType: row.actor_kind,
        address: row.address,
        operation: row.operation,
        subject: row.subject,
        subjectID: row.subject_id,
        before: row.before,
        after: row.after,
      }),
      wrap: (entries) => ({ entries }),
    });
  },
});

/** The first moment of a date, or of the date that many days later. */
function startOf(
  text: string | null | undefined,
  timezone: string,
  daysLater: number,
): Temporal.Instant | null {
  const day = text ? parseDate(text) : undefined;
  return day ? startOfDay(day.add({ days: daysLater }), timezone) : null;
}
