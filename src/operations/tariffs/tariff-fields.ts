// A plan as it is sent and shown.
import * as Type from 'typebox';
import { formatTimestamp } from '../../base/calendar.ts';
import { AppError, type ErrorDetail, errorFromDetails } from '../../base/errors.ts';
import { exactFrom } from '../../base/numbers/decimal-text.ts';
import { signOf } from '../../base/numbers/exact.ts';
import type { PlanPricing } from '../../domain/pricing/context.ts';
import type { PlanRow } from '../../domain/pricing/plans-store.ts';
import { wireDate } from '../../domain/pricing/price-books.ts';
import type { PlanProblem } from '../../domain/rating/check/plan-problem.ts';
import type { Tenant } from '../../domain/tenants/tenant.ts';
import { date, limits, maybe, nullable, oneOf, text, timestamp } from '../fields.ts';
import {
  assertSmall,
  assertSmallTables,
  flag,
  formula,
  freeForm,
  rows,
  sent,
} from '../pricing-fields.ts';

export const planTypes = ['BASE_PLAN', 'ADDON_PLAN', 'ONE_TIME_PLAN'] as const;
export const visibilities = ['Public', 'Private', 'Hidden'] as const;

/** A field that means nothing here is a typing mistake, and here that is a wrong price. */
const closed = { additionalProperties: false } as const;

const valueFormula = Type.Object(
  {
    name: text({ max: 64 }),
    formula: maybe(formula),
    rows: Type.Optional(rows),
    fromDate: maybe(date),
    toDate: maybe(date),
  },
  closed,
);

const componentRule = Type.Object(
  {
    component: text({ max: 64 }),
    formula: maybe(formula),
    when: maybe(formula),
    scope: maybe(oneOf(['Segment', 'Term'])),
    prorate: maybe(oneOf(['None', 'Days'])),
    window: maybe(oneOf(['Current', 'Previous'])),
    exclude: maybe(flag),
    fromDate: maybe(date),
    toDate: maybe(date),
    quantity: maybe(formula),
    rate: maybe(formula),
    description: maybe(text({ max: limits.description })),
  },
  closed,
);

const itemsMax = 1_000;

export const pricingArrays = {
  valueFormulas: maybe(Type.Array(valueFormula, { maxItems: itemsMax })),
  componentRules: maybe(Type.Array(componentRule, { maxItems: itemsMax })),
  usageData: maybe(Type.Array(freeForm, { maxItems: itemsMax })),
  securityAttributes: maybe(Type.Array(freeForm, { maxItems: itemsMax })),
};

const pricingObject = Type.Object(pricingArrays);

/** What was sent of a plan's arrays; those left out are not there. `place` is for messages. */
export function planPricingSent(
  plan: Type.Static<typeof pricingObject>,
  place: string,
): PlanPricing {
  assertSmallTables(`${place}.valueFormulas`, plan.valueFormulas, 'rows');
  assertSmall(`${place}.usageData`, plan.usageData);
  assertSmall(`${place}.securityAttributes`, plan.securityAttributes);
  assertUsageItems(plan.usageData ?? [], `${place}.usageData`);
  assertSecurityItems(plan.securityAttributes ?? [], `${place}.securityAttributes`);
  return sent<PlanPricing>({
    valueFormulas: plan.valueFormulas ?? undefined,
    componentRules: plan.componentRules ?? undefined,
    usageData: plan.usageData ?? undefined,
    securityAttributes: plan.securityAttributes ?? undefined,
  } as never);
}

type FreeItem = Record<string, unknown>;
type Words = Record<string, readonly unknown[]>;

/** Only items that name an input are read; others are kept as they came. */
function assertUsageItems(items: readonly FreeItem[], field: string): void {
  const isRead = (item: FreeItem) => typeof item.input === 'string';
  assertWords(items, field, isRead, {
    source: ['Metered', 'Unmetered', 'Uploaded'],
    required: [0, 1],
    exclude: [0, 1],
    estimate: ['Allowed', 'NotAllowed'],
  });
  const inputs = items.map((item) => item.input);
  const details = items.flatMap((item, index): ErrorDetail[] => {
    if (!isRead(item)) return [];
    const { input, included = null } = item;
    const place = `${field}[${index}]`;
    const problems: ErrorDetail[] = [];
    if (inputs.indexOf(input) !== index) {
      const message = `${place}.input: ${input} appears twice`;
      problems.push({ field: `${place}.input`, code: 'DUPLICATE', message, rejectedValue: input });
    }
    if (included !== null && !isQuantity(included)) {
      const message = `${place}.included must be a number that is not below zero`;
      problems.push({ field: `${place}.included`, code: 'INVALID_NUMBER', message });
    }
    return problems;
  });
  if (details.length > 0) throw errorFromDetails(details);
}

