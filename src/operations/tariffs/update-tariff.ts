import * as Type from 'typebox';
import { dateIn, parseDate } from '../../base/calendar.ts';
import { definitionErrors } from '../../base/errors.ts';
import type { PlanSettings } from '../../domain/pricing/context.ts';
import { changePlan } from '../../domain/pricing/plans.ts';
import { date, empty, filledText, id, limits, maybe, oneOf, text, tsGuard } from '../fields.ts';
import { operation } from '../operation.ts';
import { archiveFlag, optionalFlag, sent } from '../pricing-fields.ts';
import { isSet } from '../services/service-fields.ts';
import { exampleTariff } from './example-fields.ts';
import {
  planPricingSent,
  presentWholeTariff,
  pricingArrays,
  visibilities,
  warningText,
} from './tariff-fields.ts';

const tariffChange = Type.Object({
  serviceCode: filledText({ max: 32 }),
  code: filledText({ max: 64 }),
  name: Type.Optional(filledText({ max: 200 })),
  uniqueLabel: Type.Optional(filledText({ max: 200 })),
  description: maybe(text({ max: limits.description })),
  parentTariffCode: maybe(text({ max: 64 })),
  planType: maybe(text({ max: 32 })),
  chargeType: maybe(text({ max: 32 })),
  abstract: optionalFlag,
  custom: optionalFlag,
  visibility: Type.Optional(oneOf(visibilities)),
  billingPeriodID: maybe(id),
  archiveStatus: Type.Optional(archiveFlag),
  effectiveDate: maybe(date),
  ts: tsGuard,
  ...pricingArrays,
});

export const updateTariff = operation({
  path: '/billing/tariffs/update-tariff',
  method: 'Update',
  action: 'Update Plan',
  access: { permission: 'plans:write' },
  summary: 'Stores a new version of a plan, checked together with the plans that inherit from it.',
  request: Type.Object({ tariff: tariffChange }),
  response: empty,
  errors: [
    'PLAN_NOT_FOUND',
    'PLAN_TYPE_IMMUTABLE',
    'FIELD_IMMUTABLE',
    'PLAN_CYCLE',
    'PLAN_TOO_DEEP',
    'PARENT_NOT_FOUND',
    'PARENT_OTHER_SERVICE',
    'PERIOD_NOT_FOUND',
    'STALE_OBJECT',
    'DUPLICATE',
    ...definitionErrors,
  ],
  example: { tariff: exampleTariff } as never,
  async handle(call, body) {
    const { tx, tenant } = call;
    const { tariff } = body;
    const change = {
      contextCode: tariff.serviceCode,
      code: tariff.code.trim(),
      planType: tariff.planType ?? undefined,
      chargeType: tariff.chargeType ?? undefined,
      abstract: tariff.abstract === undefined ? undefined : tariff.abstract === 1,
      settings: settingsSent(tariff),
      pricing: planPricingSent(tariff, 'tariff'),
      effectiveDate: parseDate(tariff.effectiveDate ?? '') ?? dateIn(call.now, tenant.timezone),
      seenTs: tariff.ts,
    };
    const stamp = { at: call.now, by: call.principal.name };
    const { before, after, warnings } = await changePlan(tx, tenant, change, stamp);
    call.audit({
      subject: 'plan',
      subjectId: after.plan_id,
      before: presentWholeTariff(before, tenant),
      after: presentWholeTariff(after, tenant),
    });
    return {
      message: `Plan ${after.code} updated; version ${after.version}${warningText(warnings)}`,
      data: {},
      ids: { resourceIds: [after.plan_id] },
    };
  },
});

function settingsSent(tariff: Type.Static<typeof tariffChange>) {
  return sent<PlanSettings>({
    code: undefined,
    planType: undefined,
    abstract: undefined,
    name: tariff.name?.trim(),
    uniqueLabel: tariff.uniqueLabel?.trim(),
    description: tariff.description,
    parentCode: tariff.parentTariffCode === '' ? null : tariff.parentTariffCode,
    custom: tariff.custom === undefined ? undefined : tariff.custom === 1,
    visibility: tariff.visibility,
    billingPeriodId: tariff.billingPeriodID,
    archived: tariff.archiveStatus === undefined ? undefined : isSet(tariff.archiveStatus),
  });
}
