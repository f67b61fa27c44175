import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import { type ClientRow, countClients, listClients } from '../../domain/access/clients-store.ts';
import { nullable, page, timestamp, ts } from '../fields.ts';
import { listing } from '../listing.ts';
import { operation } from '../operation.ts';

export const getClients = operation({
  path: '/billing/auth/get-clients',
  method: 'Retrieve',
  action: 'Retrieve API Clients',
  access: { permission: 'access:read' },
  summary: 'Lists machine clients and their roles.',
  request: Type.Object({ page: Type.Optional(page) }),
  response: Type.Object({
    clients: Type.Array(
      Type.Object({
        clientID: Type.String(),
        roles: Type.Array(Type.String()),
        status: Type.String(),
        expiresAt: nullable(timestamp),
        allowedAddresses: Type.Array(Type.String()),
        createdAt: timestamp,
        modifiedAt: timestamp,
        ts,
      }),
    ),
  }),
  errors: [],
  example: {},
  handle(call, body) {
    const { tenantId, timezone } = call.tenant;
    return listing(call, {
      page: body.page,
      count: (tx) => countClients(tx, tenantId),
      at: (tx, window) => listClients(tx, tenantId, { afterNumber: 0, ...window }),
      after: (tx, { after, limit }) =>
        listClients(tx, tenantId, { afterNumber: after?.client_number ?? 0, limit, offset: 0 }),
      present: (row: ClientRow) => ({
        clientID: row.client_id,
        roles: row.roles,
        status: row.status,
        expiresAt: row.expires_at && formatTimestamp(row.expires_at, timezone),
        allowedAddresses: row.allowed_addresses,
        createdAt: formatTimestamp(row.created_at, timezone),
        modifiedAt: formatTimestamp(row.modified_at, timezone),
        ts: row.ts,
      }),
      wrap: (clients) => ({ clients }),
    });
  },
});
