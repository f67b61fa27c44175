// What is wrong with the plans of a context: everything at once, for all plans, so that saving a
// parent finds the descendants it would break.

import { firstDay, lastDay, parseDay } from '../../base/days.ts';
import type { FormulaNode } from '../../base/formula/syntax.ts';
import { walk } from '../../base/formula/walk.ts';
import { checkContext } from './check-context.ts';
import type { CompiledRule } from './compile-rules.ts';
import type { ContextDefinition, PlanDefinition } from './definitions.ts';
import { componentsRead, type Edition } from './edition.ts';
import { rulesOf, validity, valuesOf } from './inheritance.ts';
import { type PlanProblem, withoutRepeats } from './plan-problem.ts';
import {
  chainOn,
  compilePriceBook,
  type Definitions,
  editionOn,
  type PriceBook,
  singleVersion,
} from './price-book.ts';
import { checkSecurityAttributes } from './security.ts';
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
export function checkDefinitions(definitions: Definitions): CheckResult {
  const errors: PlanProblem[] = [];
  for (const version of definitions.contexts) errors.push(...checkContext(version.definition));
  if (errors.length > 0) return { errors, warnings: [] };
  const book = compilePriceBook(definitions);
  const warnings: PlanProblem[] = [];
  const editions: Edition[] = [];
  for (const code of [...book.plans.keys()].sort()) {
    const edition = checkPlan(book, code, errors);
    if (edition === null) continue;
    editions.push(edition);
    warnings.push(...planWarnings(edition));
  }
  if (errors.length === 0) warnings.push(...contextWarnings(editions));
  return { errors: withoutRepeats(errors), warnings: withoutRepeats(warnings) };
}

function checkPlan(book: PriceBook, code: string, errors: PlanProblem[]): Edition | null {
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
  errors.push(...checkItems(definition, book));
  const edition = editionOn(book, code, lastDay);
  errors.push(...edition.problems);
  errors.push(...checkSecurityAttributes(definition, edition.context));
  // What follows would only repeat mistakes already found.
  if (edition.problems.length > 0) return edition;
  errors.push(...checkScopes(edition), ...checkCycles(edition), ...checkValueCycles(edition));
  if (!edition.isAbstract) errors.push(...checkDefined(edition));
  return edition;
}

/** Names, dates and overlaps of a plan's own items. */
function checkItems(plan: PlanDefinition, book: PriceBook): PlanProblem[] {
  const problems: PlanProblem[] = [];
  const report = (code: string, field: string, message: string) => {
    problems.push({ code, tariffCode: plan.code, field, position: null, message });
  };
  const context = book.contexts[book.contexts.length - 1]?.item;
  for (const [index, item] of (plan.valueFormulas ?? []).entries()) {
    const field = `valueFormulas[${index}]`;
    checkDates(item, field, report);
    if (context?.names.values.has(item.name)) continue;
    report('FORMULA_UNKNOWN_NAME', `${field}.name`, `the context has no value \`${item.name}\``);
  }
  for (const [index, rule] of (plan.componentRules ?? []).entries()) {
    const field = `componentRules[${index}]`;
    checkDates(rule, field, report);
    if (context?.names.components.has(rule.component)) continue;
    const message = `the context has no component \`${rule.component}\``;
    report('FORMULA_UNKNOWN_NAME', `${field}.component`, message);
  }
  for (const [index, item] of (plan.usageData ?? []).entries()) {
    if (typeof item.input !== 'string' || context?.slots.inputs.has(item.input)) continue;
    const message = `the context has no input \`${item.input}\``;
    report('FORMULA_UNKNOWN_NAME', `usageData[${index}].input`, message);
  }
  checkOverlaps(plan, report);
  return problems;
}

type Report = (code: string, field: string, message: string) => void;

function checkDates(
  item: { fromDate?: string | null; toDate?: string | null },
  field: string,
  report: Report,
): void {
  for (const key of ['fromDate', 'toDate'] as const) {
    const text = item[key];
    if (text === null || text === undefined) continue;
    if (typeof text !== 'string' || parseDay(text) === undefined) {
      report('INVALID_DATE', `${field}.${key}`, `${text} is no date`);
    }
  }
  const { from, to } = validity(item);
  if (from > to) report('INVALID_DATE', `${field}.toDate`, 'toDate lies before fromDate');
}

