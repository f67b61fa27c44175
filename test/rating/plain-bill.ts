// Rates a bill the plain way: day by day, definitions read as they are, formulas interpreted. Slow
// and short; the tests and the benchmark hold the price book against it. One base plan history, no
// add-ons, no earlier terms.
import { parseFormula } from '../../src/base/formula/parse.ts';
import type { FormulaNode } from '../../src/base/formula/syntax.ts';
import type {
  ComponentRule,
  ContextDefinition,
  PlanDefinition,
  Rows,
  ValueDefinition,
} from '../../src/domain/rating/definitions/definitions.ts';
import type { FrozenInputs } from '../../src/domain/rating/frozen-inputs.ts';
import {
  dayOf,
  effectiveRules,
  type Item,
  itemOn,
  planOn,
  quantityOn,
  type Rater,
  segmentsOf,
} from './plain-history.ts';
import { interpret, type PlainTable, type PlainValue } from './plain-interpreter.ts';
import {
  nought,
  over,
  type Plain,
  PlainError,
  parsePlain,
  plainOf,
  plus,
  roundPlain,
  times,
  unit,
  wholeOf,
} from './plain-number.ts';

type PlainLine = { component: string; from: number; to: number; amount: bigint };
export type PlainBill = {
  lines: PlainLine[];
  currentCharges: bigint;
  payable: bigint;
  late: bigint;
  segments: { from: number; to: number }[];
};

const knownOf = new WeakMap<readonly PlanDefinition[], Pick<Rater, 'rules' | 'used'>>();
export function plainBill(
  context: ContextDefinition,
  plans: readonly PlanDefinition[],
  facts: FrozenInputs,
): PlainBill {
  const start = dayOf(facts.term.startDate);
  const end = dayOf(facts.term.endDate);
  // What depends on the definitions alone is worked out once for each set of them.
  let known = knownOf.get(plans);
  if (known === undefined) {
    known = { rules: new Map(), used: new Map() };
    knownOf.set(plans, known);
  }
  const rater: Rater = {
    ...known,
    context,
    plans: new Map(plans.map((plan) => [plan.code, plan])),
    facts,
    start,
    end,
    days: [],
    usage: new Map(),
  };
  for (let day = start; day <= end; day++) if (isActive(rater, day)) rater.days.push(day);
  readUsage(rater);
  return rate(rater);
}

function isActive(rater: Rater, day: number): boolean {
  const { connectionDate, disconnectDate } = rater.facts.connection ?? {};
  const from = typeof connectionDate === 'string' ? dayOf(connectionDate) : day;
  const to = typeof disconnectDate === 'string' ? dayOf(disconnectDate) : day + 1;
  return from <= day && day < to;
}

function readUsage(rater: Rater): void {
  for (const [name, quantity] of Object.entries(rater.facts.uploadedUsage ?? {})) {
    rater.usage.set(name, parsePlain(quantity as string));
  }
  for (const meter of rater.facts.meters ?? []) {
    let use = minusText(meter.current?.value, meter.previous?.value);
    if (use.n < 0n) use = plus(use, wholeOf(10n ** BigInt(meter.digits ?? 6)));
    const own = times(use, parsePlain(String(meter.mf ?? 1)));
    rater.usage.set(meter.input, plus(rater.usage.get(meter.input) ?? nought, own));
  }
  for (const input of rater.context.meteredInputs ?? []) {
    const quantity = rater.usage.get(input.name);
    if (quantity === undefined || typeof input.decimals !== 'number') continue;
    rater.usage.set(input.name, roundPlain(quantity, input.decimals, 'HalfUp'));
  }
}

function minusText(a: string | undefined, b: string | undefined): Plain {
  return plus(parsePlain(a ?? '0'), times(wholeOf(-1n), parsePlain(b ?? '0')));
}

type View = {
  rater: Rater;
  /** null for the term. */
  segment: { from: number; to: number } | null;
  amounts: Map<string, Plain>;
  bill: Map<string, Plain>;
};

function rate(rater: Rater): PlainBill {
  const segments = segmentsOf(rater);
  const lines: PlainLine[] = [];
  const totals = new Map<string, Plain>();
  for (const segment of segments) {
    const view: View = { rater, segment, amounts: new Map(), bill: new Map() };
    const rules = effectiveRules(rater, planOn(rater, segment.from));
    const own = ordered(rater, rules, (rule, isLate) => !isLate && rule.scope !== 'Term');
    for (const rule of own) addLine(view, rule, segment, lines, totals);
  }
  const first = rater.days[0];
  const last = rater.days.at(-1);
  const late: PlainLine[] = [];
  const bill = new Map<string, Plain>();
  if (first !== undefined && last !== undefined) {
    const view: View = { rater, segment: null, amounts: totals, bill };
    const rules = effectiveRules(rater, planOn(rater, last));
    for (const rule of ordered(rater, rules, (one, isLate) => !isLate && one.scope === 'Term')) {
      addLine(view, rule, { from: first, to: last }, lines, totals);
    }
    const current = lines.reduce((sum, line) => sum + line.amount, 0n);
    bill.set('current', plainOf(current, power(rater)));
    for (const rule of ordered(rater, rules, (_, isLate) => isLate)) {
      addLine(view, rule, { from: first, to: last }, late, totals);
    }
  }
  return withTotals(rater, lines, late, segments);
}

