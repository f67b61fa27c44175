// The imagined bill: one month of one subscription with quantities that the person types.
import type { Plan, Service, Trial } from '../../api/queries/plans.ts';
import { today } from '../../api/session.ts';
import { monthBefore, toWire } from '../../parts/days.ts';
import { headOf, type PlanDraft, pricingOf } from './plan-draft.ts';

export type ScenarioInputs = {
  /** 2026-11 */
  month: string;
  isFirstBill: boolean;
  /** By the name in formulas, such as `usage.energy`. */
  quantities: Record<string, string>;
};

export type ScenarioField = {
  name: string;
  label: string;
  unit: string | null;
  kind: 'Number' | 'Text' | 'Boolean' | 'Select' | 'Date';
  options: readonly string[];
};

export function fieldsOf(service: Service): ScenarioField[] {
  const number = { kind: 'Number' as const, options: [] };
  const metered = (service.meteredInputs ?? []).map(({ name, label, unit = null }) => {
    return { name: `usage.${name}`, label: label ?? name, unit, ...number };
  });
  const unmetered = (service.unmeteredInputs ?? []).map(({ name, label, unit = null, source }) => {
    const space = source === 'Uploaded' ? 'usage' : 'qty';
    return { name: `${space}.${name}`, label: label ?? name, unit, ...number };
  });
  const custom = (service.connectionInputs ?? []).map(({ name, label, type, options }) => ({
    name: `input.${name}`,
    label: label ?? name,
    unit: null,
    kind: type as ScenarioField['kind'],
    options: options ?? [],
  }));
  return [...metered, ...unmetered, ...custom];
}

/** Last month, and a quantity in each field, so that there is a bill to see at once. */
export function usualScenario(service: Service): ScenarioInputs {
  const quantities = fieldsOf(service).map(({ name, kind, options }) => [
    name,
    kind === 'Number' ? (name.startsWith('usage.') ? '100' : '1') : (options[0] ?? ''),
  ]);
  return {
    month: monthBefore(today()).start.slice(0, 7),
    isFirstBill: false,
    quantities: Object.fromEntries(quantities),
  };
}

export function scenarioOf(service: Service, inputs: ScenarioInputs): Trial['scenario'] {
  const { month, isFirstBill, quantities } = inputs;
  const [year = 2026, number = 1] = month.split('-').map(Number);
  const day = (date: number) => new Date(date).toISOString().slice(0, 10);
  const start = toWire(day(Date.UTC(year, number - 1, 1)));
  const end = toWire(day(Date.UTC(year, number, 0)));
  const before = toWire(day(Date.UTC(year, number - 1, 0)));
  const of = (space: string, name: string) => quantities[`${space}.${name}`] ?? '';
  const filled = <Named extends { name: string }>(space: string, items: readonly Named[]) =>
    items.flatMap((item) => {
      const value = of(space, item.name).trim();
      return value === '' ? [] : [{ item, value }];
    });
  const unmetered = service.unmeteredInputs ?? [];
  const uploaded = filled(
    'usage',
    unmetered.filter(({ source }) => source === 'Uploaded'),
  );
  const agreed = unmetered.filter(({ source }) => source !== 'Uploaded');
  return {
    term: { startDate: start, endDate: end },
    connection: {
      isFirstBill,
      connectionInputs: filled('input', service.connectionInputs ?? []).map(({ item, value }) => {
        return { name: item.name, value };
      }),
      unmeteredInputs: filled('qty', agreed).map(({ item, value }) => {
        return { name: item.name, value };
      }),
    },
    meters: filled('usage', service.meteredInputs ?? []).map(({ item, value }, index) => ({
      number: index + 1,
      input: item.name,
      ...(item.aggregation === 'Max' ? { kind: 'Demand' as const } : {}),
      previous: { date: before, value: '0' },
      current: { date: end, value },
    })),
    ...(uploaded.length > 0 && {
      uploadedUsage: Object.fromEntries(uploaded.map(({ item, value }) => [item.name, value])),
    }),
  };
}

/** The plan as it is typed, priced with the saved context and the other saved plans. */
export function trialOf(plan: Plan, draft: PlanDraft, scenario: Trial['scenario']): Trial {
  const { name, uniqueLabel, description, parentTariffCode } = headOf(draft);
  const sent = {
    code: plan.tariffCode,
    serviceCode: plan.serviceCode,
    planType: plan.planType as 'BASE_PLAN',
    chargeType: plan.chargeType,
    abstract: plan.abstract === 1 ? (1 as const) : (0 as const),
    ...{ name, uniqueLabel, description, parentTariffCode },
    ...pricingOf(draft),
    securityAttributes: plan.securityAttributes,
  };
  return {
    serviceCode: plan.serviceCode,
    tariffs: [sent],
    tariffCode: plan.tariffCode,
    scenario,
    explain: true,
  };
}
