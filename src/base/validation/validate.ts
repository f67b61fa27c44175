// A request body against its schema: all problems at once, each with its path and code.
// What passes is copied field by field, so that nothing the schema does not name goes further.

import type { TObject, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import type { TLocalizedValidationError } from 'typebox/error';
import { Settings } from 'typebox/system';
import type { ErrorDetail } from '../errors.ts';
import { atOnce, inSlices, type Steps } from '../slices.ts';
import {
  describeProblem,
  escapePointer,
  fieldPath,
  type SchemaNode,
  tooManyItems,
} from './problems.ts';

/** Problems that are looked for: a caller with more mistakes than this has one mistake. */
const problemsMax = 500;
export const ignoredNamesMax = 20;
/** Items of an array, and values in them, that are checked in one go. */
const itemsAtOnce = 200;
const valuesAtOnce = 2_000;

Settings.Set({ maxErrors: problemsMax });

export type Validated = {
  body: Record<string, unknown>;
  problems: ErrorDetail[];
  /** Fields that were sent and are not known; named to the caller, never used. */
  ignored: string[];
};

export function validate(schema: TObject, sent: Record<string, unknown>): Validated {
  return atOnce(validation(schema, sent));
}

/** The same for a body that may be large: other calls are served meanwhile. */
export function validateInSlices(
  schema: TObject,
  sent: Record<string, unknown>,
): Promise<Validated> {
  return inSlices(validation(schema, sent));
}

type Findings = {
  ignored: string[];
  problems: ErrorDetail[];
  /** Values copied so far. */
  values: number;
  /** Arrays whose items were checked already: what checks the rest sees the first item alone. */
  shortened: { array: unknown[]; rest: unknown[] }[];
  /** Pointers to arrays that were not looked at, because they have too many items. */
  overlong: string[];
};

function* validation(schema: TObject, sent: Record<string, unknown>): Steps<Validated> {
  const root = schema as SchemaNode;
  const found: Findings = {
    ignored: [],
    problems: [],
    values: 0,
    shortened: [],
    overlong: [],
  };
  const body = yield* copyKnown(root, sent, '', found);
  check(root, body, found, (pointer) => pointer);
  for (const { array, rest } of found.shortened) for (const item of rest) array.push(item);
  const problems = unique(found.problems);
  return { body: body as Record<string, unknown>, problems, ignored: found.ignored };
}

const validators = new WeakMap<SchemaNode, Validator>();

function compile(schema: SchemaNode): Validator {
  const made = Compile(schema as TSchema) as unknown as Validator;
  validators.set(schema, made);
  return made;
}

function check(
  schema: SchemaNode,
  value: unknown,
  found: Findings,
  placeOf: (pointer: string) => string,
): void {
  if (found.problems.length >= problemsMax) return;
  const validator = validators.get(schema) ?? compile(schema);
  if (validator.Check(value)) return;
  const errors = validator.Errors(value);
  const inUnions = new Set(errors.filter((error) => error.keyword === 'anyOf').map(pathOf));
  for (const error of errors) {
    // Each branch of a union reports its own reason for not matching; the union speaks for all.
    if (error.schemaPath.includes('/anyOf/') && within(inUnions, error)) continue;
    if (found.overlong.includes(placeOf(error.instancePath))) continue;
    found.problems.push(...describeProblem(schema, value, error, placeOf));
  }
}

function pathOf(error: TLocalizedValidationError): string {
  return error.instancePath;
}

function within(paths: Set<string>, error: TLocalizedValidationError): boolean {
  for (const path of paths) if (error.instancePath.startsWith(path)) return true;
  return false;
}

function unique(problems: ErrorDetail[]): ErrorDetail[] {
  if (problems.length < 2) return problems;
  const seen = new Set<string>();
  const kept = problems.filter((problem) => {
    const key = `${problem.field}\n${problem.code}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
  return kept.slice(0, problemsMax);
}

function* copyKnown(
  node: SchemaNode,
  value: unknown,
  path: string,
  found: Findings,
): Steps<unknown> {
  if (Array.isArray(value)) return yield* copyItems(node, value, path, found);
  // What has the wrong kind is refused below, however large it is.
  if (!accepts(node, 'object')) return value;
  if (node.properties === undefined) return yield* copyFree(value as object, path, found);
  const known = node.properties;
  const copy: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value as object)) {
    const property = Object.hasOwn(known, name) ? known[name] : undefined;
    if (property) {
      copy[name] = isContainer(item)
        ? yield* copyKnown(property, item, `${path}/${name}`, found)
        : copyPlain(item, path, name, found);
    }
    // Where a typo would misprice, an unknown field is an error: the schema says so.
    else if (node.additionalProperties === false) unknownField(at(path, name), found);
    else if (found.ignored.length < ignoredNamesMax) found.ignored.push(fieldPath(at(path, name)));
  }
  return copy;
}

/**
 * The items of an array, counted before any is copied. Of a long array they are checked as they are
 * copied, some at a time.
 */
function* copyItems(
  node: SchemaNode,
  items: readonly unknown[],
  path: string,
  found: Findings,
): Steps<unknown> {
  if (!accepts(node, 'array')) return items;
  if (node.maxItems !== undefined && items.length > node.maxItems) {
    if (found.problems.length >= problemsMax) return [];
    const field = fieldPath(path);
    found.problems.push({ field, ...tooManyItems(field, node.maxItems) });
    found.overlong.push(path);
    return [];
  }
  const schema = node.items ?? anything;
  const copies: unknown[] = [];
  let checked = 0;
  let values = found.values;
  for (const [index, item] of items.entries()) {
    copies.push(
      isContainer(item)
        ? yield* copyKnown(schema, item, `${path}/${index}`, found)
        : copyPlain(item, path, index, found),
    );
    const isEnough = index + 1 - checked >= itemsAtOnce || found.values - values >= valuesAtOnce;
    if (!isEnough && (checked === 0 || index + 1 < items.length)) continue;
    if (node.items) checkItems(node.items, copies.slice(checked), path, checked, found);
    if (found.problems.length >= problemsMax) break;
    checked = index + 1;
    values = found.values;
    yield;
  }
  if (checked > 0 && node.items) {
    const rest = copies.splice(Math.max(1, node.minItems ?? 0));
    found.shortened.push({ array: copies, rest });
  }
  return copies;
}

const lists = new WeakMap<SchemaNode, SchemaNode>();

function checkItems(
  item: SchemaNode,
  items: readonly unknown[],
  path: string,
  first: number,
  found: Findings,
): void {
  const list = lists.get(item) ?? { type: 'array', items: item };
  lists.set(item, list);
  check(list, items, found, (pointer) => {
    const [, index = '', ...steps] = pointer.split('/');
    return [path, first + Number(index), ...steps].join('/');
  });
}

const anything: SchemaNode = {};

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function accepts({ type, enum: words }: SchemaNode, kind: 'array' | 'object'): boolean {
  if (type === undefined) return words === undefined;
  return typeof type === 'string' ? type === kind : type.includes(kind);
}

function copyPlain(value: unknown, path: string, name: string | number, found: Findings): unknown {
  found.values += 1;
  if (typeof value === 'string' && !isStorable(value)) {
    refuseCharacter(at(path, String(name)), found);
  }
  return value;
}

/** An object of no fixed shape is stored as it came, so all its texts must be such as can be. */
function* copyFree(value: object, path: string, found: Findings): Steps<object> {
  const entries: [string, unknown][] = [];
  for (const [name, item] of Object.entries(value)) {
    if (!isStorable(name)) refuseCharacter(path, found);
    const copied = isContainer(item)
      ? yield* copyKnown(anything, item, at(path, name), found)
      : copyPlain(item, path, name, found);
    entries.push([name, copied]);
  }
  return Object.fromEntries(entries);
}

function at(path: string, name: string): string {
  return `${path}/${escapePointer(name)}`;
}

function unknownField(path: string, found: Findings): void {
  if (found.problems.length >= problemsMax) return;
  const field = fieldPath(path);
  found.problems.push({ field, code: 'UNKNOWN_FIELD', message: `${field} is not known here` });
}

/** PostgreSQL stores no NUL, and half a surrogate pair is no character. */
function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

function refuseCharacter(path: string, found: Findings): void {
  if (found.problems.length >= problemsMax) return;
  const field = fieldPath(path);
  found.problems.push({
    field,
    code: 'INVALID_CHARACTER',
    message: `${field} contains a character that cannot be stored`,
  });
}
