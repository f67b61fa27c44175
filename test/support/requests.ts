// Requests made from the operations' own schemas, so that a new operation is tried by itself.
import type { SchemaNode } from '../../src/base/validation/problems.ts';
import type { Operation } from '../../src/operations/operation.ts';

export type Json = Record<string, unknown>;
/** Names of fields; '0' is the first item of an array. */
export type Path = readonly string[];
export type Node = SchemaNode & {
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  anyOf?: Node[];
};
export type Leaf = { path: Path; node: Node };

export function requestOf(operation: Operation): Node {
  return operation.request as Node;
}

export function exampleOf(operation: Operation): Json {
  return structuredClone(operation.example) as Json;
}

/** Every field that holds a plain value, or values of any shape. */
export function leavesOf(node: Node, path: Path = []): Leaf[] {
  if (node.properties) {
    return Object.entries(node.properties).flatMap(([name, child]) =>
      leavesOf(child, [...path, name]),
    );
  }
  if (node.items) return leavesOf(node.items, [...path, '0']);
  return [{ path, node }];
}

/** Every object whose fields are declared, the request itself first. */
export function objectsOf(node: Node, path: Path = []): Leaf[] {
  if (node.items) return objectsOf(node.items, [...path, '0']);
  if (!node.properties) return [];
  const inner = Object.entries(node.properties).flatMap(([name, child]) =>
    objectsOf(child, [...path, name]),
  );
  return [{ path, node }, ...inner];
}

export function isOfType(node: Node, type: string): boolean {
  return [node.type ?? []].flat().includes(type);
}

/** `users[0].name`, as errors and X-Ignored-Fields write it. */
export function nameOf(path: Path): string {
  return path
    .map((step, index) => (step === '0' ? '[0]' : index === 0 ? step : `.${step}`))
    .join('');
}

/**
 * A copy of the value with a change at the path; missing objects and arrays on the way are created
 * with their required fields.
 */
export function changedAt(
  value: unknown,
  node: Node,
  path: Path,
  change: (found: unknown, node: Node) => unknown,
): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return change(value, node);
  if (step === '0') {
    const items = Array.isArray(value) ? value : [];
    const child = node.items ?? {};
    return [changedAt(items[0] ?? minimal(child), child, rest, change), ...items.slice(1)];
  }
  const fields = (value ?? minimal(node)) as Json;
  const child = node.properties?.[step] ?? {};
  const known = Object.hasOwn(fields, step) ? fields[step] : missing(child);
  return { ...fields, [step]: changedAt(known, child, rest, change) };
}

function missing(node: Node): unknown {
  return node.properties ? minimal(node) : undefined;
}

const byFormat: Record<string, string> = {
  'date-dmy': '01/01/2027',
  'date-compact': '01012027',
  'local-date-time': '2099-01-01T00:00:00',
  'time-of-day': '08:30',
  'schedule-time': '2026-01-01T00:00:00',
  email: 'somebody@example.com',
  country: 'PK',
  'vat-id': 'DE123456789',
  currency: 'PKR',
  'time-zone': 'Asia/Karachi',
  locale: 'en-PK',
  'contact-type': 'Mobile',
  'number-format': '{number}',
  'address-range': '10.0.0.0/8',
  'definition-name': 'someName',
  'sender-name': 'City Power',
};

/** The least that a schema accepts. */
export function minimal(node: Node): unknown {
  if (node.enum) return node.enum[0];
  if (node.anyOf?.[0]) return minimal(node.anyOf[0]);
  if (node.properties) {
    const required = node.required ?? [];
    return Object.fromEntries(
      required.map((name) => [name, minimal(node.properties?.[name] ?? {})]),
    );
  }
  if (node.items) return node.minItems ? [minimal(node.items)] : [];
  if (isOfType(node, 'string')) return minimalText(node);
  if (isOfType(node, 'integer') || isOfType(node, 'number')) return node.minimum ?? 1;
  if (isOfType(node, 'boolean')) return true;
  return isOfType(node, 'object') ? {} : null;
}

function minimalText(node: Node): string {
  if (node.format !== undefined) {
    const text = byFormat[node.format];
    if (text === undefined) throw new Error(`say in requests.ts what a ${node.format} looks like`);
    return text;
  }
  return 'some text'.padEnd(node.minLength ?? 0, '.');
}