function withTotals(
  rater: Rater,
  lines: PlainLine[],
  late: PlainLine[],
  segments: { from: number; to: number }[],
): PlainBill {
  const currentCharges = lines.reduce((sum, line) => sum + line.amount, 0n);
  const arrears = minor(rater, parsePlain(String(rater.facts.account?.arrears ?? 0)), null);
  const gross = currentCharges + arrears;
  const rounding = rater.context.billRounding ?? null;
  const payable = rounding === null ? gross : minor(rater, plainOf(gross, power(rater)), rounding);
  const surcharge = late.reduce((sum, line) => sum + line.amount, 0n);
  return { lines, currentCharges, payable: payable < 0n ? 0n : payable, late: surcharge, segments };
}

function scaleOf(rater: Rater): number {
  return rater.context.currencyScale ?? 2;
}

function power(rater: Rater): bigint {
  return 10n ** BigInt(scaleOf(rater));
}

function minor(rater: Rater, x: Plain, rounding: { scale: number; mode: string } | null): bigint {
  const { scale, mode } = rounding ?? { scale: scaleOf(rater), mode: 'HalfUp' };
  const units = times(roundPlain(x, scale, mode), wholeOf(power(rater)));
  return units.n / units.d;
}

/** Rules of one kind, each after those whose component it reads. */
function ordered(
  rater: Rater,
  rules: Map<string, ComponentRule>,
  wanted: (rule: ComponentRule, isLate: boolean) => boolean,
): ComponentRule[] {
  const isLate = (name: string) =>
    rater.context.components?.find((item) => item.name === name)?.type === 'LateSurcharge';
  const own = new Map([...rules].filter(([name, rule]) => wanted(rule, isLate(name))));
  const done = new Set<string>();
  const result: ComponentRule[] = [];
  const visit = (name: string) => {
    const rule = own.get(name);
    if (rule === undefined || done.has(name)) return;
    done.add(name);
    for (const other of readBy(rater, rule)) visit(other);
    result.push(rule);
  };
  for (const name of own.keys()) visit(name);
  return result;
}

function readBy(rater: Rater, rule: ComponentRule): string[] {
  const text = `${rule.formula} ${rule.when ?? ''}`;
  const named = [...text.matchAll(/comp\.(\w+)/g)].map((match) => match[1] as string);
  const categories = [...text.matchAll(/SUMCAT\("(\w+)"\)/g)].map((match) => match[1] as string);
  return [...named, ...categories.flatMap((category) => members(rater, category))];
}

function members(rater: Rater, category: string): string[] {
  return (rater.context.components ?? [])
    .filter((item) => item.categories?.includes(category) && item.type !== 'LateSurcharge')
    .map((item) => item.name);
}

function addLine(
  view: View,
  rule: ComponentRule,
  days: { from: number; to: number },
  lines: PlainLine[],
  totals: Map<string, Plain>,
): void {
  const { rater } = view;
  if (typeof rule.when === 'string' && interpretText(rule.when, view) !== true) return;
  let exact = interpretText(rule.formula ?? '0', view) as Plain;
  if (rule.prorate === 'Days') exact = times(exact, factorOf(view));
  const component = rater.context.components?.find((item) => item.name === rule.component);
  const amount = minor(rater, exact, component?.rounding ?? null);
  const value = plainOf(amount, power(rater));
  if (view.segment !== null) view.amounts.set(rule.component, value);
  totals.set(rule.component, plus(totals.get(rule.component) ?? nought, value));
  if (amount !== 0n) lines.push({ component: rule.component, ...days, amount });
}

const trees = new Map<string, FormulaNode>();

function interpretText(text: string, view: View): PlainValue {
  let tree = trees.get(text);
  if (tree === undefined) {
    tree = parseFormula(text).node as FormulaNode;
    trees.set(text, tree);
  }
  return interpret(tree, {
    name: (name) => nameIn(view, name),
    call: (name, args) => hostCall(view, name, args),
  });
}

function daysIn(view: View): number {
  return view.segment === null ? view.rater.days.length : view.segment.to - view.segment.from + 1;
}

