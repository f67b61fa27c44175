// Problems of a pricing context without its plans; formulas in defaults are checked with the plans.
import { checkFormula } from '../../../base/formula/check.ts';
import { roundingModes } from '../../../base/numbers/rounding.ts';
import { currencyScaleDefault } from '../compile/compiled-context.ts';
import { contextNames, makeScope } from '../compile/name-scope.ts';
import { definitionProblem } from '../definitions/custom-field.ts';
import {
  type ContextDefinition,
  definitionNamePattern,
  definitionsMax,
  type ValueDefinition,
} from '../definitions/definitions.ts';
import { checkKeys, type Report } from './check-items.ts';
import { formulaProblems, type PlanProblem } from './plan-problem.ts';

const valueKinds = new Set(['Number', 'Percent', 'Text', 'Boolean', 'Table']);
const changes = new Set(['End', 'Start', 'Weighted', 'Split']);
const componentKinds = new Set([
  'Charge',
  'Tax',
  'Discount',
  'Surcharge',
  'Subsidy',
  'LateSurcharge',
]);
const manualWords = new Set<string>(['No', 'Optional', 'Required']);
const valueKeys = new Set([
  'name',
  'label',
  'type',
  'unit',
  'columns',
  'default',
  'overridable',
  'changeInTerm',
  'description',
]);
const componentKeys = new Set([
  'name',
  'label',
  'type',
  'categories',
  'sequence',
  'rounding',
  'printIfZero',
  'manual',
  'settlementPriority',
  'account',
  'taxCode',
  'description',
]);
const currencyScaleMax = 6;

export function checkContext(context: ContextDefinition): PlanProblem[] {
  const problems: PlanProblem[] = [];
  const report: Report = (code, field, message) => {
    problems.push({ code, tariffCode: null, field, position: null, message });
  };
  const scale = context.currencyScale ?? currencyScaleDefault;
  if (!Number.isInteger(scale) || scale < 0 || scale > currencyScaleMax) {
    report('DEFINITION_INVALID', 'currencyScale', `a currency cannot have ${scale} decimals`);
  }
  checkNames('values', context.values, report);
  checkNames('components', context.components, report);
  checkNames('connectionInputs', context.connectionInputs, report);
  // Formulas read both by one name, so that no name may be in both arrays.
  const inputNames = new Set<string>();
  checkNames('meteredInputs', context.meteredInputs, report, inputNames);
  checkNames('unmeteredInputs', context.unmeteredInputs, report, inputNames);
  for (const [index, value] of (context.values ?? []).entries()) {
    checkValue(value, `values[${index}]`, report);
  }
  for (const [index, input] of (context.connectionInputs ?? []).entries()) {
    const problem = definitionProblem(input);
    if (problem === undefined) continue;
    const { key, message } = problem;
    report('DEFINITION_INVALID', `connectionInputs[${index}].${key}`, message);
  }
  for (const [index, input] of (context.unmeteredInputs ?? []).entries()) {
    const { defaultValue } = input;
    const asField = { ...input, defaultValue: defaultValue == null ? null : String(defaultValue) };
    const problem = definitionProblem({ ...asField, type: 'Number' });
    if (problem === undefined) continue;
    report('DEFINITION_INVALID', `unmeteredInputs[${index}].${problem.key}`, problem.message);
  }
  checkComponents(context, scale, report);
  checkRounding(context.billRounding, scale, 'billRounding', report);
  problems.push(...checkHoldRules(context));
  return problems;
}

function checkNames(
  field: string,
  items: readonly { name: string }[] | undefined,
  report: Report,
  seen: Set<string> = new Set(),
): void {
  const given = items ?? [];
  if (given.length > definitionsMax) {
    report('TOO_MANY_ITEMS', field, `at most ${definitionsMax} are allowed, not ${given.length}`);
  }
  for (const [index, item] of given.entries()) {
    const place = `${field}[${index}].name`;
    if (typeof item.name !== 'string' || !definitionNamePattern.test(item.name)) {
      report('DEFINITION_INVALID', place, `\`${item.name}\` is not a valid name`);
    } else if (seen.has(item.name)) report('DUPLICATE', place, `\`${item.name}\` appears twice`);
    seen.add(item.name);
  }
}

function checkValue(value: ValueDefinition, field: string, report: Report): void {
  checkKeys(value, valueKeys, field, report);
  if (!valueKinds.has(value.type)) {
    report('INVALID_ENUM', `${field}.type`, `${value.type} is not a type of value`);
  }
  const change = value.changeInTerm;
  if (change !== undefined && !changes.has(change)) {
    report('INVALID_ENUM', `${field}.changeInTerm`, `${change} says nothing about a change`);
  }
  const isNumber = value.type === 'Number' || value.type === 'Percent';
  if (change === 'Weighted' && !isNumber) {
    report('DEFINITION_INVALID', `${field}.changeInTerm`, 'only numbers have a weighted mean');
  }
  if (value.type === 'Table' && (value.columns ?? []).length < 2) {
    report('DEFINITION_INVALID', `${field}.columns`, 'a table needs a key column and another');
  }
}

function checkComponents(context: ContextDefinition, scale: number, report: Report): void {
  for (const [index, component] of (context.components ?? []).entries()) {
    const field = `components[${index}]`;
    checkKeys(component, componentKeys, field, report);
    const { manual } = component;
    if (manual !== undefined && manual !== null && !manualWords.has(manual)) {
      report('INVALID_ENUM', `${field}.manual`, `\`manual\` cannot be ${manual}`);
    }
    if (!componentKinds.has(component.type)) {
      report('INVALID_ENUM', `${field}.type`, `${component.type} is not a type of component`);
    }
    checkRounding(component.rounding, scale, `${field}.rounding`, report);
  }
}

function checkRounding(
  rounding: ContextDefinition['billRounding'],
  currencyScale: number,
  field: string,
  report: Report,
): void {
  if (rounding === null || rounding === undefined) return;
  const { scale, mode } = rounding;
  if (!Number.isInteger(scale) || scale < -9 || scale > currencyScale) {
    const message = `a scale of ${scale} does not fit a currency with ${currencyScale} decimals`;
    report('DEFINITION_INVALID', `${field}.scale`, message);
  }
  if (!roundingModes.includes(mode)) {
    report('INVALID_ENUM', `${field}.mode`, `${mode} is not a rounding mode`);
  }
}

function checkHoldRules(context: ContextDefinition): PlanProblem[] {
  const scope = makeScope(contextNames(context), 'Hold');
  return (context.holdRules ?? []).flatMap((rule, index) =>
    formulaProblems(
      { tariffCode: null, field: `holdRules[${index}].when` },
      checkFormula(String(rule.when), scope, 'boolean').problems,
    ),
  );
}
