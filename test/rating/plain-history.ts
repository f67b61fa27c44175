// The plain way through time: which plan, value and quantity hold on a day, and where a term is
// cut.
import type {
  ComponentRule,
  ContextDefinition,
  PlanDefinition,
  Rows,
  ValueDefinition,
} from '../../src/domain/rating/definitions/definitions.ts';
import type { FrozenInputs } from '../../src/domain/rating/frozen-inputs.ts';
import { nought, type Plain, parsePlain } from './plain-number.ts';

/** `id` tells items apart that say the same: a new item is a change even at the same price. */
export type Item = { id: string; formula: string | null; rows: Rows | null };
export type Rater = {
  rules: Map<string, Map<string, ComponentRule>>;
  used: Map<string, ValueDefinition[]>;
  context: ContextDefinition;
  plans: Map<string, PlanDefinition>;
  facts: FrozenInputs;
  start: number;
  end: number;
  days: number[];
  usage: Map<string, Plain>;
};

const dayCache = new Map<string, number>();

export function dayOf(text: string): number {
  let day = dayCache.get(text);
  if (day === undefined) {
    const [date, month, year] = text.split('/').map(Number) as [number, number, number];
    day = Math.round(Date.UTC(year, month - 1, date) / 86_400_000);
    dayCache.set(text, day);
  }
  return day;
}

export function planOn(rater: Rater, day: number): string {
  const entries = (rater.facts.connection?.tariffHistory ?? [])
    .map((entry) => ({ code: entry.tariffCode, from: dayOf(entry.fromDate) }))
    .filter((entry) => entry.from <= day)
    .sort((a, b) => a.from - b.from);
  return entries.at(-1)?.code ?? rater.facts.tariffCode ?? '';
}

function chain(rater: Rater, code: string): PlanDefinition[] {
  const plan = rater.plans.get(code);
  if (plan === undefined) return [];
  return [plan, ...(plan.parentTariffCode ? chain(rater, plan.parentTariffCode) : [])];
}

function holds(item: { fromDate?: string | null; toDate?: string | null }, day: number): boolean {
  const isAfter = typeof item.fromDate !== 'string' || dayOf(item.fromDate) <= day;
  return isAfter && (typeof item.toDate !== 'string' || day <= dayOf(item.toDate));
}

export function itemOn(
  rater: Rater,
  code: string,
  value: ValueDefinition,
  day: number,
): Item | null {
  const variants = (rater.facts.connection?.variants ?? []).filter(
    (variant) => variant.name === value.name && holds(variant, day),
  );
  const first = variants[0];
  if (first !== undefined) {
    return { id: `variant ${first.fromDate}`, formula: String(first.value), rows: null };
  }
  for (const plan of chain(rater, code)) {
    for (const item of plan.valueFormulas ?? []) {
      if (item.name !== value.name || !holds(item, day)) continue;
      const id = `${plan.code} ${item.fromDate}`;
      return { id, formula: item.formula ?? null, rows: item.rows ?? null };
    }
  }
  const given = value.default;
  if (given === null || given === undefined) return null;
  if (Array.isArray(given)) return { id: 'default', formula: null, rows: given as Rows };
  return { id: 'default', formula: String(given), rows: null };
}

export function quantityOn(rater: Rater, name: string, day: number): Plain {
  const steps = (rater.facts.connection?.unmeteredInputs ?? [])
    .filter((entry) => entry.name === name)
    .map((entry) => ({
      value: String(entry.value),
      from: entry.fromDate ? dayOf(entry.fromDate) : 0,
    }))
    .filter((entry) => entry.from <= day)
    .sort((a, b) => a.from - b.from);
  const last = steps.at(-1);
  return last === undefined ? nought : parsePlain(last.value);
}

/**
 * Everything that cuts a term, on one day, as text: a cut is where it differs from the day before.
 */
function stateOn(rater: Rater, day: number): string {
  const code = planOn(rater, day);
  const values = usedValues(rater, code).filter((value) => value.changeInTerm === 'Split');
  const items = values.map((value) => itemOn(rater, code, value, day));
  const quantities = (rater.context.unmeteredInputs ?? [])
    .filter((input) => input.source !== 'Uploaded' && (input.changeInTerm ?? 'Split') === 'Split')
    .filter((input) => mentions(rater, code, `qty.${input.name}`))
    .map((input) => stepStart(rater, input.name, day));
  const transfers = (rater.facts.connection?.transfers ?? []).filter(
    (transfer) => dayOf(transfer.transferDate) <= day,
  );
  return JSON.stringify([code, items, quantities, transfers.length]);
}

function stepStart(rater: Rater, name: string, day: number): number {
  const days = (rater.facts.connection?.unmeteredInputs ?? [])
    .filter((entry) => entry.name === name)
    .map((entry) => (entry.fromDate ? dayOf(entry.fromDate) : 0))
    .filter((from) => from <= day);
  return Math.max(-1, ...days);
}

function formulasOf(rater: Rater, code: string): string[] {
  const rules = [...effectiveRules(rater, code).values()];
  return rules.flatMap((rule) => [rule.formula ?? '', rule.when ?? '']);
}

function mentions(rater: Rater, code: string, name: string): boolean {
  const pattern = new RegExp(`(^|[^A-Za-z0-9_.])${name.replace('.', '\\.')}([^A-Za-z0-9_.]|$)`);
  return formulasOf(rater, code).some((formula) => pattern.test(formula));
}

/** Values that a rule names; those named only by other values are not looked for. */
function usedValues(rater: Rater, code: string): ValueDefinition[] {
  let used = rater.used.get(code);
  if (used === undefined) {
    used = (rater.context.values ?? []).filter((value) => mentions(rater, code, value.name));
    rater.used.set(code, used);
  }
  return used;
}

export function effectiveRules(rater: Rater, code: string): Map<string, ComponentRule> {
  const known = rater.rules.get(code);
  if (known !== undefined) return known;
  const rules = new Map<string, ComponentRule>();
  rater.rules.set(code, rules);
  for (const plan of chain(rater, code)) {
    for (const rule of plan.componentRules ?? []) {
      if (!rules.has(rule.component)) rules.set(rule.component, rule);
    }
  }
  for (const [name, rule] of rules) if (rule.exclude === 1) rules.delete(name);
  return rules;
}

/** Days on which something begins or has ended, wherever a date is written. */
function datedDays(rater: Rater): Set<number> {
  const { tariffHistory, variants, unmeteredInputs, transfers } = rater.facts.connection ?? {};
  const items = [...rater.plans.values()].flatMap((plan) => plan.valueFormulas ?? []);
  const dated = [
    ...items,
    ...(tariffHistory ?? []),
    ...(variants ?? []),
    ...(unmeteredInputs ?? []),
  ];
  const days = new Set<number>();
  for (const item of dated as { fromDate?: string | null; toDate?: string | null }[]) {
    if (typeof item.fromDate === 'string') days.add(dayOf(item.fromDate));
    if (typeof item.toDate === 'string') days.add(dayOf(item.toDate) + 1);
  }
  for (const transfer of transfers ?? []) days.add(dayOf(transfer.transferDate));
  return days;
}

export function segmentsOf(rater: Rater): { from: number; to: number }[] {
  const segments: { from: number; to: number }[] = [];
  const dated = datedDays(rater);
  let state = '';
  for (const day of rater.days) {
    const now = state === '' || dated.has(day) ? stateOn(rater, day) : state;
    const last = segments.at(-1);
    if (last !== undefined && last.to === day - 1 && now === state) last.to = day;
    else segments.push({ from: day, to: day });
    state = now;
  }
  return segments;
}