function isQuantity(given: unknown): boolean {
  if (typeof given !== 'string' && typeof given !== 'number') return false;
  const exact = exactFrom(given);
  return exact !== undefined && signOf(exact) >= 0;
}

/** Only items that name an amount are read; others are kept as they came. */
function assertSecurityItems(items: readonly FreeItem[], field: string): void {
  const isRead = (item: FreeItem) =>
    typeof item.name === 'string' && (item.amount != null || item.formula != null);
  for (const [index, item] of items.entries()) {
    if (!isRead(item) || item.formula == null || typeof item.formula === 'string') continue;
    const place = `${field}[${index}].formula`;
    throw new AppError('INVALID_TYPE', { message: `${place} must be a string`, field: place });
  }
  assertWords(items, field, isRead, {
    refundable: [0, 1],
    exclude: [0, 1],
    dueAt: ['Connection', 'FirstBill'],
  });
}

function assertWords(
  items: readonly FreeItem[],
  field: string,
  isRead: (item: FreeItem) => boolean,
  words: Words,
): void {
  const details = items.flatMap((item, index) =>
    Object.entries(words).flatMap(([name, allowed]): ErrorDetail[] => {
      const value = item[name] ?? null;
      if (!isRead(item) || value === null || allowed.includes(value)) return [];
      const at = `${field}[${index}].${name}`;
      const message = `${at} must be one of ${allowed.join(', ')}`;
      return [{ field: at, code: 'INVALID_ENUM', message }];
    }),
  );
  if (details.length > 0) throw errorFromDetails(details);
}

const shown = Type.String();
const maybeShown = nullable(Type.String());
const integer = Type.Integer();
const optional = Type.Optional;

export const tariffView = Type.Object({
  tariffID: integer,
  tariffCode: shown,
  uniqueLabel: shown,
  label: shown,
  description: maybeShown,
  serviceCode: shown,
  parentTariffCode: maybeShown,
  securityAttributes: Type.Array(freeForm),
  connCount: integer,
  code: optional(shown),
  name: optional(shown),
  planType: optional(shown),
  chargeType: optional(shown),
  abstract: optional(integer),
  custom: optional(integer),
  visibility: optional(shown),
  billingPeriodID: optional(nullable(integer)),
  valueFormulas: pricingArrays.valueFormulas,
  componentRules: pricingArrays.componentRules,
  usageData: pricingArrays.usageData,
  archiveStatus: optional(integer),
  version: optional(integer),
  effectiveDate: optional(maybeShown),
  ts: optional(integer),
  createdAt: optional(timestamp),
  createdBy: optional(shown),
  modifiedAt: optional(timestamp),
  modifiedBy: optional(shown),
});

export function presentTariff(row: PlanRow) {
  return {
    tariffID: row.plan_id,
    tariffCode: row.code,
    uniqueLabel: row.unique_label,
    label: row.name,
    description: row.description,
    serviceCode: row.context_code,
    parentTariffCode: row.parent_code,
    securityAttributes: row.definition.securityAttributes ?? [],
    connCount: row.subscriptions,
  };
}

/** For a caller that offers plans to be chosen. */
export function presentKind(row: PlanRow) {
  return {
    ...presentTariff(row),
    planType: row.plan_type,
    abstract: row.abstract ? 1 : 0,
    archiveStatus: row.archived ? 1 : 0,
  };
}

export function presentWholeTariff(row: PlanRow, tenant: Tenant) {
  return {
    ...presentKind(row),
    code: row.code,
    name: row.name,
    chargeType: row.charging_type,
    custom: row.custom ? 1 : 0,
    visibility: row.visibility,
    billingPeriodID: row.billing_period_id,
    valueFormulas: row.definition.valueFormulas ?? [],
    componentRules: row.definition.componentRules ?? [],
    usageData: row.definition.usageData ?? [],
    version: row.version,
    effectiveDate: wireDate(row.effective_date),
    ts: row.ts,
    createdAt: formatTimestamp(row.created_at, tenant.timezone),
    createdBy: row.created_by,
    modifiedAt: formatTimestamp(row.modified_at, tenant.timezone),
    modifiedBy: row.modified_by,
  };
}

/** A message is read by people: it names the first of many warnings. */
const warningsMax = 5;

/** What is allowed and probably not meant, as the end of a message. */
export function warningText(warnings: readonly PlanProblem[]): string {
  if (warnings.length === 0) return '';
  const told = warnings.slice(0, warningsMax).map(({ code, tariffCode, ...warning }) => {
    const place = warning.position === null ? '' : ` at ${warning.position}`;
    const where = tariffCode === null ? '' : ` tariff.${warning.field}${place}:`;
    return `${code}:${where} ${warning.message}`;
  });
  const more = warnings.length - told.length;
  return `. ${told.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}
