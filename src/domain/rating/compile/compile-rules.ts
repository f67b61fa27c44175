// The component rules of a plan: formulas bound and compiled, SUPER() chained to inherited rules.
import { checkFormula } from '../../../base/formula/check.ts';
import { compileBoolean, compileNumber } from '../../../base/formula/compile.ts';
import type { Of } from '../../../base/formula/function-kinds.ts';
import type { FormulaNode, NameNode } from '../../../base/formula/syntax.ts';
import { walk } from '../../../base/formula/walk.ts';
import { type Exact, multiply, one, zero } from '../../../base/numbers/exact.ts';
import { formulaProblems, type PlanProblem } from '../check/plan-problem.ts';
import type { OwnedRule } from '../definitions/inheritance.ts';
import { charge, stepsOf } from '../rate/budget.ts';
import { type Binding, makeBinder } from './bind-names.ts';
import { type CompiledBasis, compileBasis } from './compile-basis.ts';
import type { CompiledComponent, CompiledContext } from './compiled-context.ts';
import type { Frame } from './formula-frame.ts';
import { type FormulaPlace, makeScope } from './name-scope.ts';

export type CompiledRule = {
  readonly component: CompiledComponent;
  readonly owned: OwnedRule;
  readonly scope: 'Segment' | 'Term' | 'Late';
  readonly window: 'Current' | 'Previous';
  readonly isProrated: boolean;
  readonly from: number;
  readonly to: number;
  readonly when: Of<Frame, boolean> | null;
  readonly formula: Of<Frame, Exact>;
  readonly text: string;
  readonly whenText: string | null;
  readonly quantity: Of<Frame, Exact> | null;
  readonly rate: Of<Frame, Exact> | null;
  readonly unit: string | null;
  readonly basis: CompiledBasis | null;
  /** Steps of its own formulas, without those of inherited rules. */
  readonly steps: number;
  /** All trees of the rule, those of inherited rules it calls included. */
  readonly nodes: readonly FormulaNode[];
  readonly unitWarnings: readonly { position: number; message: string }[];
};

type RuleCompilation = {
  readonly context: CompiledContext;
  readonly traced: boolean;
  readonly problems: PlanProblem[];
};

/** The rules that apply to one component: those of the nearest plan that has any. */
export function compileRules(
  component: CompiledComponent,
  levels: readonly (readonly OwnedRule[])[],
  compilation: RuleCompilation,
): CompiledRule[] {
  const rules: CompiledRule[] = [];
  const inherited = inheritedRules(component, levels.slice(1), compilation);
  for (const owned of levels[0] ?? []) {
    if (owned.item.exclude === 1) continue;
    const rule = compileRule(component, owned, inherited, compilation);
    if (rule !== null) rules.push(rule);
  }
  return rules;
}

/** The rules that SUPER() means: compiled once for all rules of the level above. */
type Inherited = {
  readonly exists: boolean;
  rules(): readonly CompiledRule[];
  /** All their trees, each once. */
  nodes(): readonly FormulaNode[];
};

function inheritedRules(
  component: CompiledComponent,
  levels: readonly (readonly OwnedRule[])[],
  compilation: RuleCompilation,
): Inherited {
  let rules: CompiledRule[] | undefined;
  let nodes: FormulaNode[] | undefined;
  const inherited: Inherited = {
    exists: levels.length > 0,
    // Mistakes in a parent's formula are reported for the parent.
    rules: () => {
      rules ??= compileRules(component, levels, { ...compilation, problems: [] });
      return rules;
    },
    nodes: () => {
      nodes ??= [...new Set(inherited.rules().flatMap((rule) => rule.nodes))];
      return nodes;
    },
  };
  return inherited;
}

function compileRule(
  component: CompiledComponent,
  owned: OwnedRule,
  inherited: Inherited,
  compilation: RuleCompilation,
): CompiledRule | null {
  const { item } = owned;
  const nodes: FormulaNode[] = [];
  const scope = component.isLate ? 'Late' : item.scope === 'Term' ? 'Term' : 'Segment';
  const parts = { owned, scope, inherited, compilation, nodes } as const;
  const main = compileRuleFormula({ ...parts, key: 'formula', kind: 'number' });
  const when = compileRuleFormula({ ...parts, key: 'when', kind: 'boolean' });
  const quantity = compileRuleFormula({ ...parts, key: 'quantity', kind: 'number' });
  const rate = compileRuleFormula({ ...parts, key: 'rate', kind: 'number' });
  if (main === null) return null;
  const own = quantity === null ? soleQuantity(main.node, compilation.context) : null;
  return {
    component,
    owned,
    scope,
    window: item.window === 'Previous' ? 'Previous' : 'Current',
    isProrated: item.prorate === 'Days',
    from: owned.from,
    to: owned.to,
    when: when === null ? null : (when.closure as Of<Frame, boolean>),
    formula: main.closure as Of<Frame, Exact>,
    text: String(item.formula),
    whenText: when === null ? null : String(item.when),
    quantity: (quantity?.closure as Of<Frame, Exact> | undefined) ?? own?.closure ?? null,
    rate: (rate?.closure as Of<Frame, Exact> | undefined) ?? null,
    unit: own?.unit ?? null,
    basis: basisOf(main.node, compilation.context),
    steps: [main, when, quantity, rate].reduce((sum, part) => sum + (part?.steps ?? 0), 0),
    nodes: nodes.some(callsSuper) ? [...new Set([...nodes, ...inherited.nodes()])] : nodes,
    unitWarnings: main.unitWarnings,
  };
}

