// The items of a plan by themselves: keys, words, names, dates and overlaps.
import { firstDay, parseDay } from '../../../base/days.ts';
import type { CompiledContext } from '../compile/compiled-context.ts';
import type { ComponentRule, PlanDefinition } from '../definitions/definitions.ts';
import { rulesOf, validity, valuesOf } from '../definitions/inheritance.ts';
import type { PlanProblem } from './plan-problem.ts';

/** A key that means nothing is a typing mistake, and here a typing mistake is a wrong price. */
const valueKeys = new Set(['name', 'formula', 'rows', 'fromDate', 'toDate']);
const ruleKeys = new Set([
  'component',
  'formula',
  'when',
  'scope',
  'prorate',
  'window',
  'exclude',
  'fromDate',
  'toDate',
  'quantity',
  'rate',
  'description',
]);
const ruleWords = [
  ['scope', ['Segment', 'Term']],
  ['prorate', ['None', 'Days']],
  ['window', ['Current', 'Previous']],
  ['exclude', [0, 1]],
] as const;

/** Names, dates and overlaps of a plan's own items. */
export function checkItems(plan: PlanDefinition, context: CompiledContext): PlanProblem[] {
  const problems: PlanProblem[] = [];
  const report = (code: string, field: string, message: string) => {
    problems.push({ code, tariffCode: plan.code, field, position: null, message });
  };
  for (const [index, item] of (plan.valueFormulas ?? []).entries()) {
    const field = `valueFormulas[${index}]`;
    checkKeys(item, valueKeys, field, report);
    checkDates(item, field, report);
    if (context.names.values.has(item.name)) continue;
    report('FORMULA_UNKNOWN_NAME', `${field}.name`, `the context has no value \`${item.name}\``);
  }
  for (const [index, rule] of (plan.componentRules ?? []).entries()) {
    const field = `componentRules[${index}]`;
    checkKeys(rule, ruleKeys, field, report);
    checkWords(rule, field, report);
    checkDates(rule, field, report);
    if (context.names.components.has(rule.component)) continue;
    const message = `the context has no component \`${rule.component}\``;
    report('FORMULA_UNKNOWN_NAME', `${field}.component`, message);
  }
  for (const [index, item] of (plan.usageData ?? []).entries()) {
    if (typeof item.input !== 'string' || context.slots.inputs.has(item.input)) continue;
    const message = `the context has no input \`${item.input}\``;
    report('FORMULA_UNKNOWN_NAME', `usageData[${index}].input`, message);
  }
  checkOverlaps(plan, report);
  return problems;
}

export type Report = (code: string, field: string, message: string) => void;

function checkDates(
  item: { fromDate?: string | null; toDate?: string | null },
  field: string,
  report: Report,
): void {
  for (const key of ['fromDate', 'toDate'] as const) {
    const text = item[key];
    if (text === null || text === undefined) continue;
    if (typeof text !== 'string' || parseDay(text) === undefined) {
      report('INVALID_DATE', `${field}.${key}`, `${text} is not a date`);
    }
  }
  const { from, to } = validity(item);
  if (from > to) report('INVALID_DATE', `${field}.toDate`, 'toDate is before fromDate');
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
        const message = `two items for \`${name}\` are effective on the same dates`;
        report('EFFECTIVE_DATES_OVERLAP', `${field}[${item.index}].fromDate`, message);
      }
      latest = Math.max(latest, item.to);
    }
  }
}

export function checkKeys(
  item: object,
  known: ReadonlySet<string>,
  field: string,
  report: Report,
): void {
  for (const key of Object.keys(item)) {
    if (!known.has(key))
      report('UNKNOWN_FIELD', `${field}.${key}`, `\`${key}\` is not a known field here`);
  }
}

function checkWords(rule: ComponentRule, field: string, report: Report): void {
  for (const [key, words] of ruleWords) {
    const given: unknown = rule[key];
    if (given === undefined || given === null) continue;
    if ((words as readonly unknown[]).includes(given)) continue;
    const message = `\`${key}\` is ${words.join(' or ')}, not ${given}`;
    report('INVALID_ENUM', `${field}.${key}`, message);
  }
}
