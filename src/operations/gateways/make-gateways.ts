import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import { AppError } from '../../base/errors.ts';
import { sealSecret } from '../../base/secret-key.ts';
import { insertGateways } from '../../domain/bank-files/gateways-store.ts';
import { adapterNames } from '../../domain/bank-files/notice.ts';
import { readSecret, secret } from '../events/webhook-fields.ts';
import { empty, id, oneOf } from '../fields.ts';
import { operation } from '../operation.ts';

export const makeGateways = operation({
  path: '/billing/gateways/make-gateways',
  method: 'Create',
  action: 'Create Gateways',
  access: { permission: 'settings:write' },
  summary: 'Accepts the signed notices of payment gateways; see docs/gateways.md.',
  request: Type.Object({
    gateways: Type.Array(Type.Object({ adapter: oneOf(adapterNames), bankAccountID: id, secret }), {
      minItems: 1,
      maxItems: adapterNames.length,
    }),
  }),
  response: empty,
  errors: ['DUPLICATE', 'BANK_ACCOUNT_NOT_FOUND'],
  example: {
    gateways: [
      {
        adapter: 'standard',
        bankAccountID: 1,
        secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      },
    ],
  },
  async handle(call, body) {
    const { tx, tenant } = call;
    const names = body.gateways.map(({ adapter }) => adapter);
    if (new Set(names).size < names.length) {
      throw new AppError('DUPLICATE', { message: 'A gateway appears twice', field: 'gateways' });
    }
    const gateways = body.gateways.map((one, index) => ({
      adapter: one.adapter,
      bankAccountId: one.bankAccountID,
      secret: sealSecret(readSecret(`gateways[${index}].secret`, one.secret)),
    }));
    const stamp = { at: call.now, by: call.principal.name };
    await insertGateways(tx, tenant.tenantId, gateways, stamp);
    for (const { secret: _, ...after } of gateways) {
      call.audit({ subject: 'gateway', subjectId: after.adapter, before: null, after });
    }
    return { message: `${counted(gateways.length, 'gateway')} created`, data: {} };
  },
});
