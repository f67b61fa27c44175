// A compiled plan: one plan with its whole chain and context, in the versions that hold on some
// days, compiled. Rating reads compiled plans and nothing of the definitions behind them.
import { topologicalOrder } from '../../../base/formula/graph.ts';
import type { FormulaNode } from '../../../base/formula/syntax.ts';
import { walk } from '../../../base/formula/walk.ts';
import type { PlanProblem } from '../check/plan-problem.ts';
import { type Chain, rulesOf, usageItemsOf, valuesOf } from '../definitions/inheritance.ts';
import { type CompiledRule, compileRules } from './compile-rules.ts';
import { type CompiledValue, compileValue } from './compile-values.ts';
import type { CompiledContext } from './compiled-context.ts';
import type { ValueItem } from './formula-frame.ts';

export type CompiledPlan = {
  readonly id: number;
  readonly code: string;
  readonly label: string;
  readonly version: number;
  readonly isAbstract: boolean;
  readonly context: CompiledContext;
  readonly chain: Chain;
  readonly from: number;
  readonly to: number;
  /** By value slot. */
  readonly values: readonly (CompiledValue | undefined)[];
  readonly usedValues: ReadonlySet<number>;
  readonly splitValues: readonly number[];
  readonly splitInputs: readonly number[];
  /** In an order in which each rule comes after those it reads. */
  readonly segmentRules: readonly CompiledRule[];
  readonly termRules: readonly CompiledRule[];
  readonly lateRules: readonly CompiledRule[];
  /** Days on which a Segment rule begins or ends. */
  readonly ruleDays: readonly number[];
  /** Components each component reads, by slot. */
  readonly needs: readonly (readonly number[])[];
  readonly cycle: readonly number[] | null;
  readonly requiredInputs: readonly RequiredInput[];
  /** Components with a rule here that must be uploaded. */
  readonly requiredManual: readonly number[];
  readonly problems: readonly PlanProblem[];
  /** Value items by billed days, for bills without variants. */
  readonly itemsByDays: Map<number, readonly (ValueItem | undefined)[]>;
  readonly cutsByDays: Map<number, readonly number[]>;
  /** Those of the bill before, whose days are those of the next one too in nearly all cases. */
  lastItems: {
    readonly firstDay: number;
    readonly lastDay: number;
    readonly splitDay: number;
    readonly items: readonly (ValueItem | undefined)[];
  };
  lastCuts: { readonly from: number; readonly to: number; readonly cuts: readonly number[] };
  /** Orders of Term rules together with those of other compiled plans, by their ids. */
  readonly schedules: Map<string, Schedule>;
};

/** An input the plan cannot do without. */
export type RequiredInput = {
  readonly slot: number;
  readonly name: string;
  /** A quantity of the subscription, not of the term. */
  readonly isAgreed: boolean;
  /** Read only by rules over the term before. */
  readonly isPrevious: boolean;
};

/**
 * Term rules of several compiled plans in one order: each entry names the compiled plan by its
 * place.
 */
export type Schedule = readonly { readonly rule: CompiledRule; readonly of: number }[];

type CompileRequest = {
  readonly id: number;
  readonly chain: Chain;
  readonly context: CompiledContext;
  readonly from: number;
  readonly to: number;
  readonly traced: boolean;
};

export function compilePlan(request: CompileRequest): CompiledPlan {
  const { chain, context, traced } = request;
  const problems: PlanProblem[] = [];
  const compilation = { context, traced, problems };
  const values = compileValues(chain, compilation);
  const rules = compilePlanRules(chain, compilation);
  const usedValues = reachableValues(rules, values, context);
  const needs = componentNeeds(rules, context);
  const { order, cycle } = topologicalOrder(needs);
  const rank = new Map(order.map((slot, index) => [slot, index]));
  const sorted = [...rules].sort(
    (a, b) => (rank.get(a.component.slot) ?? 0) - (rank.get(b.component.slot) ?? 0),
  );
  const ofScope = (scope: CompiledRule['scope']) => sorted.filter((rule) => rule.scope === scope);
  const segmentRules = ofScope('Segment');
  const definition = (chain[0] as Chain[number]).definition;
  return {
    id: request.id,
    code: definition.code,
    label: definition.name ?? definition.code,
    version: (chain[0] as Chain[number]).version,
    isAbstract: definition.abstract === 1,
    context,
    chain,
    from: request.from,
    to: request.to,
    values,
    usedValues,
    splitValues: [...usedValues].filter((slot) => context.values[slot]?.changeInTerm === 'Split'),
    splitInputs: splitInputs(rules, values, usedValues, context),
    segmentRules,
    termRules: ofScope('Term'),
    lateRules: ofScope('Late'),
    ruleDays: segmentRules.flatMap((rule) => [rule.from, rule.to + 1]),
    needs,
    cycle,
    requiredInputs: requiredInputs(chain, rules, values, context),
    requiredManual: rules
      .filter((rule) => rule.component.definition.manual === 'Required')
      .map((rule) => rule.component.slot),
    problems,
    itemsByDays: new Map(),
    cutsByDays: new Map(),
    lastItems: { firstDay: 0, lastDay: -1, splitDay: 0, items: [] },
    lastCuts: { from: 0, to: -1, cuts: [] },
    schedules: new Map(),
  };
}

