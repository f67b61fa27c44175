// Help for authors: what is allowed and probably not meant.

import { formatDay, lastDay } from '../../../base/days.ts';
import type { FormulaNode } from '../../../base/formula/syntax.ts';
import { walk } from '../../../base/formula/walk.ts';
import { decimalText } from '../../../base/numbers/decimal-text.ts';
import { Exact, isZero, signOf } from '../../../base/numbers/exact.ts';
import type { CompiledRule } from '../compile/compile-rules.ts';
import type { CompiledValue } from '../compile/compile-values.ts';
import { type CompiledPlan, componentsRead } from '../compile/compiled-plan.ts';
import type { PlanProblem } from './plan-problem.ts';

/** Warnings about one plan. */
export function planWarnings(compiledPlan: CompiledPlan): PlanProblem[] {
  if (compiledPlan.problems.length > 0) return [];
  const rules = [
    ...compiledPlan.segmentRules,
    ...compiledPlan.termRules,
    ...compiledPlan.lateRules,
  ];
  return [
    ...rules.flatMap((rule) => ruleWarnings(rule, compiledPlan)),
    ...[...compiledPlan.usedValues]
      .sort((a, b) => a - b)
      .flatMap((slot) => {
        const value = compiledPlan.values[slot];
        return value === undefined ? [] : valueWarnings(value, compiledPlan);
      }),
  ];
}

/** Warnings about a context, seen over all its plans. */
export function contextWarnings(compiledPlans: readonly CompiledPlan[]): PlanProblem[] {
  const concrete = compiledPlans.filter((compiledPlan) => !compiledPlan.isAbstract);
  const context = concrete[0]?.context;
  if (context === undefined) return [];
  const warnings: PlanProblem[] = [];
  const report = (code: string, field: string, message: string) => {
    warnings.push({ code, tariffCode: null, field, position: null, message });
  };
  for (const [slot, value] of context.values.entries()) {
    if (value === undefined || concrete.some((compiledPlan) => compiledPlan.usedValues.has(slot)))
      continue;
    report('VALUE_UNUSED', `values.${value.name}`, `no plan uses the value \`${value.name}\``);
  }
  for (const component of context.components) {
    // What is uploaded needs no rule.
    if (component === undefined || (component.definition.manual ?? 'No') !== 'No') continue;
    if (concrete.some((compiledPlan) => computes(compiledPlan, component.slot))) continue;
    const name = component.definition.name;
    report('COMPONENT_NEVER_COMPUTED', `components.${name}`, `no plan computes \`${name}\``);
  }
  return warnings;
}

function computes(compiledPlan: CompiledPlan, slot: number): boolean {
  const rules = [
    ...compiledPlan.segmentRules,
    ...compiledPlan.termRules,
    ...compiledPlan.lateRules,
  ];
  return rules.some((rule) => rule.component.slot === slot);
}

function ruleWarnings(rule: CompiledRule, compiledPlan: CompiledPlan): PlanProblem[] {
  const warnings: PlanProblem[] = [];
  const report = (code: string, position: number, message: string) => {
    warnings.push({
      code,
      tariffCode: rule.owned.plan.definition.code,
      field: `componentRules[${rule.owned.index}].formula`,
      position,
      message,
    });
  };
  for (const warning of rule.unitWarnings)
    report('UNIT_MISMATCH', warning.position, warning.message);
  const root = rule.nodes[0];
  if (root === undefined) return warnings;
  for (const divisor of zeroableDivisors(root, compiledPlan)) {
    report('DIVISOR_CAN_BE_ZERO', divisor.from, 'this divisor can be zero');
  }
  const twice = rule.isProrated ? proratedAgain(rule, root, compiledPlan) : null;
  if (twice !== null) report('PRORATED_TWICE', twice.at, twice.message);
  for (const gap of lookupGaps(root, compiledPlan)) report('LOOKUP_GAP', gap.at, gap.message);
  return warnings;
}

/**
 * `prorate: Days` on a formula that already counts days, or on amounts that were prorated before.
 */
function proratedAgain(
  rule: CompiledRule,
  root: FormulaNode,
  compiledPlan: CompiledPlan,
): { at: number; message: string } | null {
  let found: { at: number; message: string } | null = null;
  walk(root, (part) => {
    if (found !== null) return;
    if (part.kind === 'name' && part.space === 'segment' && part.id !== 'quantity') {
      const message = `\`segment.${part.id}\` counts the days already, and so does prorate`;
      found = { at: part.from, message };
    } else if (part.kind === 'call' && part.name === 'SUPER') {
      found = { at: part.from, message: 'the inherited amount may be prorated already' };
    } else if (rule.scope === 'Term' && (part.kind === 'call' || part.kind === 'name')) {
      if (part.kind === 'call' && part.name !== 'SUMCAT') return;
      const before = componentsRead(part, compiledPlan.context).find((slot) =>
        compiledPlan.segmentRules.some(
          (other) => other.component.slot === slot && other.isProrated,
        ),
      );
      if (before === undefined) return;
      const name = compiledPlan.context.components[before]?.definition.name;
      found = { at: part.from, message: `\`${name}\` in it is prorated already` };
    }
  });
  return found;
}

