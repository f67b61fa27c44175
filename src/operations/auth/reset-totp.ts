import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import { deleteFactor } from '../../domain/access/factors-store.ts';
import { lockLogin } from '../../domain/access/store.ts';
import { empty } from '../fields.ts';
import { operation } from '../operation.ts';
import { username } from './login-fields.ts';

export const resetTotp = operation({
  path: '/billing/auth/reset-totp',
  method: 'Update',
  action: 'Reset Second Factor',
  access: { permission: 'access:write' },
  summary: 'Switches the second factor of a login off, such as after the loss of a phone.',
  request: Type.Object({ data: Type.Object({ username }) }),
  response: empty,
  errors: ['LOGIN_NOT_FOUND'],
  example: { data: { username: 'clerk' } },
  async handle(call, { data }) {
    const { tx, tenant } = call;
    const login = await lockLogin(tx, tenant.tenantId, data.username);
    if (!login) {
      const message = `No login has the user name '${data.username}'`;
      throw new AppError('LOGIN_NOT_FOUND', { message, field: 'data.username' });
    }
    const wasOn = await deleteFactor(tx, tenant.tenantId, login.login_id);
    const after = { secondFactor: 'off' };
    call.audit({ subject: 'login', subjectId: login.login_id, before: { wasOn }, after });
    return { message: wasOn ? 'The second factor is off' : 'There was none', data: {} };
  },
});
