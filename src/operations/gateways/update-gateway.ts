import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import { assertNotStale } from '../../base/stale.ts';
import { findGateway, updateGateway } from '../../domain/bank-files/gateways-store.ts';
import { adapterNames } from '../../domain/bank-files/notice.ts';
import { oldSecretHours, rotation, secret } from '../events/webhook-fields.ts';
import { empty, id, oneOf, tsGuard } from '../fields.ts';
import { operation } from '../operation.ts';

export const updateGatewayOperation = operation({
  path: '/billing/gateways/update-gateway',
  method: 'Update',
  action: 'Update Gateway',
  access: { permission: 'settings:write' },
  summary: 'Changes the bank account of a gateway, pauses it, or adds a secret beside the old one.',
  request: Type.Object({
    data: Type.Object({
      adapter: oneOf(adapterNames),
      bankAccountID: Type.Optional(id),
      secret: Type.Optional(secret),
      oldSecretHours: Type.Optional(oldSecretHours),
      status: Type.Optional(oneOf(['Active', 'Paused'])),
      ts: tsGuard,
    }),
  }),
  response: empty,
  errors: ['GATEWAY_NOT_FOUND', 'BANK_ACCOUNT_NOT_FOUND', 'STALE_OBJECT'],
  example: { data: { adapter: 'standard', status: 'Paused' } },
  async handle(call, { data }) {
    const { tx, tenant } = call;
    const before = await findGateway(tx, tenant.tenantId, data.adapter);
    if (!before) throw new AppError('GATEWAY_NOT_FOUND', { field: 'data.adapter' });
    assertNotStale(data.ts, before, { what: `gateway ${data.adapter}`, field: 'data.ts' });
    const change = {
      bankAccountId: data.bankAccountID ?? before.bank_account_id,
      status: data.status ?? before.status,
    };
    const secrets =
      data.secret === undefined
        ? undefined
        : rotation(call, { ...data, secret: data.secret }, before.secret);
    const stamp = { at: call.now, by: call.principal.name };
    const all = { ...change, ...(secrets ? { secrets } : {}) };
    await updateGateway(tx, tenant.tenantId, data.adapter, all, stamp);
    call.audit({
      subject: 'gateway',
      subjectId: data.adapter,
      before: { bankAccountId: before.bank_account_id, status: before.status },
      after: { ...change, ...(data.secret ? { secretChanged: true } : {}) },
    });
    return { message: `Gateway ${data.adapter} updated`, data: {} };
  },
});
