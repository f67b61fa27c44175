// The values of a plan: each item of the chain, and the context's default, as something a frame can
// hold. Formulas without names are computed here, once.

import { firstDay, lastDay } from '../../../base/days.ts';
import { checkFormula } from '../../../base/formula/check.ts';
import { compileFormula } from '../../../base/formula/compile.ts';
import type { Scalar } from '../../../base/formula/function-kinds.ts';
import type { FormulaNode } from '../../../base/formula/syntax.ts';
import { compileTable } from '../../../base/formula/table.ts';
import { walk } from '../../../base/formula/walk.ts';
import { decimalText } from '../../../base/numbers/decimal-text.ts';
import { Exact } from '../../../base/numbers/exact.ts';
import type { PlanProblem, ProblemField } from '../check/plan-problem.ts';
import { formulaProblems } from '../check/plan-problem.ts';
import type { ValueDefinition } from '../definitions/definitions.ts';
import type { Chain, OwnedValue } from '../definitions/inheritance.ts';
import { overlay, type Piece } from '../periods/value-history.ts';
import { stepsOf } from '../rate/budget.ts';
import { makeBinder } from './bind-names.ts';
import type { CompiledContext } from './compiled-context.ts';
import type { Frame, Source, ValueItem } from './formula-frame.ts';
import { makeScope, valueType } from './name-scope.ts';

export type CompiledValue = {
  readonly slot: number;
  readonly definition: ValueDefinition;
  readonly pieces: readonly Piece[];
  /** Trees of the formulas that can hold, for finding what they refer to. */
  readonly nodes: readonly FormulaNode[];
  /** Where the formula of each tree is written. */
  readonly places: readonly ProblemField[];
};

/** The formulas of one value, collected while its items are compiled. */
type Formulas = { readonly nodes: FormulaNode[]; readonly places: ProblemField[] };

type Compilation = {
  readonly context: CompiledContext;
  readonly traced: boolean;
  readonly problems: PlanProblem[];
};

/** All items of one value, nearest plan first, over the context's default. */
export function compileValue(
  definition: ValueDefinition,
  levels: readonly (readonly OwnedValue[])[],
  chain: Chain,
  compilation: Compilation,
): CompiledValue {
  const formulas: Formulas = { nodes: [], places: [] };
  const layers = levels.map((items) =>
    items.flatMap((owned): Piece[] => {
      const item = compileItem(definition, owned, chain, compilation, formulas);
      return item === null ? [] : [{ from: owned.from, to: owned.to, item }];
    }),
  );
  const fallback = compileDefault(definition, compilation, formulas);
  if (fallback !== null) layers.push([{ from: firstDay, to: lastDay, item: fallback }]);
  const slot = compilation.context.slots.values.get(definition.name) as number;
  return { slot, definition, pieces: overlay(layers), ...formulas };
}

function compileItem(
  definition: ValueDefinition,
  owned: OwnedValue,
  chain: Chain,
  compilation: Compilation,
  formulas: Formulas,
): ValueItem | null {
  const { plan, item, index } = owned;
  const code = plan.definition.code;
  const place = { tariffCode: code, field: `valueFormulas[${index}]` };
  const source: Source = {
    kind: plan === chain[0] ? 'Plan' : 'Parent',
    tariffCode: code,
    version: plan.version,
    ...(typeof item.fromDate === 'string' ? { date: item.fromDate } : {}),
  };
  const hasRows = item.rows !== null && item.rows !== undefined;
  const hasFormula = item.formula !== null && item.formula !== undefined;
  if (hasRows === hasFormula) {
    const message = `\`${item.name}\` needs either a formula or rows`;
    compilation.problems.push({ code: 'DEFINITION_INVALID', ...place, position: null, message });
    return null;
  }
  if (hasRows)
    return rowsItem(
      definition,
      item.rows,
      source,
      { ...place, field: `${place.field}.rows` },
      compilation,
    );
  const text = String(item.formula);
  return formulaItem(
    definition,
    text,
    source,
    { ...place, field: `${place.field}.formula` },
    compilation,
    formulas,
  );
}

