import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import { hashSecret } from '../../base/secrets.ts';
import { assertNotStale } from '../../base/stale.ts';
import { lockClient, updateClient } from '../../domain/access/clients-store.ts';
import { revokeSessionsOf } from '../../domain/access/sessions-store.ts';
import { empty, localDateTime, maybe, tsGuard } from '../fields.ts';
import { operation } from '../operation.ts';
import {
  allowedAddresses,
  clientId,
  clientRoles,
  clientSecret,
  loginStatus,
} from './login-fields.ts';
import { expiryOf } from './make-clients.ts';

export const updateClientOperation = operation({
  path: '/billing/auth/update-client',
  method: 'Update',
  action: 'Update API Client',
  access: { permission: 'access:write' },
  summary: 'Changes an API client; a new secret or the status INACTIVE ends its sessions.',
  request: Type.Object({
    data: Type.Object({
      clientID: clientId,
      clientSecret: Type.Optional(clientSecret),
      roles: Type.Optional(clientRoles),
      status: Type.Optional(loginStatus),
      expiresAt: maybe(localDateTime),
      allowedAddresses: maybe(allowedAddresses),
      ts: tsGuard,
    }),
  }),
  response: empty,
  errors: ['CLIENT_NOT_FOUND', 'STALE_OBJECT'],
  example: { data: { clientID: 'meter-gateway', status: 'INACTIVE' } },
  prepare: async (call, { data }) =>
    data.clientSecret && hashSecret(data.clientSecret, call.tenant.tenantId),
  async handle(call, body, secretHash) {
    const { tx, tenant } = call;
    const { data } = body;
    const before = await lockClient(tx, tenant.tenantId, data.clientID);
    if (!before) throw new AppError('CLIENT_NOT_FOUND', { field: 'data.clientID' });
    assertNotStale(data.ts, before, { what: `API client ${data.clientID}`, field: 'data.ts' });
    const change = {
      ...(data.roles ? { roles: [...new Set(data.roles)] } : {}),
      ...(data.status ? { status: data.status } : {}),
      ...(secretHash ? { secretHash } : {}),
      ...(data.allowedAddresses ? { allowedAddresses: data.allowedAddresses } : {}),
      ...(data.expiresAt === undefined
        ? {}
        : { expiresAt: expiryOf(data.expiresAt, tenant.timezone) }),
    };
    const stamp = { at: call.now, by: call.principal.name };
    await updateClient(tx, tenant.tenantId, before.client_number, change, stamp);
    if (data.clientSecret || data.status === 'INACTIVE') {
      const reason = data.clientSecret ? 'The secret was changed' : 'The client was deactivated';
      const owner = { clientNumber: before.client_number };
      await revokeSessionsOf(tx, tenant.tenantId, owner, { at: call.now, reason });
    }
    const { secretHash: _, ...shown } = change;
    const shownBefore = {
      roles: before.roles,
      status: before.status,
      expiresAt: before.expires_at,
      allowedAddresses: before.allowed_addresses,
    };
    call.audit({
      subject: 'client',
      subjectId: before.client_number,
      before: shownBefore,
      after: { ...shownBefore, ...shown, ...(data.clientSecret ? { secretChanged: true } : {}) },
    });
    return { message: `API client ${before.client_id} updated`, data: {} };
  },
});