function checkOverlaps(plan: PlanDefinition, report: Report): void {
  const own = [{ version: 0, effectiveDate: null, definition: plan }];
  const groups = [
    ...[...valuesOf(own)].map(
      ([name, levels]) => ['valueFormulas', name, levels[0] ?? []] as const,
    ),
    ...[...rulesOf(own)].map(
      ([name, levels]) => ['componentRules', name, levels[0] ?? []] as const,
    ),
  ];
  for (const [field, name, items] of groups) {
    let latest = firstDay - 1;
    for (const item of items) {
      if (item.from <= latest) {
        const message = `two items of \`${name}\` hold on the same days`;
        report('EFFECTIVE_DATES_OVERLAP', `${field}[${item.index}].fromDate`, message);
      }
      latest = Math.max(latest, item.to);
    }
  }
}

/** A Segment rule cannot read what is computed after all segments. */
function checkScopes(edition: Edition): PlanProblem[] {
  const problems: PlanProblem[] = [];
  for (const rule of edition.segmentRules) {
    for (const node of rule.nodes) {
      walk(node, (part) => {
        if (part.kind !== 'call' && part.kind !== 'name') return;
        const late = ownComponents(part, edition).find((slot) => !isReadable(edition, rule, slot));
        if (late === undefined) return;
        const name = edition.context.components[late]?.definition.name;
        const message = `a Segment rule cannot read \`${name}\`, which is computed for the whole term`;
        problems.push(ruleProblem(rule, 'FORMULA_SCOPE', part.from, message));
      });
    }
  }
  return problems;
}

function ownComponents(part: FormulaNode, edition: Edition): number[] {
  if (part.kind === 'name')
    return part.space === 'comp' ? componentsRead(part, edition.context) : [];
  return part.kind === 'call' && part.name === 'SUMCAT'
    ? componentsRead(part, edition.context)
    : [];
}

function isReadable(edition: Edition, reader: CompiledRule, slot: number): boolean {
  const isTerm = edition.termRules.some((rule) => rule.component.slot === slot);
  const isOther = edition.segmentRules.some(
    (rule) => rule.component.slot === slot && rule.window !== reader.window,
  );
  return !isTerm && !isOther;
}

function checkCycles(edition: Edition): PlanProblem[] {
  const cycle = edition.cycle;
  if (cycle === null) return [];
  const rules = [...edition.segmentRules, ...edition.termRules, ...edition.lateRules];
  const rule = rules.find((candidate) => candidate.component.slot === cycle[0]);
  if (rule === undefined) return [];
  const names = [...cycle, cycle[0] as number].map(
    (slot) => edition.context.components[slot]?.definition.name ?? '',
  );
  const next = cycle[1] ?? (cycle[0] as number);
  const message = `components need each other: ${names.join(' -> ')}`;
  const position = positionOf(rule, next, edition);
  return [{ ...ruleProblem(rule, 'FORMULA_CYCLE', position, message), tariffCode: edition.code }];
}

function positionOf(rule: CompiledRule, slot: number, edition: Edition): number {
  let position = 0;
  const root = rule.nodes[0];
  if (root === undefined) return 0;
  walk(root, (part) => {
    if (ownComponents(part, edition).includes(slot)) position = part.from;
  });
  return position;
}

/** A value that needs itself through others. */
function checkValueCycles(edition: Edition): PlanProblem[] {
  const slots = edition.context.slots.values;
  const state = new Map<number, 'open' | 'done'>();
  const problems: PlanProblem[] = [];
  const visit = (slot: number): void => {
    if (state.get(slot) === 'done') return;
    const name = edition.context.values[slot]?.name ?? '';
    if (state.get(slot) === 'open') {
      const field = `valueFormulas.${name}`;
      const message = `value \`${name}\` needs itself`;
      problems.push({
        code: 'FORMULA_CYCLE',
        tariffCode: edition.code,
        field,
        position: 0,
        message,
      });
      return;
    }
    state.set(slot, 'open');
    for (const node of edition.values[slot]?.nodes ?? []) {
      walk(node, (part) => {
        if (part.kind !== 'name' || part.space !== null) return;
        const next = slots.get(part.id);
        if (next !== undefined) visit(next);
      });
    }
    state.set(slot, 'done');
  };
  for (const slot of slots.values()) visit(slot);
  return problems;
}

/** Every value that some rule needs has a formula or a default. */
function checkDefined(edition: Edition): PlanProblem[] {
  const problems: PlanProblem[] = [];
  for (const slot of [...edition.usedValues].sort((a, b) => a - b)) {
    const value = edition.values[slot];
    if (value === undefined || value.pieces.length > 0) continue;
    const name = value.definition.name;
    const message = `plan ${edition.code} needs the value \`${name}\`, which has neither formula nor default`;
    problems.push({
      code: 'VALUE_UNDEFINED',
      tariffCode: edition.code,
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
