import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import {
  countPlans,
  countVersionsOfPlan,
  hasPlanId,
  listPlans,
  listVersionsOfPlan,
  type PlanRow,
  type VersionOfPlan,
} from '../../domain/pricing/plans-store.ts';
import { maybe, text } from '../fields.ts';
import { wholeListing } from '../listing.ts';
import { type Call, operation } from '../operation.ts';
import { presentKind, presentTariff, presentWholeTariff, tariffView } from './tariff-fields.ts';

/** A number that does not exist is not an error: the list is empty. */
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
  summary:
    'Lists plans: of one context or all, one plan in full, all versions of one plan, or those ' +
    'that can be a parent.',
  byKey: ({ tariffID }) => Boolean(tariffID),
  request: Type.Object({
    serviceCode: maybe(text({ max: 32 })),
    tariffID: key,
    exceptSubtree: key,
    kinds: maybe(
      Type.Boolean({ description: 'true: also planType, abstract and archiveStatus of each' }),
    ),
    versions: maybe(
      Type.Boolean({ description: 'true, with tariffID: every version, the newest first' }),
    ),
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
    if (body.versions === true && filter.planId !== null) return allVersions(call, filter.planId);
    return wholeListing(call, {
      count: (one) => countPlans(one, tenantId, filter),
      after: (one, { after, limit }) =>
        listPlans(one, tenantId, filter, { afterId: after?.plan_id ?? 0, limit }),
      present: (row: PlanRow) => {
        if (isWhole) return presentWholeTariff(row, tenant);
        return body.kinds === true ? presentKind(row) : presentTariff(row);
      },
      wrap: (tariffs) => ({ tariffs }),
    });
  },
});

/** Definitions are large: few are read at a time. */
const versionsAtOnce = 20;

/** The settings are those of today; the definition, its date and its author are the version's. */
async function allVersions(call: Call, planId: number) {
  const { tx, tenant } = call;
  const { tenantId } = tenant;
  const one = { contextCode: null, planId, exceptSubtree: null };
  const [plan] = await listPlans(tx, tenantId, one, { afterId: 0, limit: 1 });
  return wholeListing(call, {
    chunkSize: versionsAtOnce,
    count: (other) => countVersionsOfPlan(other, tenantId, planId),
    after: async (other, { after, limit }) =>
      plan
        ? listVersionsOfPlan(other, tenantId, planId, { before: after?.version ?? null, limit })
        : [],
    present: ({ created_at, created_by, ...version }: VersionOfPlan) =>
      presentWholeTariff(
        { ...(plan as PlanRow), ...version, modified_at: created_at, modified_by: created_by },
        tenant,
      ),
    wrap: (tariffs) => ({ tariffs }),
  });
}
