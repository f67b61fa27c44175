// What is wrong with the plans of a context: everything at once, for all plans, so that saving a
// parent finds the descendants it would break.

import { lastDay } from '../../../base/days.ts';
import type { FormulaNode } from '../../../base/formula/syntax.ts';
import { walk } from '../../../base/formula/walk.ts';
import type { CompiledRule } from '../compile/compile-rules.ts';
import { compileValue } from '../compile/compile-values.ts';
import type { CompiledContext } from '../compile/compiled-context.ts';
import { type CompiledPlan, componentsRead } from '../compile/compiled-plan.ts';
import {
  chainOn,
  compiledPlanOn,
  compilePriceBook,
  contextOn,
  type Definitions,
  type PriceBook,
  singleVersion,
} from '../compile/price-book.ts';
import { componentNames, cycleOf } from '../compile/schedule.ts';
import type { ContextDefinition, PlanDefinition } from '../definitions/definitions.ts';
import { checkSecurityAttributes } from '../rate/security-deposit.ts';
import { checkContext } from './check-context.ts';
import { checkItems } from './check-items.ts';
import { checkSize } from './check-size.ts';
import { type PlanProblem, withoutRepeats } from './plan-problem.ts';
import { valueCycles } from './value-cycles.ts';
import { contextWarnings, planWarnings } from './warnings.ts';

export type CheckResult = {
  readonly errors: readonly PlanProblem[];
  readonly warnings: readonly PlanProblem[];
};

/** Checks a context with all its plans. */
export function checkPlans(
  context: ContextDefinition,
  plans: readonly PlanDefinition[],
): CheckResult {
  return checkDefinitions(singleVersion(context, plans));
}

/** Checks the newest version of everything. */
function checkDefinitions(definitions: Definitions): CheckResult {
  const errors: PlanProblem[] = [];
  for (const { definition } of definitions.contexts) {
    errors.push(...checkSize(definition, []), ...checkContext(definition));
  }
  if (errors.length > 0) return { errors, warnings: [] };
  const book = compilePriceBook(definitions);
  for (const { item } of book.contexts) errors.push(...checkDefaults(item));
  const warnings: PlanProblem[] = [];
  const compiledPlans: CompiledPlan[] = [];
  for (const code of [...book.plans.keys()].sort()) {
    const compiledPlan = checkPlan(book, code, errors);
    if (compiledPlan === null) continue;
    compiledPlans.push(compiledPlan);
    warnings.push(...planWarnings(compiledPlan));
  }
  if (errors.length === 0) {
    errors.push(...checkAddOns(compiledPlans));
    warnings.push(...contextWarnings(compiledPlans));
  }
  return { errors: withoutRepeats(errors), warnings: withoutRepeats(warnings) };
}

/** Defaults of values, which a context may have before it has any plan. */
function checkDefaults(context: CompiledContext): PlanProblem[] {
  const problems: PlanProblem[] = [];
  const values = context.values.map((definition) =>
    definition === undefined
      ? undefined
      : compileValue(definition, [], [], { context, traced: false, problems }),
  );
  return [...problems, ...valueCycles(values, context, null)];
}

function checkPlan(book: PriceBook, code: string, errors: PlanProblem[]): CompiledPlan | null {
  const { chain, problem } = chainOn(book, code, lastDay);
  if (problem !== null) {
    const field = 'parentTariffCode';
    errors.push({
      code: problem.code,
      tariffCode: code,
      field,
      position: null,
      message: problem.message,
    });
    return null;
  }
  const definition = chain[0]?.definition as PlanDefinition;
  const context = contextOn(book, lastDay);
  const tooLarge = checkSize(
    context.definition,
    chain.map((plan) => plan.definition),
  );
  errors.push(...tooLarge);
  if (tooLarge.length > 0) return null;
  errors.push(...checkItems(definition, context));
  const compiledPlan = compiledPlanOn(book, code, lastDay);
  errors.push(...compiledPlan.problems);
  errors.push(...checkSecurityAttributes(definition, compiledPlan.context));
  // What follows would only repeat mistakes already found.
  if (compiledPlan.problems.length > 0) return compiledPlan;
  errors.push(...checkScopes(compiledPlan), ...checkCycles(compiledPlan));
  errors.push(...valueCycles(compiledPlan.values, compiledPlan.context, compiledPlan.code));
  if (!compiledPlan.isAbstract) errors.push(...checkDefined(compiledPlan));
  return compiledPlan;
}

/** A Segment rule cannot read what is computed after all segments. */
function checkScopes(compiledPlan: CompiledPlan): PlanProblem[] {
  const problems: PlanProblem[] = [];
  for (const rule of compiledPlan.segmentRules) {
    for (const node of rule.nodes) {
      walk(node, (part) => {
        if (part.kind !== 'call' && part.kind !== 'name') return;
        const late = ownComponents(part, compiledPlan).find(
          (slot) => !isReadable(compiledPlan, rule, slot),
        );
        if (late === undefined) return;
        const name = compiledPlan.context.components[late]?.definition.name;
        const message = `a Segment rule cannot read \`${name}\`, a component of the term`;
        problems.push(ruleProblem(rule, 'FORMULA_SCOPE', part.from, message));
      });
    }
  }
  return problems;
}

