// A schema violation in the words of the API: code, path and a sentence that a person understands.
import type { TLocalizedValidationError } from 'typebox/error';
import { namesNoTime } from '../calendar.ts';
import type { ErrorCode, ErrorDetail } from '../errors.ts';
import { secretNames } from '../log.ts';

/** The part of JSON Schema that request schemas use. */
export type SchemaNode = {
  type?: string | readonly string[];
  properties?: Record<string, SchemaNode>;
  required?: readonly string[];
  items?: SchemaNode;
  minItems?: number;
  maxItems?: number;
  additionalProperties?: boolean;
  enum?: readonly unknown[];
  format?: string;
  description?: string;
  'x-code'?: ErrorCode;
};

const rejectedTextMax = 200;
/** More words than this are described, not listed. */
const wordsMax = 40;
const secrets: ReadonlySet<string> = new Set(secretNames);

/** `placeOf` tells where in the request a pointer into the value leads. */
export function describeProblem(
  root: SchemaNode,
  value: unknown,
  error: TLocalizedValidationError,
  placeOf: (pointer: string) => string,
): ErrorDetail[] {
  const node = follow(root, error.schemaPath);
  const place = placeOf(error.instancePath);
  if (error.keyword === 'required') {
    return error.params.requiredProperties.map((name) =>
      missing(`${place}/${name}`, node.properties?.[name]?.['x-code']),
    );
  }
  const wrong = valueAt(value, error.instancePath);
  const field = fieldPath(place);
  const { code, message } = judge(error, node, wrong, field, isRequired(root, error));
  return [{ field, code, message, ...rejected(field, wrong) }];
}

type Judgement = { code: ErrorCode; message: string };

function judge(
  error: TLocalizedValidationError,
  node: SchemaNode,
  value: unknown,
  field: string,
  required: boolean,
): Judgement {
  const own = node['x-code'];
  if (value === null && error.keyword !== 'anyOf') {
    return required
      ? { code: absentCode(own), message: `${field} is required` }
      : { code: 'FIELD_NOT_NULLABLE', message: `${field} cannot be null` };
  }
  switch (error.keyword) {
    case 'maxLength':
      // A text longer than a date is not a date; its maximum length would not help the caller.
      if (node.format !== undefined && node.description !== undefined && own !== undefined) {
        return { code: own, message: malformed(field, node, own) };
      }
      return {
        code: own === 'REQUIRED_FIELD' || own === undefined ? 'FIELD_TOO_LONG' : own,
        message: `${field} may have at most ${error.params.limit} characters`,
      };
    case 'minLength':
      return { code: own ?? 'REQUIRED_FIELD', message: tooShort(field, error.params.limit) };
    case 'maxItems':
      return tooManyItems(field, error.params.limit);
    case 'minItems':
      return { code: 'REQUIRED_FIELD', message: `${field} needs at least one item` };
    case 'pattern':
    case 'format':
      return {
        code: own ?? 'INVALID_FORMAT',
        message: notThere(field, value, own) ?? malformed(field, node, own),
      };
    case 'enum':
      return { code: own ?? 'INVALID_ENUM', message: notAmong(field, node) };
    case 'minimum':
    case 'maximum':
    case 'multipleOf':
      return { code: own ?? 'INVALID_NUMBER', message: `${field} ${error.message}` };
    default:
      return { code: typeCode(own), message: `${field} must be ${kindOf(node)}` };
  }
}

export function tooManyItems(field: string, limit: number | bigint): Judgement {
  return { code: 'TOO_MANY_ITEMS', message: `${field} may have at most ${limit} items` };
}

/** A wrong type is INVALID_TYPE, except where the API has one code for everything about a field. */
function typeCode(own: ErrorCode | undefined): ErrorCode {
  return own === 'INVALID_PAGE' || own === 'INVALID_FILTER_VALUE' ? own : 'INVALID_TYPE';
}

/** Half a page is a wrong page; of anything else it matters that it is missing. */
function absentCode(own: ErrorCode | undefined): ErrorCode {
  return own === 'INVALID_PAGE' ? own : 'REQUIRED_FIELD';
}

function missing(path: string, own: ErrorCode | undefined): ErrorDetail {
  const field = fieldPath(path);
  return { field, code: absentCode(own), message: `${field} is required` };
}

function tooShort(field: string, limit: unknown): string {
  return limit === 1 ? `${field} is required` : `${field} needs at least ${limit} characters`;
}

function malformed(field: string, node: SchemaNode, own: ErrorCode | undefined): string {
  if (own === 'REQUIRED_FIELD') return `${field} is required`;
  const form = node.description ? ` (${node.description})` : '';
  return `${field} does not have the expected form${form}`;
}

/** A date of the right form that is on no calendar, or an hour on no clock. */
function notThere(field: string, value: unknown, own: ErrorCode | undefined): string | undefined {
  const what = own === 'INVALID_DATE' ? 'day' : own === 'INVALID_DATETIME' ? 'time' : undefined;
  if (what === undefined || typeof value !== 'string' || !namesNoTime(value)) return undefined;
  return `${field} is ${value}, a ${what} that does not exist`;
}

function notAmong(field: string, node: SchemaNode): string {
  // In the message, a number and the same number as text look the same.
  const words = [...new Set((node.enum ?? []).filter((word) => word !== null).map(String))];
  if (words.length > wordsMax) return `${field} must be ${node.description}`;
  return `${field} must be one of ${words.join(', ')}`;
}

function kindOf(node: SchemaNode): string {
  const types = [node.type ?? 'another type'].flat().filter((type) => type !== 'null');
  if (types.length === 0) return 'null';
  return types.map((type) => (/^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`)).join(' or ');
}

function rejected(field: string, value: unknown): { rejectedValue?: unknown } {
  const name = field.split('.').at(-1) ?? '';
  if (value === undefined || secrets.has(name)) return {};
  if (typeof value === 'string') return { rejectedValue: value.slice(0, rejectedTextMax) };
  return typeof value === 'object' && value !== null ? {} : { rejectedValue: value };
}

function isRequired(root: SchemaNode, error: TLocalizedValidationError): boolean {
  const parts = error.schemaPath.split('/');
  const name = parts.at(-1) ?? '';
  if (parts.at(-2) !== 'properties') return false;
  return follow(root, parts.slice(0, -2).join('/')).required?.includes(name) ?? false;
}

function follow(root: SchemaNode, schemaPath: string): SchemaNode {
  let node: unknown = root;
  for (const part of schemaPath.split('/').slice(1)) {
    node = (node as Record<string, unknown> | undefined)?.[unescapePointer(part)];
  }
  return (node ?? {}) as SchemaNode;
}

function valueAt(body: unknown, instancePath: string): unknown {
  let value = body;
  for (const part of instancePath.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null) return undefined;
    const name = unescapePointer(part);
    value = Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
  }
  return value;
}

/** `/meters/3/number` -> `meters[3].number` */
export function fieldPath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map(unescapePointer)
    .map((part, i) => (/^\d+$/.test(part) ? `[${part}]` : i === 0 ? part : `.${part}`))
    .join('');
}

/** A name as one step of a pointer, whatever characters it has. */
export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}