function compileDefault(
  definition: ValueDefinition,
  compilation: Compilation,
  formulas: Formulas,
): ValueItem | null {
  const given = definition.default;
  if (given === null || given === undefined) return null;
  const source: Source = { kind: 'Default', version: compilation.context.version };
  const index = compilation.context.definition.values?.indexOf(definition);
  const place = { tariffCode: null, field: `values[${index}].default` };
  if (Array.isArray(given)) return rowsItem(definition, given, source, place, compilation);
  const text = String(given);
  // A plain word is the text itself; what starts like a formula is one.
  if (definition.type === 'Text' && !/^\s*["'=]/.test(text)) {
    return { constant: text, formula: null, steps: 0, text, source };
  }
  const upper = typeof given === 'boolean' ? text.toUpperCase() : text;
  return formulaItem(definition, upper, source, place, compilation, formulas);
}

function rowsItem(
  definition: ValueDefinition,
  rows: unknown,
  source: Source,
  place: ProblemField,
  compilation: Compilation,
): ValueItem | null {
  const fail = (code: string, message: string) => {
    compilation.problems.push({ code, ...place, position: null, message });
    return null;
  };
  if (definition.type !== 'Table') {
    return fail('FORMULA_TYPE', `\`${definition.name}\` is not a table and takes no rows`);
  }
  if (!Array.isArray(rows)) return fail('FORMULA_TYPE', 'rows must be an array');
  const { table, problems } = compileTable(definition.columns ?? [], rows);
  for (const problem of problems) {
    const code = problem.code === 'TABLE_INVALID' ? 'FORMULA_TYPE' : problem.code;
    const column = problem.column === null ? '' : `.${problem.column}`;
    const field = `${place.field}[${problem.row}]${column}`;
    compilation.problems.push({ ...place, field, code, position: null, message: problem.message });
  }
  if (table === null) return null;
  return { constant: table, formula: null, steps: 0, text: definition.name, source };
}

function formulaItem(
  definition: ValueDefinition,
  text: string,
  source: Source,
  place: ProblemField,
  compilation: Compilation,
  formulas: Formulas,
): ValueItem | null {
  const { context, traced, problems } = compilation;
  const scope = makeScope(context.names, 'Value');
  const checked = checkFormula(text, scope, valueType(definition).kind);
  problems.push(...formulaProblems(place, checked.problems));
  if (checked.node === null || checked.problems.length > 0) return null;
  formulas.nodes.push(checked.node);
  formulas.places.push(place);
  const constant = constantOf(checked.node, context);
  if (constant !== null) {
    return { constant, formula: null, steps: 0, text: shown(constant, text), source };
  }
  const binder = makeBinder({
    slots: context.slots,
    categories: context.categories,
    inherited: null,
    traced: traced ? text : null,
    withSlabs: false,
  });
  const formula = compileFormula(checked.node, binder);
  return { constant: null, formula, steps: stepsOf(checked.node), text, source };
}

/** The result of a formula that refers to nothing; null where it refers or has no result. */
function constantOf(node: FormulaNode, context: CompiledContext): Scalar | null {
  let refers = false;
  walk(node, (part) => {
    if (part.kind === 'name' || (part.kind === 'call' && hostNames.has(part.name))) refers = true;
  });
  if (refers) return null;
  const binder = makeBinder({
    slots: context.slots,
    categories: context.categories,
    inherited: null,
    traced: null,
    withSlabs: false,
  });
  try {
    // Nothing in it reads the frame.
    return compileFormula(node, binder)(undefined as unknown as Frame);
  } catch {
    // It fails on every bill that uses it, with the error a bill shows.
    return null;
  }
}

const hostNames = new Set(['SUMCAT', 'SUPER', 'HIST', 'HISTMAX', 'HISTAVG', 'HISTSUM']);

function shown(constant: Scalar, text: string): string {
  return constant instanceof Exact ? decimalText(constant) : text;
}
