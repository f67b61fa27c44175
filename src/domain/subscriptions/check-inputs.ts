// Custom fields, agreed quantities and own values of a subscription against its pricing context.
import { formatDate } from '../../base/calendar.ts';
import type { ErrorDetail } from '../../base/errors.ts';
import { compileTable } from '../../base/formula/table.ts';
import { exactFrom } from '../../base/numbers/decimal-text.ts';
import { compare } from '../../base/numbers/exact.ts';
import { valueProblem } from '../rating/definitions/custom-field.ts';
import type {
  ConnectionInputDefinition,
  ContextDefinition,
  UnmeteredInputDefinition,
  ValueDefinition,
} from '../rating/definitions/definitions.ts';
import { type InputValue, problem, type Quantity, type Variant } from './subscription.ts';

export type GivenInput = { name: string; value: string | null };

export type CheckedInputs = {
  inputs: InputValue[];
  /** Those that no other subscription of the context may have, with their place. */
  unique: (InputValue & { field: string })[];
  problems: ErrorDetail[];
};

/** Checks custom fields. An empty value counts as missing; bills use the default then. */
export function checkInputs(
  field: string,
  definitions: readonly ConnectionInputDefinition[],
  given: readonly GivenInput[],
): CheckedInputs {
  const byName = new Map(definitions.map((one) => [one.name, one]));
  const seen = new Set<string>();
  const checked: CheckedInputs = { inputs: [], unique: [], problems: [] };
  for (const [index, { name, value }] of given.entries()) {
    const place = `${field}[${index}]`;
    const definition = byName.get(name);
    if (!definition) {
      const message = `The pricing context defines no custom field ${name}`;
      checked.problems.push(problem(`${place}.name`, 'UNKNOWN_INPUT', message, name));
      continue;
    }
    if (seen.has(name)) {
      checked.problems.push(
        problem(`${place}.name`, 'DUPLICATE_INPUT', `${name} appears twice`, name),
      );
      continue;
    }
    seen.add(name);
    if (value === null || value === '') continue;
    const wrong = valueProblem(definition, value);
    if (wrong !== undefined) {
      const message = `${name} ${wrong}`;
      checked.problems.push(problem(`${place}.value`, 'INVALID_INPUT_VALUE', message, value));
      continue;
    }
    checked.inputs.push({ name, value });
    if (definition.unique === 1) checked.unique.push({ name, value, field: `${place}.value` });
  }
  checked.problems.push(...missingInputs(field, definitions, checked));
  return checked;
}

function missingInputs(
  field: string,
  definitions: readonly ConnectionInputDefinition[],
  { inputs, problems }: CheckedInputs,
): ErrorDetail[] {
  const isWrong = (name: string) =>
    problems.some(({ code, message }) => {
      return code === 'INVALID_INPUT_VALUE' && message.startsWith(`${name} `);
    });
  return definitions
    .filter(({ required, defaultValue }) => required === 1 && !defaultValue)
    .filter(({ name }) => !inputs.some((input) => input.name === name) && !isWrong(name))
    .map(({ name }) => problem(field, 'MISSING_INPUT', `${name} is required`));
}

export type GivenQuantity = {
  name: string;
  value: string;
  fromDate: Temporal.PlainDate | null;
};

/** Quantities that a customer has by agreement, each from a day on. */
export function checkQuantities(
  field: string,
  definitions: readonly UnmeteredInputDefinition[],
  given: readonly GivenQuantity[],
  connectionDate: Temporal.PlainDate,
): { quantities: Quantity[]; problems: ErrorDetail[] } {
  const byName = new Map(definitions.map((one) => [one.name, one]));
  const quantities: Quantity[] = [];
  const problems: ErrorDetail[] = [];
  for (const [index, one] of given.entries()) {
    const place = `${field}[${index}]`;
    const definition = byName.get(one.name);
    const date = one.fromDate ?? connectionDate;
    const fromDate = date.toString();
    const wrong = definition && quantityProblem(definition, one.value);
    if (!definition || definition.source === 'Uploaded') {
      const what = definition ? 'is uploaded for each term' : 'is not an unmetered input';
      problems.push(problem(`${place}.name`, 'UNKNOWN_INPUT', `${one.name} ${what}`, one.name));
    } else if (wrong !== undefined) {
      const message = `${one.name} ${wrong}`;
      problems.push(problem(`${place}.value`, 'INVALID_INPUT_VALUE', message, one.value));
    } else if (Temporal.PlainDate.compare(date, connectionDate) < 0) {
      const message = `${one.name} cannot begin before the connection date`;
      problems.push(problem(`${place}.fromDate`, 'INVALID_DATE', message, formatDate(date)));
    } else if (quantities.some((q) => q.name === one.name && q.fromDate === fromDate)) {
      const message = `${one.name} appears twice for one day`;
      problems.push(problem(`${place}.name`, 'DUPLICATE_INPUT', message, one.name));
    } else quantities.push({ name: one.name, value: one.value, fromDate });
  }
  quantities.sort((a, b) => (a.fromDate < b.fromDate ? -1 : a.fromDate > b.fromDate ? 1 : 0));
  return { quantities, problems };
}

