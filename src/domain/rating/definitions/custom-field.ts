// The custom fields of a context: whether a definition makes sense, and whether a value fits it.
import { namesNoTime, parseDate } from '../../../base/calendar.ts';
import { exactFrom } from '../../../base/numbers/decimal-text.ts';
import { compare } from '../../../base/numbers/exact.ts';
import { isWhole, matchedLengthMax, patternProblem } from '../../../base/patterns.ts';
import type { ConnectionInputDefinition } from './definitions.ts';

/** What is wrong with a value, to be read after the name of its field; undefined when it fits. */
export function valueProblem(
  definition: ConnectionInputDefinition,
  value: string,
): string | undefined {
  switch (definition.type) {
    case 'Number':
      return numberProblem(definition, value) ?? formProblem(definition, value);
    case 'Date':
      if (parseDate(value)) return formProblem(definition, value);
      return namesNoTime(value) ? 'is a day that does not exist' : 'is not a date DD/MM/YYYY';
    case 'Boolean':
      return /^(true|false|0|1)$/i.test(value) ? undefined : 'is true or false';
    case 'Select':
      return definition.options?.includes(value)
        ? undefined
        : `is one of ${(definition.options ?? []).join(', ').slice(0, 200)}`;
    case 'Text':
      return formProblem(definition, value);
  }
}

function numberProblem(
  { minValue, maxValue }: ConnectionInputDefinition,
  value: string,
): string | undefined {
  const number = exactFrom(value);
  if (number === undefined) return 'is not a number';
  const min = exactFrom(minValue ?? undefined);
  const max = exactFrom(maxValue ?? undefined);
  if (min !== undefined && compare(number, min) < 0) return `is at least ${minValue}`;
  if (max !== undefined && compare(number, max) > 0) return `is at most ${maxValue}`;
  return undefined;
}

function formProblem({ pattern }: ConnectionInputDefinition, value: string): string | undefined {
  if (!pattern) return undefined;
  if (value.length > matchedLengthMax) return `has at most ${matchedLengthMax} characters`;
  return isWhole(pattern, value) ? undefined : `does not have the form ${pattern}`;
}

/** What is wrong with a definition: the key and a sentence. */
export function definitionProblem(
  definition: ConnectionInputDefinition,
): { key: string; message: string } | undefined {
  const { name, pattern, minValue, maxValue, defaultValue, options } = definition;
  const reason = pattern ? patternProblem(pattern) : undefined;
  if (reason !== undefined) {
    return { key: 'pattern', message: `the pattern of \`${name}\` cannot be used: ${reason}` };
  }
  if (definition.type === 'Select' && !options?.length) {
    return { key: 'options', message: `\`${name}\` is chosen from options, and there are none` };
  }
  const min = exactFrom(minValue ?? undefined);
  const max = exactFrom(maxValue ?? undefined);
  if (min !== undefined && max !== undefined && compare(min, max) > 0) {
    return { key: 'maxValue', message: `maxValue of \`${name}\` is less than minValue` };
  }
  if (defaultValue === null || defaultValue === undefined || defaultValue === '') return undefined;
  const problem = valueProblem(definition, defaultValue);
  return problem === undefined
    ? undefined
    : { key: 'defaultValue', message: `the default of \`${name}\` ${problem}` };
}
