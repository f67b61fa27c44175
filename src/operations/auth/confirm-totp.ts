import * as Type from 'typebox';
import { confirm } from '../../domain/access/factors.ts';
import { filledText } from '../fields.ts';
import { operation } from '../operation.ts';

export const confirmTotp = operation({
  path: '/billing/auth/confirm-totp',
  method: 'Login',
  action: 'Confirm Second Factor',
  access: 'login',
  summary: 'Switches the second factor on by a first code, and shows the recovery codes once.',
  request: Type.Object({ code: filledText({ max: 20 }) }),
  response: Type.Object({ recoveryCodes: Type.Array(Type.String()) }),
  errors: ['SECOND_FACTOR_ACTIVE', 'CODE_WRONG'],
  example: { code: '123456' },
  prepare: async ({ realNow }) => realNow,
  async handle(call, { code }, at) {
    const { tx, tenant, principal } = call;
    const key = { tenantId: tenant.tenantId, loginId: principal.id };
    const recoveryCodes = await confirm(tx, key, code, { at });
    const after = { secondFactor: 'on' };
    call.audit({ subject: 'login', subjectId: principal.id, before: null, after });
    return {
      message: 'The second factor is on. Keep the recovery codes.',
      data: { recoveryCodes },
    };
  },
});
