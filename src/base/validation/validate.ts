// A request body against its schema: all problems at once, each with its path and code.
// What passes is copied field by field, so that nothing the schema does not name goes further.

import type { TObject } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import type { TLocalizedValidationError } from 'typebox/error';
import { Settings } from 'typebox/system';
import type { ErrorDetail } from '../errors.ts';
import { describeProblem, escapePointer, fieldPath, type SchemaNode } from './problems.ts';

const problemsMax = 500;
export const ignoredNamesMax = 20;

Settings.Set({ maxErrors: problemsMax });

const validators = new WeakMap<TObject, Validator>();

export type Validated = {
  body: Record<string, unknown>;
  problems: ErrorDetail[];
  /** Fields that were sent and are not known; named to the caller, never used. */
  ignored: string[];
};

export function validate(schema: TObject, sent: Record<string, unknown>): Validated {
  const ignored: string[] = [];
  const problems: ErrorDetail[] = [];
  const body = copyKnown(schema as SchemaNode, sent, '', { ignored, problems });
  const validator = validators.get(schema) ?? compile(schema);
  if (!validator.Check(body)) {
    const errors = validator.Errors(body);
    const inUnions = new Set(errors.filter((error) => error.keyword === 'anyOf').map(pathOf));
    for (const error of errors) {
      // Each branch of a union reports its own reason for not matching; the union speaks for all.
      if (error.schemaPath.includes('/anyOf/') && within(inUnions, error)) continue;
      problems.push(...describeProblem(schema as SchemaNode, body, error));
    }
  }
  return { body: body as Record<string, unknown>, problems: unique(problems), ignored };
}

function compile(schema: TObject): Validator {
  const made = Compile(schema) as unknown as Validator;
  validators.set(schema, made);
  return made;
}

function pathOf(error: TLocalizedValidationError): string {
  return error.instancePath;
}

function within(paths: Set<string>, error: TLocalizedValidationError): boolean {
  for (const path of paths) if (error.instancePath.startsWith(path)) return true;
  return false;
}

function unique(problems: ErrorDetail[]): ErrorDetail[] {
  const seen = new Set<string>();
  const kept = problems.filter((problem) => {
    const key = `${problem.field}\n${problem.code}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
  return kept.slice(0, problemsMax);
}

type Findings = { ignored: string[]; problems: ErrorDetail[] };

function copyKnown(node: SchemaNode, value: unknown, path: string, found: Findings): unknown {
  if (typeof value === 'string') {
    assertStorable(value, path, found);
    return value;
  }
  if (Array.isArray(value)) {
    const items = node.items ?? anything;
    return value.map((item, i) => copyKnown(items, item, `${path}/${i}`, found));
  }
  if (typeof value !== 'object' || value === null) return value;
  if (node.properties === undefined) return copyFree(value, path, found);
  const known = node.properties;
  const copy: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    const property = Object.hasOwn(known, name) ? known[name] : undefined;
    if (property) copy[name] = copyKnown(property, item, `${path}/${name}`, found);
    // Where a typo would misprice, an unknown field is an error: the schema says so.
    else if (node.additionalProperties === false) unknownField(at(path, name), found);
    else if (found.ignored.length < ignoredNamesMax) found.ignored.push(fieldPath(at(path, name)));
  }
  return copy;
}

const anything: SchemaNode = {};

/** An object of no fixed shape is stored as it came, so all its texts must be such as can be. */
function copyFree(value: object, path: string, found: Findings): object {
  const entries = Object.entries(value).map(([name, item]) => {
    assertStorable(name, path, found);
    return [name, copyKnown(anything, item, at(path, name), found)] as const;
  });
  return Object.fromEntries(entries);
}

function at(path: string, name: string): string {
  return `${path}/${escapePointer(name)}`;
}

function unknownField(path: string, found: Findings): void {
  const field = fieldPath(path);
  found.problems.push({ field, code: 'UNKNOWN_FIELD', message: `${field} is not known here` });
}

/** PostgreSQL stores no NUL, and half a surrogate pair is no character. */
function assertStorable(text: string, path: string, found: Findings): void {
  if (!text.includes('\0') && text.isWellFormed()) return;
  const field = fieldPath(path);
  found.problems.push({
    field,
    code: 'INVALID_CHARACTER',
    message: `${field} contains a character that cannot be stored`,
  });
}
