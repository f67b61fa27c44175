// The contract as data: its operations with the fields of their requests, and the fields that each
// resource shows.
import { readFileSync } from 'node:fs';

export type ContractOperation = {
  number: number;
  path: string;
  /** Missing where no method and action are sent. */
  method?: string;
  action?: string;
  /** Fields of the request beside method, action and apiVersion; `a.b` is in an object or rows. */
  request: string[];
  /** True if `data` of the answer is an empty object. */
  answersNothing?: true;
};

/** Types by the name of the field: what the contract returns of a resource. */
export type ContractFields = Record<string, string>;

export type Contract = {
  operations: ContractOperation[];
  resources: Record<string, ContractFields>;
};

export const contract: Contract = JSON.parse(
  readFileSync(new URL('../cases/contract.json', import.meta.url), 'utf8'),
);

export function contractOperation(number: number): ContractOperation {
  const found = contract.operations.find((one) => one.number === number);
  if (!found) throw new Error(`the contract has no operation ${number}`);
  return found;
}

/** The paths of all fields in a request. A string that holds JSON is read as what it holds. */
export function fieldPaths(value: unknown, before = ''): string[] {
  if (typeof value === 'string' && value.startsWith('{')) {
    return fieldPaths(JSON.parse(value), before);
  }
  if (Array.isArray(value)) return value.flatMap((item) => fieldPaths(item, before));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    `${before}${name}`,
    ...fieldPaths(inner, `${before}${name}.`),
  ]);
}

/** What is wrong with a value of a type of the contract; undefined if it is of that type. */
export function typeProblem(value: unknown, type: string): string | undefined {
  const isFine = type.split(' or ').some((word) => isOf(value, word));
  return isFine ? undefined : `${JSON.stringify(value)} is not of type ${type}`;
}

function isOf(value: unknown, word: string): boolean {
  if (word === 'any') return value !== undefined;
  if (word === 'null') return value === null;
  if (word === 'integer') return Number.isInteger(value);
  if (word === 'number') return typeof value === 'number';
  if (word === 'string') return typeof value === 'string';
  if (word === 'array') return Array.isArray(value);
  const [, isArray, fields] = /^(array of )?\{(.*)\}$/.exec(word) ?? [];
  if (fields === undefined) throw new Error(`contract.json has an unknown type: ${word}`);
  if (isArray === undefined) return hasFields(value, fields);
  return Array.isArray(value) && value.every((one) => hasFields(one, fields));
}

/** `name: string, value: string`, or names alone. */
function hasFields(value: unknown, text: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return text.split(', ').every((part) => {
    const [name = '', type = 'any'] = part.split(': ');
    return isOf((value as Record<string, unknown>)[name], type);
  });
}