type Compilation = {
  readonly context: CompiledContext;
  readonly traced: boolean;
  readonly problems: PlanProblem[];
};

function compileValues(chain: Chain, compilation: Compilation): (CompiledValue | undefined)[] {
  const levels = valuesOf(chain);
  return compilation.context.values.map((definition) =>
    definition === undefined
      ? undefined
      : compileValue(definition, levels.get(definition.name) ?? [], chain, compilation),
  );
}

function compilePlanRules(chain: Chain, compilation: Compilation): CompiledRule[] {
  const levels = rulesOf(chain);
  return compilation.context.components.flatMap((component) =>
    component === undefined
      ? []
      : compileRules(component, levels.get(component.definition.name) ?? [], compilation),
  );
}

/** Values the rules read, directly or through other values. */
function reachableValues(
  rules: readonly CompiledRule[],
  values: readonly (CompiledValue | undefined)[],
  context: CompiledContext,
): Set<number> {
  const reached = new Set<number>();
  const open: FormulaNode[] = rules.flatMap((rule) => [...rule.nodes]);
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    walk(node, (part) => {
      if (part.kind !== 'name' || part.space !== null) return;
      const slot = context.slots.values.get(part.id);
      if (slot === undefined || reached.has(slot)) return;
      reached.add(slot);
      open.push(...(values[slot]?.nodes ?? []));
    });
  }
  return reached;
}

/** For each component the components its rules read. */
function componentNeeds(rules: readonly CompiledRule[], context: CompiledContext): number[][] {
  const needs: number[][] = context.components.map(() => []);
  for (const rule of rules) {
    const own = new Set(needs[rule.component.slot]);
    for (const node of rule.nodes) for (const slot of componentsRead(node, context)) own.add(slot);
    needs[rule.component.slot] = [...own].sort((a, b) => a - b);
  }
  return needs;
}

export function componentsRead(node: FormulaNode, context: CompiledContext): number[] {
  const slots: number[] = [];
  walk(node, (part) => {
    if (part.kind === 'name' && part.space === 'comp') {
      slots.push(context.slots.components.get(part.id) as number);
    } else if (part.kind === 'call' && part.name === 'SUMCAT' && part.args[0]?.kind === 'text') {
      slots.push(...(context.categories.get(part.args[0].value) ?? []));
    }
  });
  return slots;
}

function splitInputs(
  rules: readonly CompiledRule[],
  values: readonly (CompiledValue | undefined)[],
  usedValues: ReadonlySet<number>,
  context: CompiledContext,
): number[] {
  const nodes = rules.flatMap((rule) => rule.nodes);
  for (const slot of usedValues) nodes.push(...(values[slot]?.nodes ?? []));
  const slots = new Set<number>();
  for (const node of nodes) {
    walk(node, (part) => {
      if (part.kind !== 'name' || part.space !== 'qty') return;
      const slot = context.slots.inputs.get(part.id);
      if (slot === undefined) return;
      if ((context.unmetered[slot]?.changeInTerm ?? 'Split') === 'Split') slots.add(slot);
    });
  }
  return [...slots];
}

function requiredInputs(
  chain: Chain,
  rules: readonly CompiledRule[],
  values: readonly (CompiledValue | undefined)[],
  context: CompiledContext,
): RequiredInput[] {
  const isOf = (window: CompiledRule['window']) => (rule: CompiledRule) => rule.window === window;
  const current = inputsOf(rules.filter(isOf('Current')), values, context);
  const previous = inputsOf(rules.filter(isOf('Previous')), values, context);
  return usageItemsOf(chain).flatMap((item) => {
    const slot = context.slots.inputs.get(item.input);
    if (item.required !== 1 || slot === undefined) return [];
    const isAgreed = context.agreedInputs.some((input) => input.slot === slot);
    const isPrevious = previous.has(slot) && !current.has(slot);
    return [{ slot, name: item.input, isAgreed, isPrevious }];
  });
}

/** Inputs that the given rules read, directly or through values. */
function inputsOf(
  rules: readonly CompiledRule[],
  values: readonly (CompiledValue | undefined)[],
  context: CompiledContext,
): Set<number> {
  const nodes = rules.flatMap((rule) => rule.nodes);
  for (const slot of reachableValues(rules, values, context)) {
    nodes.push(...(values[slot]?.nodes ?? []));
  }
  const slots = new Set<number>();
  for (const node of nodes) {
    walk(node, (part) => {
      if (part.kind !== 'name' || (part.space !== 'usage' && part.space !== 'qty')) return;
      const slot = context.slots.inputs.get(part.id);
      if (slot !== undefined) slots.add(slot);
    });
  }
  return slots;
}
