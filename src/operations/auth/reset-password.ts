import * as Type from 'typebox';
import { hashSecret, hashToken } from '../../base/secrets.ts';
import { findLinkOwner, spendLink } from '../../domain/access/links-store.ts';
import { nameKey } from '../../domain/access/names.ts';
import { assertStrong } from '../../domain/access/passwords.ts';
import { failureKey } from '../../domain/access/sessions.ts';
import { clearLoginFailures, revokeSessionsOf } from '../../domain/access/sessions-store.ts';
import { findLoginById, namesOf, updateLogin } from '../../domain/access/store.ts';
import { empty } from '../fields.ts';
import { operation } from '../operation.ts';
import { linkInvalid, linkText } from './link-fields.ts';
import { password } from './login-fields.ts';

export const resetPassword = operation({
  path: '/billing/auth/reset-password',
  method: 'Login',
  action: 'Reset Password',
  access: 'public',
  summary: 'Sets a new password by a link that was mailed, and ends all sessions of the login.',
  request: Type.Object({ link: linkText, newPassword: password }),
  response: empty,
  errors: ['LINK_INVALID', 'PASSWORD_TOO_WEAK'],
  example: {
    link: '1.Zm9yIGV4YW1wbGUgb25seSwgbm90IGEgcmVhbCB0b2tlbg',
    newPassword: 'several words not together',
  },
  async handle(call, body) {
    const { tenant, realNow: at, now } = call;
    const { tenantId } = tenant;
    const link = { hash: hashToken(body.link.trim()), purpose: 'Reset' as const };
    const login = await call.write(async (tx) => {
      const loginId = await findLinkOwner(tx, tenantId, link, at);
      return loginId === undefined ? undefined : findLoginById(tx, tenantId, loginId);
    });
    if (login?.status !== 'ACTIVE') throw linkInvalid();
    const { login_id: loginId, username, email } = login;
    assertStrong(body.newPassword, [username, email ?? '', tenant.workspace], 'newPassword');
    // Outside any transaction: it takes tens of milliseconds.
    const passwordHash = await hashSecret(body.newPassword, tenantId);
    await call.write(async (tx, audit) => {
      if (!(await spendLink(tx, tenantId, { ...link, loginId }, at))) throw linkInvalid();
      await updateLogin(tx, tenantId, loginId, { passwordHash }, { at: now, by: username });
      const reason = 'The password was reset';
      await revokeSessionsOf(tx, tenantId, { loginId }, { at, reason });
      for (const name of namesOf({ username, email })) {
        await clearLoginFailures(tx, tenantId, failureKey(`login/${nameKey(name)}`));
      }
      const after = { passwordReset: true };
      const actor = { name: username, kind: 'Login' as const };
      audit(actor, { subject: 'login', subjectId: loginId, before: null, after });
    });
    return { message: 'Password set; all sessions have ended. Log in with it.', data: {} };
  },
});
