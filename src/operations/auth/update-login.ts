import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import { hashSecret } from '../../base/secrets.ts';
import { assertNotStale } from '../../base/stale.ts';
import { assertStrong } from '../../domain/access/passwords.ts';
import { revokeSessionsOf } from '../../domain/access/sessions-store.ts';
import {
  countActiveAdministrators,
  lockLogin,
  lockPartyOfLogin,
  showPortalStatus,
  updateLogin,
} from '../../domain/access/store.ts';
import { empty, tsGuard } from '../fields.ts';
import { type Call, operation } from '../operation.ts';
import { loginStatus, password, roles, username } from './login-fields.ts';

export const updateLoginOperation = operation({
  path: '/billing/auth/update-login',
  method: 'Update',
  action: 'Update Login',
  access: { permission: 'access:write' },
  summary: 'Changes roles, status or password of a login; a new password ends its sessions.',
  request: Type.Object({
    data: Type.Object({
      username,
      roles: Type.Optional(roles),
      status: Type.Optional(loginStatus),
      password: Type.Optional(password),
      ts: tsGuard,
    }),
  }),
  response: empty,
  errors: [
    'LOGIN_NOT_FOUND',
    'STALE_OBJECT',
    'LAST_ADMINISTRATOR',
    'PARTY_ARCHIVED',
    'PASSWORD_TOO_WEAK',
  ],
  example: { data: { username: 'ops1', roles: ['Billing Manager'] } },
  async prepare(call, { data }) {
    if (!data.password) return undefined;
    assertStrong(data.password, [data.username, call.tenant.workspace], 'data.password');
    return hashSecret(data.password, call.tenant.tenantId);
  },
  async handle(call, body, passwordHash) {
    const { tx } = call;
    const { tenantId } = call.tenant;
    const { data } = body;
    if (data.status === 'ACTIVE') await assertPartyLives(call, data.username);
    const before = await lockLogin(tx, tenantId, data.username);
    if (!before) throw new AppError('LOGIN_NOT_FOUND', { field: 'data.username' });
    assertNotStale(data.ts, before, { what: `Login ${data.username}`, field: 'data.ts' });
    if (data.roles?.includes('Customer') && before.party_id === null) {
      throw new AppError('REQUIRED_FIELD', {
        message: 'A login with the role Customer needs a party',
        field: 'data.roles',
      });
    }
    if (data.password) assertStrong(data.password, [before.email ?? ''], 'data.password');
    const change = {
      ...(data.roles ? { roles: [...new Set(data.roles)] } : {}),
      ...(data.status ? { status: data.status } : {}),
      ...(passwordHash ? { passwordHash } : {}),
    };
    const stamp = { at: call.now, by: call.principal.name };
    await updateLogin(tx, tenantId, before.login_id, change, stamp);
    if (before.party_id !== null) await showPortalStatus(tx, tenantId, [before.party_id]);
    if ((await countActiveAdministrators(tx, tenantId)) === 0) {
      throw new AppError('LAST_ADMINISTRATOR', { field: 'data.username' });
    }
    if (data.password || data.status === 'INACTIVE') {
      const reason = data.password ? 'The password was changed' : 'The login was deactivated';
      const owner = { loginId: before.login_id };
      await revokeSessionsOf(tx, tenantId, owner, { at: call.now, reason });
    }
    call.audit({
      subject: 'login',
      subjectId: before.login_id,
      before: { roles: before.roles, status: before.status },
      after: {
        roles: data.roles ?? before.roles,
        status: data.status ?? before.status,
        ...(data.password ? { passwordChanged: true } : {}),
      },
    });
    return { message: `Login ${before.username} updated`, data: {} };
  },
});

/** Archiving a party closes its logins; they stay closed until it is restored. */
async function assertPartyLives({ tx, tenant }: Call, name: string): Promise<void> {
  const party = await lockPartyOfLogin(tx, tenant.tenantId, name);
  if (!party?.archived) return;
  throw new AppError('PARTY_ARCHIVED', {
    message: `Party ${party.party_number} is archived; restore it first`,
    field: 'data.status',
  });
}
