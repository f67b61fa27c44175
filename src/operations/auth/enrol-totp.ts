import * as Type from 'typebox';
import { base32, otpauthUri } from '../../base/totp.ts';
import { enrolFactor } from '../../domain/access/factors.ts';
import { operation } from '../operation.ts';

export const enrolTotp = operation({
  path: '/billing/auth/enrol-totp',
  method: 'Login',
  action: 'Enrol Second Factor',
  access: 'login',
  summary: 'Starts a second factor: a secret for an authenticator app. Go on with confirm-totp.',
  request: Type.Object({}),
  response: Type.Object({
    secret: Type.String({ description: 'base32' }),
    uri: Type.String({ description: 'otpauth://, for a QR code' }),
  }),
  errors: ['SECOND_FACTOR_ACTIVE'],
  example: {},
  async handle(call) {
    const { tx, tenant, principal, now } = call;
    const key = { tenantId: tenant.tenantId, loginId: principal.id };
    const secret = await enrolFactor(tx, key, now);
    const after = { secondFactor: 'enrolled' };
    call.audit({ subject: 'login', subjectId: principal.id, before: null, after });
    const uri = otpauthUri(secret, { issuer: tenant.workspace, account: principal.name });
    return {
      message: 'Add the secret to the app, then send its code with confirm-totp',
      data: { secret: base32(secret), uri },
    };
  },
});
