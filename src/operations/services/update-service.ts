import * as Type from 'typebox';
import { dateIn, parseDate } from '../../base/calendar.ts';
import { contextError } from '../../domain/pricing/check-definitions.ts';
import { changeContext } from '../../domain/pricing/contexts.ts';
import { empty, filledText, id, maybe, text, tsGuard } from '../fields.ts';
import { operation } from '../operation.ts';
import {
  bankAccountsSent,
  batchesSent,
  effectiveDate,
  pricingSent,
  serviceHead,
  serviceRest,
  settingsSent,
} from './service-fields.ts';
import { presentWholeService } from './service-view-fields.ts';

export const updateService = operation({
  path: '/billing/services/update-service',
  method: 'Update',
  action: 'Update Package',
  access: { permission: 'contexts:write' },
  summary:
    'Changes a pricing context by a new version; refused where it would break one of its plans.',
  request: Type.Object({
    service: Type.Object({
      code: filledText({ max: 32 }),
      serviceID: maybe(id),
      newCode: maybe(text({ max: 32 })),
      effectiveDate,
      ts: tsGuard,
      name: Type.Optional(serviceHead.name),
      serviceType: Type.Optional(serviceHead.serviceType),
      chargingType: Type.Optional(serviceHead.chargingType),
      postType: Type.Optional(serviceHead.postType),
      billingCycle: Type.Optional(serviceHead.billingCycle),
      ...serviceRest,
    }),
  }),
  response: empty,
  errors: [
    'SERVICE_NOT_FOUND',
    'SERVICE_CODE_IMMUTABLE',
    'SERVICE_IN_USE',
    'IN_USE',
    'STALE_OBJECT',
    'DUPLICATE',
    'PERIOD_NOT_FOUND',
    'TEMPLATE_NOT_FOUND',
    'BANK_ACCOUNT_NOT_FOUND',
    'DEFINITION_INVALID',
    'TEMPLATE_INVALID',
  ],
  refusal: contextError,
  example: { service: { code: 'ELEC', name: 'Electricity', dueDateOffset: 10 } },
  async handle(call, body) {
    const { tx, tenant } = call;
    const { service } = body;
    const done = await changeContext(
      tx,
      tenant,
      {
        code: service.code,
        contextId: service.serviceID ?? undefined,
        newCode: service.newCode ?? undefined,
        settings: settingsSent(service, tenant.currencyDecimals),
        pricing: pricingSent(service),
        batches: service.batches ? batchesSent(service.batches) : undefined,
        bankAccounts: service.bankAccounts
          ? bankAccountsSent(service.bankAccounts, tenant.currency)
          : undefined,
        effectiveDate: parseDate(service.effectiveDate ?? '') ?? dateIn(call.now, tenant.timezone),
        seenTs: service.ts,
      },
      { at: call.now, by: call.principal.name },
    );
    call.audit({
      subject: 'pricing context',
      subjectId: service.code,
      before: presentWholeService(done.before, tenant),
      after: presentWholeService(done.after, tenant),
    });
    return {
      message: `Pricing context ${service.code} updated; version ${done.after.row.version}`,
      data: {},
      ids: { resourceIds: [done.after.row.context_id] },
    };
  },
});
