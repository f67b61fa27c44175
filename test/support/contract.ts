// The published contract as data: its catalogue of operations, the tables of its resources, and the
// fields that the text of each operation names.
import { existsSync, readFileSync } from 'node:fs';

const file = new URL('../../../shared/spec/billing-service-api.md', import.meta.url);

export type ContractOperation = {
  number: number;
  path: string;
  /** null where none is sent. */
  method: string | null;
  action: string | null;
  /** Names that the text of the request gives, as fields or as values. */
  requestNames: string[];
  /** What the text says of `data`. */
  response: string;
};

export type ContractField = { name: string; type: string; notes: string };

export type Contract = {
  operations: ContractOperation[];
  /** Fields by the heading of the resource. */
  resources: Map<string, ContractField[]>;
};

export function readContract(): Contract | undefined {
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, 'utf8');
  return { operations: operationsOf(text), resources: resourcesOf(text) };
}

/** Sections by their headings of three signs, in order. */
function sections(text: string): { heading: string; body: string }[] {
  return text
    .split(/^### /m)
    .slice(1)
    .map((part) => {
      const [heading = '', ...lines] = part.split('\n');
      return { heading, body: lines.join('\n').split(/^## /m)[0] ?? '' };
    });
}

function rowsOf(body: string): string[][] {
  return body
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|[-| ]+\|$/.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    )
    .slice(1);
}

function operationsOf(text: string): ContractOperation[] {
  const parts = sections(text);
  const context = parts.find(({ heading }) => heading.startsWith('Pricing context'))?.body ?? '';
  const module = parts.find(({ heading }) => heading.startsWith('Pricing module'))?.body ?? '';
  // Where the text of an operation only points to the resource.
  const pointed: Record<string, string[]> = {
    10: namesOf(/As sent on update[^\n]*/.exec(context)?.[0] ?? ''),
    11: rowsOf(module).map(([name = '']) => name),
    12: rowsOf(module).map(([name = '']) => name),
  };
  const catalogue = parts.find(({ heading }) => heading.startsWith('Operation catalogue'));
  return rowsOf(catalogue?.body ?? '').map(([number = '', path = '', method = '', action = '']) => {
    const body = parts.find(({ heading }) => heading.startsWith(`${number}. `))?.body ?? '';
    const [request = '', ...rest] = body.split(/Response(?: `data`|: )|Shape of `data`/);
    const isSent = !method.startsWith('(');
    return {
      number: Number(number),
      path,
      method: isSent ? method : null,
      action: isSent ? action : null,
      requestNames: [...new Set([...namesOf(request), ...(pointed[number] ?? [])])],
      response: rest.join(' '),
    };
  });
}

const identifier = /^[A-Za-z][A-Za-z0-9]*$/;
/** Words between backticks or braces that are no names of the wire. */
const noNames = new Set(['schedule', 'current', 'customer', 'v2', 'true', 'data']);

/** Words in backticks, first cells of tables, and what stands in braces. */
function namesOf(text: string): string[] {
  const quoted = [...text.matchAll(/`([^`]+)`/g)].flatMap(([, word = '']) =>
    (word.split(':')[0] ?? '').split('.'),
  );
  const cells = rowsOf(text).map(([name = '']) => name);
  const braced = bracedParts(text);
  const all = [...quoted, ...cells, ...braced].map((word) => word.trim());
  return [...new Set(all)].filter((word) => identifier.test(word) && !noNames.has(word));
}

/** The names in braces, however deep: `users[{name, contacts[{type (string)}]}]`. */
function bracedParts(text: string): string[] {
  let depth = 0;
  let inside = '';
  for (const char of text) {
    if (char === '{') depth += 1;
    // What is beside a brace belongs to another name.
    if (depth > 0) inside += /[{}[\]]/.test(char) ? ',' : char;
    if (char === '}') depth -= 1;
  }
  return inside
    .replaceAll(/\([^()]*\)/g, '')
    .split(',')
    .map(
      (part) =>
        part
          .replace(/^ *optional /, '')
          .trim()
          .split(/[: ]/)[0] ?? '',
    );
}

function resourcesOf(text: string): Map<string, ContractField[]> {
  const found = sections(text).filter(({ body }) => /^\| Field \| Type/m.test(body));
  return new Map(
    found.map(({ heading, body }) => [
      heading.replace(/ \(.*$/, ''),
      rowsOf(body).flatMap(([names = '', type = '', notes = '']) =>
        names.split(',').map((name) => ({ name: name.trim(), type, notes })),
      ),
    ]),
  );
}

/** What a value must be, by the words of the contract's tables; undefined when it is that. */
export function typeProblem(value: unknown, type: string): string | undefined {
  const words = type.replace(/ \(.*$/, '').replace(/, form.*$/, '');
  const isFine = words.split(' or ').some((word) => isOf(value, word.trim()));
  return isFine ? undefined : `${JSON.stringify(value)} is no ${type}`;
}

function isOf(value: unknown, word: string): boolean {
  if (word === '' || word === 'nullable') return value !== undefined;
  if (word === 'null') return value === null;
  if (word === 'integer') return Number.isInteger(value);
  if (word === 'number') return typeof value === 'number';
  if (word === 'string') return typeof value === 'string';
  const item = /^array of \{(.*)\}$/.exec(word)?.[1];
  if (item !== undefined) {
    return Array.isArray(value) && value.every((one) => hasFields(one, item));
  }
  if (word.startsWith('array')) return Array.isArray(value);
  const fields = /^(?:object: (.*)|\{(.*)\})$/.exec(word);
  if (fields) return hasFields(value, fields[1] ?? fields[2] ?? '');
  throw new Error(`the contract has a type that is not understood: ${word}`);
}

/** `name: string, value: string`, or names alone. */
function hasFields(value: unknown, text: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return text.split(',').every((part) => {
    const [name = '', type] = part.trim().split(': ');
    const own = (value as Record<string, unknown>)[name.trim()];
    return own !== undefined && (type === undefined || isOf(own, type));
  });
}
