import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import {
  countPlans,
  hasPlanId,
  listPlans,
  type PlanRow,
} from '../../domain/pricing/plans-store.ts';
import { maybe, text } from '../fields.ts';
import { wholeListing } from '../listing.ts';
import { operation } from '../operation.ts';
import { presentTariff, presentWholeTariff, tariffView } from './tariff-fields.ts';

/** A number that no plan has finds nothing; it is no mistake. */
const key = maybe(
  Type.Integer({
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    'x-code': 'INVALID_FILTER_VALUE',
  }),
);

export const getTariffs = operation({
  path: '/billing/tariffs/get-tariffs',
  method: 'Retrieve',
  action: 'Retrieve Plans',
  access: { permission: 'plans:read' },
  summary: 'Lists plans: of one context or all, one plan in full, or those that can be a parent.',
  byKey: ({ tariffID }) => Boolean(tariffID),
  request: Type.Object({
    serviceCode: maybe(text({ max: 32 })),
    tariffID: key,
    exceptSubtree: key,
  }),
  response: Type.Object({ tariffs: Type.Array(tariffView) }),
  errors: ['PLAN_NOT_FOUND'],
  example: { serviceCode: 'ELEC' },
  async handle(call, body) {
    const { tx, tenant } = call;
    const { tenantId } = tenant;
    const filter = {
      contextCode: body.serviceCode || null,
      planId: body.tariffID ?? null,
      exceptSubtree: body.exceptSubtree ?? null,
    };
    if (filter.exceptSubtree !== null && !(await hasPlanId(tx, tenantId, filter.exceptSubtree))) {
      throw new AppError('PLAN_NOT_FOUND', {
        message: `No plan has the id ${filter.exceptSubtree}`,
        field: 'exceptSubtree',
      });
    }
    const isWhole = filter.planId !== null;
    return wholeListing(call, {
      count: (one) => countPlans(one, tenantId, filter),
      after: (one, { after, limit }) =>
        listPlans(one, tenantId, filter, { afterId: after?.plan_id ?? 0, limit }),
      present: (row: PlanRow) => (isWhole ? presentWholeTariff(row, tenant) : presentTariff(row)),
      wrap: (tariffs) => ({ tariffs }),
    });
  },
});
