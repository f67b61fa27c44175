import * as Type from 'typebox';
import { countPeriods, listPeriods, type PeriodRow } from '../../domain/tenants/periods-store.ts';
import { nullable } from '../fields.ts';
import { wholeListing } from '../listing.ts';
import { operation } from '../operation.ts';

export const getPeriods = operation({
  path: '/billing/periods/get-periods',
  method: 'Retrieve',
  action: 'Retrieve Billing Periods',
  access: { permission: 'contexts:read' },
  summary: 'Lists billing periods, the nine built-in ones first.',
  request: Type.Object({}),
  response: Type.Object({
    periods: Type.Array(
      Type.Object({
        billingPeriodID: Type.Integer(),
        name: Type.String(),
        unit: Type.String(),
        count: Type.Integer(),
        anchorDay: nullable(Type.Integer()),
        months: Type.String(),
        description: nullable(Type.String()),
      }),
    ),
  }),
  errors: [],
  example: {},
  handle(call) {
    const { tenantId } = call.tenant;
    return wholeListing(call, {
      count: (tx) => countPeriods(tx, tenantId),
      after: (tx, { after, limit }) =>
        listPeriods(tx, tenantId, { afterId: after?.period_id ?? 0, limit }),
      present: (row: PeriodRow) => ({
        billingPeriodID: row.period_id,
        name: row.name,
        unit: row.unit,
        count: row.unit_count,
        anchorDay: row.anchor_day,
        months: row.months,
        description: row.description,
      }),
      wrap: (periods) => ({ periods }),
    });
  },
});
