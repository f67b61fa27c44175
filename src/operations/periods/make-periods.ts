import * as Type from 'typebox';
import { counted } from '../../base/counted.ts';
import { type ErrorDetail, errorFromRows } from '../../base/errors.ts';
import { takeNumbers } from '../../domain/tenants/numbers-store.ts';
import {
  findTakenPeriodNames,
  insertPeriods,
  periodUnits,
} from '../../domain/tenants/periods-store.ts';
import { empty, filledText, limits, maybe, oneOf, text } from '../fields.ts';
import { operation } from '../operation.ts';
import { wholeNumber } from '../pricing-fields.ts';

/** More digits of a share of a month than any bill shows. */
const monthsDecimals = 10;

const months = Type.Unsafe<string | number>({
  type: ['string', 'number'],
  pattern: '^\\d{1,6}(\\.\\d{1,12})?$',
  maxLength: 20,
  minimum: 0,
  maximum: 1_200,
  'x-code': 'INVALID_NUMBER',
  description: 'months of the period as formulas read them',
});

export const makePeriods = operation({
  path: '/billing/periods/make-periods',
  method: 'Create',
  action: 'Create Billing Periods',
  access: { permission: 'contexts:write' },
  summary: 'Creates billing periods: how often plans, groups and terms bill.',
  request: Type.Object({
    periods: Type.Array(
      Type.Object({
        name: filledText({ max: 120 }),
        unit: oneOf(periodUnits),
        count: wholeNumber(1, 1_000),
        anchorDay: maybe(wholeNumber(1, 31)),
        months,
        description: maybe(text({ max: limits.description })),
      }),
      { minItems: 1, maxItems: limits.batch },
    ),
  }),
  response: empty,
  errors: ['DUPLICATE'],
  example: { periods: [{ name: 'Every 10 days', unit: 'Day', count: 10, months: '0.3285' }] },
  async handle(call, body) {
    const { tx, tenant } = call;
    const { tenantId } = tenant;
    const periods = body.periods.map((period) => ({
      name: period.name.trim(),
      unit: period.unit,
      unit_count: period.count,
      anchor_day: period.anchorDay ?? null,
      months: monthsText(period.months),
      description: period.description ?? null,
    }));
    const names = periods.map((period) => period.name.toLowerCase());
    const taken = await findTakenPeriodNames(tx, tenantId, names);
    const problems = names.flatMap((name, index): ErrorDetail[] => {
      if (!taken.has(name) && names.indexOf(name) === index) return [];
      const field = `periods[${index}].name`;
      const message = `A billing period named '${periods[index]?.name}' exists already`;
      return [{ field, code: 'DUPLICATE', message }];
    });
    if (problems.length > 0) throw errorFromRows(problems);
    const firstId = await takeNumbers(tx, tenantId, 'period', periods.length);
    await insertPeriods(tx, tenantId, firstId, periods);
    const resourceIds = periods.map((_, index) => firstId + index);
    periods.forEach((after, index) => {
      const subjectId = resourceIds[index] ?? 0;
      call.audit({ subject: 'billing period', subjectId, before: null, after });
    });
    return {
      message: `${counted(periods.length, 'billing period')} created`,
      data: {},
      ids: { resourceIds },
    };
  },
});

function monthsText(sent: string | number): string {
  return typeof sent === 'string' ? sent : sent.toFixed(monthsDecimals);
}