type FormulaRequest = {
  readonly owned: OwnedRule;
  readonly scope: CompiledRule['scope'];
  readonly inherited: Inherited;
  readonly compilation: RuleCompilation;
  readonly nodes: FormulaNode[];
  readonly key: 'formula' | 'when' | 'quantity' | 'rate';
  readonly kind: 'number' | 'boolean';
};

type CompiledFormula = {
  readonly closure: Of<Frame, Exact> | Of<Frame, boolean>;
  readonly node: FormulaNode;
  readonly steps: number;
  readonly unitWarnings: readonly { position: number; message: string }[];
};

function compileRuleFormula(request: FormulaRequest): CompiledFormula | null {
  const { owned, compilation, key, kind, inherited } = request;
  const given = owned.item[key];
  const tariffCode = owned.plan.definition.code;
  const field = `componentRules[${owned.index}].${key}`;
  if (given === null || given === undefined) {
    if (key === 'formula') {
      const message = `the rule for \`${owned.item.component}\` has no formula`;
      compilation.problems.push({
        code: 'REQUIRED_FIELD',
        tariffCode,
        field,
        position: null,
        message,
      });
    }
    return null;
  }
  const text = String(given);
  const place: FormulaPlace = request.scope;
  const scope = makeScope(compilation.context.names, place, {
    hasInherited: inherited.exists,
  });
  const checked = checkFormula(text, scope, kind);
  compilation.problems.push(...formulaProblems({ tariffCode, field }, checked.problems));
  if (checked.node === null || checked.problems.length > 0) return null;
  request.nodes.push(checked.node);
  const binder = makeBinder(bindingOf(request, checked.node, text));
  const closure =
    kind === 'number' ? compileNumber(checked.node, binder) : compileBoolean(checked.node, binder);
  const { node, unitWarnings } = checked;
  return { closure, node, steps: stepsOf(node), unitWarnings };
}

function bindingOf(request: FormulaRequest, node: FormulaNode, text: string): Binding {
  const { compilation, key } = request;
  const isPrinted = key === 'quantity' || key === 'rate';
  return {
    slots: compilation.context.slots,
    categories: compilation.context.categories,
    inherited: callsSuper(node) ? inheritedAmount(request.inherited.rules()) : null,
    traced: compilation.traced && !isPrinted ? text : null,
    withSlabs: key === 'formula',
  };
}

function callsSuper(node: FormulaNode): boolean {
  let found = false;
  walk(node, (part) => {
    if (part.kind === 'call' && part.name === 'SUPER') found = true;
  });
  return found;
}

/** Exact and unrounded: the line is rounded once, by the rule that makes it. */
function inheritedAmount(rules: readonly CompiledRule[]): Of<Frame, Exact> {
  return (frame) => {
    for (const rule of rules) {
      if (rule.from > frame.day || frame.day > rule.to) continue;
      charge(frame.shared.spent, rule.steps);
      return ruleAmount(rule, frame) ?? zero;
    }
    return zero;
  };
}

/** The exact amount of a rule in a frame; null where its condition does not hold. */
export function ruleAmount(rule: CompiledRule, frame: Frame): Exact | null {
  if (rule.when !== null && !rule.when(frame)) return null;
  const amount = rule.formula(frame);
  return rule.isProrated && frame.factor !== one ? multiply(amount, frame.factor) : amount;
}

function basisOf(node: FormulaNode, context: CompiledContext): CompiledBasis | null {
  const { slots, categories } = context;
  const binding = { slots, categories, inherited: null, traced: null, withSlabs: false };
  return compileBasis(node, context, (part) => compileNumber(part, makeBinder(binding)));
}

/** Printed where the rule names no quantity: the only usage or quantity its formula reads. */
function soleQuantity(
  node: FormulaNode,
  context: CompiledContext,
): { closure: Of<Frame, Exact>; unit: string | null } | null {
  let found: NameNode | null = null;
  let isSole = true;
  walk(node, (part) => {
    if (part.kind !== 'name' || (part.space !== 'usage' && part.space !== 'qty')) return;
    if (found === null) found = part;
    else if (found.space !== part.space || found.id !== part.id) isSole = false;
  });
  const name = found as NameNode | null;
  if (name === null || !isSole) return null;
  const slot = context.slots.inputs.get(name.id) as number;
  const unit = context.metered[slot]?.unit ?? context.unmetered[slot]?.unit ?? null;
  const isUsage = name.space === 'usage';
  return { closure: (frame) => (isUsage ? frame.usage : frame.quantities)[slot] ?? zero, unit };
}