/** Divisors not known to differ from zero, nor asked about in a condition around them. */
function zeroableDivisors(root: FormulaNode, compiledPlan: CompiledPlan): FormulaNode[] {
  const found: FormulaNode[] = [];
  const open: { node: FormulaNode; guarded: ReadonlySet<string> }[] = [
    { node: root, guarded: new Set() },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, guarded } = next;
    if (node.kind === 'binary') {
      open.push({ node: node.right, guarded }, { node: node.left, guarded });
      if (node.operator === '/' && !isNonZero(node.right, compiledPlan, guarded))
        found.push(node.right);
    } else if (node.kind === 'negate') open.push({ node: node.operand, guarded });
    else if (node.kind === 'call') {
      const asks = node.name === 'IF' || node.name === 'IFS';
      const inside = asks ? new Set([...guarded, ...node.args.flatMap(namesIn)]) : guarded;
      for (const arg of node.args) open.push({ node: arg, guarded: inside });
    }
  }
  return found.sort((a, b) => a.from - b.from);
}

function namesIn(node: FormulaNode): string[] {
  const names: string[] = [];
  if (node.kind !== 'binary' && node.kind !== 'call') return names;
  const isComparison = node.kind === 'binary' && node.type.kind === 'boolean';
  const isCombined = node.kind === 'call' && node.type.kind === 'boolean';
  if (!isComparison && !isCombined) return names;
  walk(node, (part) => {
    if (part.kind === 'name') names.push(`${part.space}.${part.id}`);
  });
  return names;
}

function isNonZero(
  node: FormulaNode,
  compiledPlan: CompiledPlan,
  guarded: ReadonlySet<string>,
): boolean {
  if (node.kind === 'number') return !isZero(node.value);
  if (node.kind === 'negate') return isNonZero(node.operand, compiledPlan, guarded);
  if (node.kind === 'call' && node.name === 'MAX') {
    return node.args.some((arg) => arg.kind === 'number' && signOf(arg.value) > 0);
  }
  if (node.kind !== 'name') return false;
  if (guarded.has(`${node.space}.${node.id}`) || node.space === 'term') return true;
  if (node.space !== null) return false;
  const slot = compiledPlan.context.slots.values.get(node.id);
  const pieces = slot === undefined ? [] : (compiledPlan.values[slot]?.pieces ?? []);
  const isConstant = pieces.every(
    ({ item }) => item.constant instanceof Exact && !isZero(item.constant),
  );
  return isConstant && pieces.length > 0;
}

/** Options of a Select field for which a table has no row. */
function lookupGaps(
  root: FormulaNode,
  compiledPlan: CompiledPlan,
): { at: number; message: string }[] {
  const gaps: { at: number; message: string }[] = [];
  walk(root, (part) => {
    if (part.kind !== 'call' || part.name !== 'LOOKUP') return;
    const [table, key] = part.args;
    if (table?.kind !== 'name' || key?.kind !== 'name' || key.space !== 'input') return;
    const inputs = compiledPlan.context.definition.connectionInputs ?? [];
    const options = inputs.find((input) => input.name === key.id)?.options ?? [];
    const slot = compiledPlan.context.slots.values.get(table.id);
    for (const { item } of slot === undefined ? [] : (compiledPlan.values[slot]?.pieces ?? [])) {
      const rows = item.constant;
      if (rows === null || typeof rows !== 'object' || rows instanceof Exact) continue;
      if (rows.rowByKey.has('*')) continue;
      const missing = options.filter((option) => !rows.rowByKey.has(option));
      if (missing.length === 0) continue;
      const message = `\`${table.id}\` has no row for "${missing.join('", "')}"`;
      gaps.push({ at: part.from, message });
    }
  });
  return gaps;
}

/** Days inside a value's history on which nothing holds, and slabs in which nothing can lie. */
function valueWarnings(value: CompiledValue, compiledPlan: CompiledPlan): PlanProblem[] {
  const warnings: PlanProblem[] = [];
  const field = `valueFormulas.${value.definition.name}`;
  const report = (code: string, message: string) => {
    warnings.push({ code, tariffCode: compiledPlan.code, field, position: null, message });
  };
  for (const [index, piece] of value.pieces.entries()) {
    const next = value.pieces[index + 1];
    if (next === undefined) {
      if (piece.to < lastDay)
        report('VALUE_ENDS', `nothing is effective after ${formatDay(piece.to)}`);
    } else if (next.from > piece.to + 1) {
      const days = `${formatDay(piece.to + 1)} to ${formatDay(next.from - 1)}`;
      report('VALUE_GAP', `nothing is effective from ${days}`);
    }
    const table = piece.item.constant;
    if (table === null || typeof table !== 'object' || table instanceof Exact) continue;
    const first = table.slabs?.limits[0];
    if (first !== undefined && isZero(first)) {
      report('SLAB_GAP', `the first slab ends at ${decimalText(first)}: no quantity falls into it`);
    }
  }
  return warnings;
}
