import * as Type from 'typebox';
import { revokeSession } from '../../domain/access/sessions-store.ts';
import { empty } from '../fields.ts';
import { operation } from '../operation.ts';

export const logout = operation({
  path: '/billing/auth/logout',
  method: 'Logout',
  action: 'Logout User',
  access: 'authenticated',
  summary: 'Ends the session of the presented token, its refresh token included.',
  request: Type.Object({}),
  response: empty,
  errors: [],
  example: {},
  async handle(call) {
    const { sessionId } = call.principal;
    await revokeSession(call.tx, call.tenant.tenantId, sessionId, {
      at: call.now,
      reason: 'Logged out',
    });
    const after = { event: 'logout' };
    call.audit({ subject: 'session', subjectId: sessionId, before: null, after });
    return { message: 'Logged out', data: {}, cookie: null };
  },
});
