import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import { hashSecret, verifySecret } from '../../base/secrets.ts';
import { nameKey } from '../../domain/access/names.ts';
import { assertStrong, passwordLengthMax } from '../../domain/access/passwords.ts';
import { assertNotLocked, failureKey, recordFailure } from '../../domain/access/sessions.ts';
import { clearLoginFailures, revokeOtherSessions } from '../../domain/access/sessions-store.ts';
import { findPassword, type PasswordRow, updateLogin } from '../../domain/access/store.ts';
import { empty, text } from '../fields.ts';
import { operation, type Preparing } from '../operation.ts';
import { password } from './login-fields.ts';

export const changePassword = operation({
  path: '/billing/auth/change-password',
  method: 'Update',
  action: 'Change Password',
  access: 'login',
  summary: 'Changes the password of the login itself, and ends its other sessions.',
  request: Type.Object({
    data: Type.Object({
      currentPassword: text({ max: passwordLengthMax }),
      newPassword: password,
    }),
  }),
  response: empty,
  errors: ['CURRENT_PASSWORD_WRONG', 'LOGIN_LOCKED', 'PASSWORD_TOO_WEAK'],
  example: {
    data: { currentPassword: 'the phrase of last year', newPassword: 'staple of the second kind' },
  },
  prepare: async (call, { data }) => check(call, data),
  async handle(call, _body, checked) {
    if ('refusal' in checked) throw checked.refusal;
    const { tx, principal } = call;
    const { tenantId } = call.tenant;
    const stored = await findPassword(tx, tenantId, principal.id, { lock: true });
    // Changed by another call since it was checked.
    if (stored?.password_hash !== checked.before) throw wrong();
    const stamp = { at: call.now, by: principal.name };
    await updateLogin(tx, tenantId, principal.id, { passwordHash: checked.hash }, stamp);
    await revokeOtherSessions(tx, tenantId, principal.id, principal.sessionId, {
      at: call.now,
      reason: 'The password was changed',
    });
    await clearLoginFailures(tx, tenantId, keyOf(stored));
    const after = { passwordChanged: true };
    call.audit({ subject: 'login', subjectId: principal.id, before: null, after });
    return { message: 'Password changed; other sessions have ended', data: {} };
  },
});

type Passwords = { currentPassword: string; newPassword: string };
type Checked = { before: string; hash: string } | { refusal: AppError };

/**
 * A wrong password counts as a failed login of the user name. The outcome is returned inside the
 * transaction of the call: one that is repeated with its Idempotency-Key is answered as before.
 */
async function check(call: Preparing, sent: Passwords): Promise<Checked> {
  const { tenant, realNow: at } = call;
  const { tenantId } = tenant;
  try {
    const login = await call.write((tx) => findUnlocked(call, tx));
    const { currentPassword, newPassword } = sent;
    assertStrong(
      newPassword,
      [login.username, login.email ?? '', tenant.workspace],
      'data.newPassword',
    );
    const isRight = await verifySecret(currentPassword, login.password_hash, tenantId);
    if (!isRight) {
      const { code } = await call.write((tx) => recordFailure(tx, tenantId, keyOf(login), at));
      return { refusal: code === 'LOGIN_LOCKED' ? new AppError(code) : wrong() };
    }
    assertOther(sent);
    return { before: login.password_hash, hash: await hashSecret(newPassword, tenantId) };
  } catch (error) {
    if (error instanceof AppError && error.statusCode < 500) return { refusal: error };
    throw error;
  }
}

async function findUnlocked(
  call: Preparing,
  tx: Parameters<Parameters<Preparing['write']>[0]>[0],
): Promise<PasswordRow> {
  const { tenantId } = call.tenant;
  const login = await findPassword(tx, tenantId, call.principal.id, { lock: false });
  if (!login) throw new AppError('TOKEN_REVOKED');
  await assertNotLocked(tx, tenantId, keyOf(login), { at: call.realNow, lock: false });
  return login;
}

function keyOf({ username }: PasswordRow): Buffer {
  return failureKey(`login/${nameKey(username)}`);
}

function assertOther({ currentPassword, newPassword }: Passwords): void {
  if (currentPassword !== newPassword) return;
  throw new AppError('PASSWORD_TOO_WEAK', {
    message: 'The new password is the current one. Choose another one.',
    field: 'data.newPassword',
  });
}

function wrong(): AppError {
  return new AppError('CURRENT_PASSWORD_WRONG', { field: 'data.currentPassword' });
}
