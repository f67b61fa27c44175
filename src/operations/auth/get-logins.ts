import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import { countLogins, type LoginRow, listLogins } from '../../domain/access/store.ts';
import { maybe, nullable, page, text, timestamp, ts } from '../fields.ts';
import { listing } from '../listing.ts';
import { operation } from '../operation.ts';

export const getLogins = operation({
  path: '/billing/auth/get-logins',
  method: 'Retrieve',
  action: 'Retrieve Logins',
  access: { permission: 'access:read' },
  summary: 'Lists logins and their roles.',
  request: Type.Object({ username: maybe(text({ max: 120 })), page: Type.Optional(page) }),
  response: Type.Object({
    logins: Type.Array(
      Type.Object({
        userID: Type.Integer(),
        username: Type.String(),
        email: nullable(Type.String()),
        name: Type.String(),
        roles: Type.Array(Type.String()),
        status: Type.String(),
        partyNumber: nullable(Type.Integer()),
        createdAt: timestamp,
        modifiedAt: timestamp,
        ts,
      }),
    ),
  }),
  errors: [],
  example: { page: { pageNumber: 0, size: 50 } },
  handle(call, body) {
    const { tenantId, timezone } = call.tenant;
    const username = body.username || null;
    return listing(call, {
      page: body.page,
      count: (tx) => countLogins(tx, tenantId, username),
      at: (tx, window) => listLogins(tx, tenantId, { afterId: 0, username, ...window }),
      after: (tx, { after, limit }) =>
        listLogins(tx, tenantId, { afterId: after?.login_id ?? 0, username, limit, offset: 0 }),
      present: (row: LoginRow) => ({
        userID: row.login_id,
        username: row.username,
        email: row.email,
        name: row.name,
        roles: row.roles,
        status: row.status,
        partyNumber: row.party_number,
        createdAt: formatTimestamp(row.created_at, timezone),
        modifiedAt: formatTimestamp(row.modified_at, timezone),
        ts: row.ts,
      }),
      wrap: (logins) => ({ logins }),
    });
  },
});