function ownComponents(part: FormulaNode, compiledPlan: CompiledPlan): number[] {
  if (part.kind === 'name')
    return part.space === 'comp' ? componentsRead(part, compiledPlan.context) : [];
  return part.kind === 'call' && part.name === 'SUMCAT'
    ? componentsRead(part, compiledPlan.context)
    : [];
}

function isReadable(compiledPlan: CompiledPlan, reader: CompiledRule, slot: number): boolean {
  const isTerm = compiledPlan.termRules.some((rule) => rule.component.slot === slot);
  const isOther = compiledPlan.segmentRules.some(
    (rule) => rule.component.slot === slot && rule.window !== reader.window,
  );
  return !isTerm && !isOther;
}

function checkCycles(compiledPlan: CompiledPlan): PlanProblem[] {
  const cycle = compiledPlan.cycle;
  if (cycle === null) return [];
  const rules = [
    ...compiledPlan.segmentRules,
    ...compiledPlan.termRules,
    ...compiledPlan.lateRules,
  ];
  const names = [...cycle, cycle[0] as number].map(
    (slot) => compiledPlan.context.components[slot]?.definition.name ?? '',
  );
  const message = `components refer to each other: ${names.join(' -> ')}`;
  return cycleProblem(rules, cycle, compiledPlan, message);
}

/** Reported at one rule of the circle: that of the plan itself if it has one. */
function cycleProblem(
  rules: readonly CompiledRule[],
  cycle: readonly number[],
  compiledPlan: CompiledPlan,
  message: string,
): PlanProblem[] {
  const inCycle = rules.filter((rule) => cycle.includes(rule.component.slot));
  const own = inCycle.find((rule) => rule.owned.plan.definition.code === compiledPlan.code);
  const rule = own ?? inCycle[0];
  if (rule === undefined) return [];
  const position = positionOf(rule, cycle, compiledPlan);
  return [ruleProblem(rule, 'FORMULA_CYCLE', position, message)];
}

/** Where a rule first names a component of the circle. */
function positionOf(
  rule: CompiledRule,
  cycle: readonly number[],
  compiledPlan: CompiledPlan,
): number {
  const positions: number[] = [];
  const root = rule.nodes[0];
  if (root === undefined) return 0;
  walk(root, (part) => {
    if (ownComponents(part, compiledPlan).some((slot) => cycle.includes(slot))) {
      positions.push(part.from);
    }
  });
  return positions.length === 0 ? 0 : Math.min(...positions);
}

/** An add-on on the same bill must not close a circle with the base plan. */
function checkAddOns(compiledPlans: readonly CompiledPlan[]): PlanProblem[] {
  const isAddOn = (compiledPlan: CompiledPlan) =>
    compiledPlan.chain[0]?.definition.planType === 'ADDON_PLAN';
  const concrete = compiledPlans.filter((compiledPlan) => !compiledPlan.isAbstract);
  const problems: PlanProblem[] = [];
  for (const addOn of concrete.filter(
    (compiledPlan) => isAddOn(compiledPlan) && compiledPlan.termRules.length > 0,
  )) {
    for (const base of concrete.filter((compiledPlan) => !isAddOn(compiledPlan))) {
      const parts = [base, addOn].map((compiledPlan) => ({
        compiledPlan,
        window: 'Current' as const,
      }));
      const cycle = cycleOf(parts);
      if (cycle === null) continue;
      const names = componentNames(cycle, parts);
      const message = `with plan ${base.code} components refer to each other: ${names}`;
      problems.push(...cycleProblem(addOn.termRules, cycle, addOn, message));
    }
  }
  return problems;
}

/** Every value that some rule needs has a formula or a default. */
function checkDefined(compiledPlan: CompiledPlan): PlanProblem[] {
  const problems: PlanProblem[] = [];
  for (const slot of [...compiledPlan.usedValues].sort((a, b) => a - b)) {
    const value = compiledPlan.values[slot];
    if (value === undefined || value.pieces.length > 0) continue;
    const name = value.definition.name;
    const message = `plan ${compiledPlan.code} needs the value \`${name}\`, which has no price`;
    problems.push({
      code: 'VALUE_UNDEFINED',
      tariffCode: compiledPlan.code,
      field: 'valueFormulas',
      position: null,
      message,
    });
  }
  return problems;
}

function ruleProblem(
  rule: CompiledRule,
  code: string,
  position: number,
  message: string,
): PlanProblem {
  return {
    code,
    tariffCode: rule.owned.plan.definition.code,
    field: `componentRules[${rule.owned.index}].formula`,
    position,
    message,
  };
}
