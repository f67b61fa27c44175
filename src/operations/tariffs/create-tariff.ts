import * as Type from 'typebox';
import { dateIn } from '../../base/calendar.ts';
import { definitionErrors } from '../../base/errors.ts';
import { createPlan } from '../../domain/pricing/plans.ts';
import { empty, filledText, id, limits, maybe, oneOf, text } from '../fields.ts';
import { operation } from '../operation.ts';
import { optionalFlag } from '../pricing-fields.ts';
import { exampleTariff } from './example-fields.ts';
import {
  planPricingSent,
  planTypes,
  presentWholeTariff,
  pricingArrays,
  visibilities,
  warningText,
} from './tariff-fields.ts';

export const createTariff = operation({
  path: '/billing/tariffs/create-tariff',
  method: 'Create',
  action: 'Create Plan',
  access: { permission: 'plans:write' },
  summary: 'Creates a plan in a pricing context, checked together with all plans of the context.',
  request: Type.Object({
    tariff: Type.Object({
      serviceCode: filledText({ max: 32 }),
      code: filledText({ max: 64 }),
      name: filledText({ max: 200 }),
      uniqueLabel: filledText({ max: 200 }),
      description: maybe(text({ max: limits.description })),
      parentTariffCode: maybe(text({ max: 64 })),
      planType: oneOf(planTypes),
      chargeType: filledText({ max: 32 }),
      abstract: optionalFlag,
      custom: optionalFlag,
      visibility: Type.Optional(oneOf(visibilities)),
      billingPeriodID: maybe(id),
      ...pricingArrays,
    }),
  }),
  response: empty,
  errors: [
    'SERVICE_NOT_FOUND',
    'DUPLICATE',
    'PARENT_NOT_FOUND',
    'PARENT_OTHER_SERVICE',
    'PLAN_TOO_DEEP',
    'PERIOD_NOT_FOUND',
    'CHARGE_TYPE_MISMATCH',
    ...definitionErrors,
  ],
  example: { tariff: { ...exampleTariff, chargeType: 'Postpaid', abstract: 0 } } as never,
  async handle(call, body) {
    const { tx, tenant } = call;
    const { tariff } = body;
    const settings = {
      code: tariff.code.trim(),
      name: tariff.name.trim(),
      uniqueLabel: tariff.uniqueLabel.trim(),
      description: tariff.description ?? null,
      parentCode: tariff.parentTariffCode || null,
      planType: tariff.planType,
      abstract: tariff.abstract === 1,
      custom: tariff.custom === 1,
      visibility: tariff.visibility ?? 'Public',
      billingPeriodId: tariff.billingPeriodID ?? null,
      archived: false,
    };
    const plan = {
      contextCode: tariff.serviceCode,
      chargeType: tariff.chargeType,
      settings,
      pricing: planPricingSent(tariff, 'tariff'),
      today: dateIn(call.now, tenant.timezone),
    };
    const stamp = { at: call.now, by: call.principal.name };
    const { after: made, warnings } = await createPlan(tx, tenant, plan, stamp);
    const after = presentWholeTariff(made, tenant);
    call.audit({ subject: 'plan', subjectId: made.plan_id, before: null, after });
    const resourceIds = [made.plan_id];
    const message = `Plan ${made.code} created${warningText(warnings)}`;
    return { message, data: {}, ids: { resourceIds } };
  },
});
