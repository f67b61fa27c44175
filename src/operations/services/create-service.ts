import * as Type from 'typebox';
import { contextError } from '../../domain/pricing/check-definitions.ts';
import { createContext } from '../../domain/pricing/contexts.ts';
import { empty } from '../fields.ts';
import { operation } from '../operation.ts';
import { given } from '../pricing-fields.ts';
import { exampleService } from './example-fields.ts';
import {
  bankAccountsSent,
  batchesSent,
  pricingDefaults,
  pricingSent,
  serviceCode,
  serviceHead,
  serviceRest,
  settingsDefaults,
  settingsSent,
} from './service-fields.ts';
import { presentWholeService } from './service-view-fields.ts';

export const createService = operation({
  path: '/billing/services/create-service',
  method: 'Create',
  action: 'Create Package',
  access: { permission: 'contexts:write' },
  summary:
    'Creates a pricing context: values, components, inputs and settings that its plans share.',
  request: Type.Object({
    service: Type.Object({ code: serviceCode, ...serviceHead, ...serviceRest }),
  }),
  response: empty,
  errors: [
    'DUPLICATE',
    'PERIOD_NOT_FOUND',
    'TEMPLATE_NOT_FOUND',
    'BANK_ACCOUNT_NOT_FOUND',
    'DEFINITION_INVALID',
    'TEMPLATE_INVALID',
  ],
  refusal: contextError,
  example: { service: { code: 'ELEC', ...exampleService } } as never,
  async handle(call, body) {
    const { tx, tenant } = call;
    const { service } = body;
    const { name, serviceType, chargingType, postType, billingCycle } = service;
    const head = { name: name.trim(), chargingType, postType };
    const settings = {
      ...settingsDefaults,
      ...head,
      contextType: serviceType,
      billingPeriodId: billingCycle,
      ...settingsSent(service, tenant.currencyDecimals),
    };
    const made = await createContext(
      tx,
      tenant,
      {
        code: service.code,
        settings,
        pricing: { ...pricingDefaults, ...given(pricingSent(service)) },
        batches: batchesSent(service.batches ?? []),
        bankAccounts: bankAccountsSent(service.bankAccounts ?? [], tenant.currency),
      },
      { at: call.now, by: call.principal.name },
    );
    const after = presentWholeService(made, tenant);
    call.audit({ subject: 'pricing context', subjectId: service.code, before: null, after });
    const resourceIds = [made.row.context_id];
    return { message: `Pricing context ${service.code} created`, data: {}, ids: { resourceIds } };
  },
});