function factorOf(view: View): Plain {
  const { start, end } = view.rater;
  return plainOf(BigInt(daysIn(view)), BigInt(end - start + 1));
}

function nameIn(view: View, name: string): PlainValue {
  const { rater } = view;
  const [space, id] = name.includes('.') ? (name.split('.') as [string, string]) : ['', name];
  const months = parsePlain(String(rater.facts.term.months ?? 1));
  switch (space) {
    case '':
      return valueIn(view, id);
    case 'usage': {
      const share = plainOf(BigInt(daysIn(view)), BigInt(rater.days.length));
      return times(rater.usage.get(id) ?? nought, share);
    }
    case 'qty':
      return quantityIn(view, id);
    case 'input':
      return fieldOf(rater, id);
    case 'comp':
      return view.amounts.get(id) ?? nought;
    case 'segment':
      if (id === 'days') return wholeOf(BigInt(daysIn(view)));
      if (id === 'quantity') return unit;
      return id === 'factor' ? factorOf(view) : times(factorOf(view), months);
    case 'term':
      return id === 'days' ? wholeOf(BigInt(rater.end - rater.start + 1)) : months;
    case 'connection':
      return rater.facts.connection?.isFirstBill === true;
    case 'bill':
      return view.bill.get(id) ?? nought;
    default: {
      const account = new Map(Object.entries(rater.facts.account ?? {}));
      return parsePlain(String(account.get(id) ?? 0));
    }
  }
}

function valueIn(view: View, name: string): PlainValue {
  const { rater, segment } = view;
  const value = rater.context.values?.find((item) => item.name === name) as ValueDefinition;
  const days = daysOfPlan(view);
  const first = days[0] as number;
  const last = days.at(-1) as number;
  const on = (day: number) => itemValue(view, value, itemOn(rater, planOn(rater, day), value, day));
  switch (value.changeInTerm) {
    case 'Split':
      return on(segment === null ? last : segment.from);
    case 'Start':
      return on(first);
    case 'Weighted': {
      const sum = days.map((day) => on(day) as Plain).reduce(plus);
      return over(sum, wholeOf(BigInt(days.length)));
    }
    default:
      return on(last);
  }
}

/** Days over which values are read: of a segment those of its plan, of the term all. */
function daysOfPlan({ rater, segment }: View): number[] {
  if (segment === null) return rater.days;
  const code = planOn(rater, segment.from);
  return rater.days.filter((day) => planOn(rater, day) === code);
}

function itemValue(view: View, value: ValueDefinition, item: Item | null): PlainValue {
  if (item === null) throw new PlainError('VALUE_UNDEFINED');
  if (item.rows !== null) return tableOf(value, item.rows);
  return interpretText(item.formula ?? '', view);
}

function tableOf(value: ValueDefinition, rows: Rows): PlainTable {
  const [key, ...columns] = value.columns ?? [];
  return {
    rows: rows.map((row) => ({
      key: row[key as string] ?? null,
      cells: Object.fromEntries(columns.map((name) => [name, parsePlain(row[name] ?? '0')])),
    })),
  };
}

function quantityIn(view: View, name: string): Plain {
  const { rater, segment } = view;
  const input = rater.context.unmeteredInputs?.find((item) => item.name === name);
  const last = rater.days.at(-1) as number;
  if (input?.changeInTerm === 'End') return quantityOn(rater, name, last);
  if (input?.changeInTerm !== 'Weighted') {
    return quantityOn(rater, name, segment === null ? last : segment.from);
  }
  const sum = rater.days.map((day) => quantityOn(rater, name, day)).reduce(plus);
  return over(sum, wholeOf(BigInt(rater.days.length)));
}

function fieldOf(rater: Rater, name: string): PlainValue {
  const given = rater.facts.connection?.connectionInputs?.find((input) => input.name === name);
  const type = rater.context.connectionInputs?.find((input) => input.name === name)?.type;
  if (given === undefined) throw new PlainError('INPUT_MISSING');
  return type === 'Number' ? parsePlain(given.value) : given.value;
}

function hostCall(view: View, name: string, args: PlainValue[]): PlainValue {
  if (name === 'SUMCAT') {
    const slots = members(view.rater, args[0] as string);
    return slots.map((slot) => view.amounts.get(slot) ?? nought).reduce(plus, nought);
  }
  const history = new Map(Object.entries(view.rater.facts.usageHistory ?? {}));
  const terms = history.get(args[0] as string) ?? [];
  const count = Number((args[1] as Plain).n);
  if (name === 'HIST') return parsePlain(terms[count - 1]?.quantity ?? '0');
  throw new Error(`${name} is not known here`);
}