/** The agreed quantities that a context asks for and that are not there. */
export function missingQuantities(
  field: string,
  definitions: readonly UnmeteredInputDefinition[],
  quantities: readonly { name: string }[],
): ErrorDetail[] {
  return definitions
    .filter(({ source, required, defaultValue }) => {
      const hasDefault = defaultValue !== undefined && defaultValue !== null;
      return source !== 'Uploaded' && required === 1 && !hasDefault;
    })
    .filter(({ name }) => !quantities.some((quantity) => quantity.name === name))
    .map(({ name }) => problem(field, 'MISSING_INPUT', `${name} is required`));
}

function quantityProblem(
  { minValue, maxValue, decimals }: UnmeteredInputDefinition,
  value: string,
): string | undefined {
  const number = exactFrom(value);
  if (number === undefined) return 'is not a number';
  const min = exactFrom(minValue ?? undefined);
  const max = exactFrom(maxValue ?? undefined);
  if (min !== undefined && compare(number, min) < 0) return `is at least ${minValue}`;
  if (max !== undefined && compare(number, max) > 0) return `is at most ${maxValue}`;
  const places = value.split('.')[1]?.replace(/0+$/, '').length ?? 0;
  if (typeof decimals === 'number' && places > decimals) return `has at most ${decimals} decimals`;
  return undefined;
}

/** A customer's own values, as they came: dates are DD/MM/YYYY and have been read already. */
export function variantProblem(
  field: string,
  context: ContextDefinition,
  variant: Variant,
): ErrorDetail | undefined {
  if (variant.value === undefined || variant.value === null) return undefined;
  const definition = (context.values ?? []).find((one) => one.name === variant.name);
  if (!definition) {
    const message = `The pricing context has no value ${String(variant.name)}`;
    return problem(`${field}.name`, 'VARIANT_NOT_OVERRIDABLE', message, variant.name);
  }
  if (definition.overridable !== 1) {
    const message = `${definition.name} is the same for all subscriptions`;
    return problem(`${field}.name`, 'VARIANT_NOT_OVERRIDABLE', message, variant.name);
  }
  if (fits(definition, variant.value)) return undefined;
  const isNumber = definition.type === 'Number' || definition.type === 'Percent';
  const message = `The value of ${definition.name} is not a ${definition.type}`;
  return problem(`${field}.value`, isNumber ? 'INVALID_NUMBER' : 'INVALID_TYPE', message);
}

/** Two own values for the same days: only one of them could be priced with. */
export function repeatedVariants(field: string, variants: readonly Variant[]): ErrorDetail[] {
  const seen = new Set<string>();
  return variants.flatMap(({ name, value, fromDate, toDate }, index) => {
    if (value === undefined || value === null) return [];
    const key = JSON.stringify([name, fromDate ?? null, toDate ?? null]);
    const message = `${String(name)} appears twice for the same days`;
    if (seen.has(key)) return [problem(`${field}[${index}].name`, 'DUPLICATE', message, name)];
    seen.add(key);
    return [];
  });
}

function fits(definition: ValueDefinition, value: unknown): boolean {
  switch (definition.type) {
    case 'Number':
    case 'Percent':
      return exactFrom(value) !== undefined;
    case 'Text':
      return typeof value === 'string';
    case 'Boolean':
      return /^(true|false|0|1)$/i.test(String(value));
    case 'Table':
      return Array.isArray(value) && isTable(definition, value);
  }
}

function isTable(definition: ValueDefinition, rows: unknown[]): boolean {
  const isRow = (row: unknown) => typeof row === 'object' && row !== null && !Array.isArray(row);
  if (!rows.every(isRow)) return false;
  return compileTable(definition.columns ?? [], rows as never).table !== null;
}
