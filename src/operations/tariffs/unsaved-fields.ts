// Plans that are sent to be tried out: they replace saved ones, or are added to them.
import * as Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import type { Definitions } from '../../domain/rating/compile/price-book.ts';
import type { Version } from '../../domain/rating/definitions/definitions.ts';
import { maybe, oneOf, text } from '../fields.ts';
import { optionalFlag } from '../pricing-fields.ts';
import { description, planCode } from './scenario-fields.ts';
import { planPricingSent, planTypes, pricingArrays } from './tariff-fields.ts';

export const unsavedTariff = Type.Object({
  serviceCode: maybe(text({ max: 32 })),
  code: planCode,
  name: maybe(text({ max: 200 })),
  uniqueLabel: maybe(text({ max: 200 })),
  description,
  parentTariffCode: maybe(text({ max: 64 })),
  planType: maybe(oneOf(planTypes)),
  chargeType: maybe(text({ max: 32 })),
  abstract: optionalFlag,
  ...pricingArrays,
});
type Sent = readonly Type.Static<typeof unsavedTariff>[] | null | undefined;

/** Definitions in which the plans that were sent take the place of those with the same code. */
export function withUnsavedPlans(stored: Definitions, tariffs: Sent): Definitions {
  const codes = (tariffs ?? []).map((tariff) => tariff.code);
  const twice = codes.findIndex((code, index) => codes.indexOf(code) !== index);
  if (twice !== -1) {
    throw new AppError('DUPLICATE', {
      message: `Plan ${codes[twice]} appears twice`,
      field: `tariffs[${twice}].code`,
    });
  }
  const unsaved = (tariffs ?? []).map((tariff, index) => {
    const { valueFormulas: _values, componentRules: _rules, ...head } = tariff;
    const definition = { ...head, ...planPricingSent(tariff, `tariffs[${index}]`) };
    return onlyVersion({
      ...definition,
      parentTariffCode: tariff.parentTariffCode || null,
    } as never);
  });
  const kept = stored.plans.filter((version) => !codes.includes(version.definition.code));
  return { ...stored, plans: [...kept, ...unsaved] };
}

/** The path of each plan in the request, for error messages. */
export function placesOf(tariffs: Sent): Map<string, string> {
  return new Map((tariffs ?? []).map(({ code }, index) => [code, `tariffs[${index}]`]));
}

export function onlyVersion<Definition>(definition: Definition): Version<Definition> {
  return { version: 1, effectiveDate: null, definition };
}
