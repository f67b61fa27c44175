// The typed client against every operation: what is right compiles, what is wrong does not.
// `npm run check` runs it, beside the other types: it takes the compiler.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import type { SchemaNode } from '../src/base/validation/problems.ts';
import { operations } from '../src/operations/catalogue.ts';
import type { Operation } from '../src/operations/operation.ts';
import { root } from './support/source.ts';

const folder = join(root, 'test/.generated', `sdk-${process.pid}`);
after(() => rm(folder, { recursive: true, force: true }));

type Line = { label: string; text: string };
type Json = Record<string, unknown>;

const call = (name: string, body: unknown) => `await client.${name}(${JSON.stringify(body)});`;

function rightCalls([name, { example }]: readonly [string, Operation]): Line[] {
  return [
    { label: `${name} with its example`, text: call(name, example) },
    {
      label: `${name} with options`,
      text: `await client.${name}(${JSON.stringify(example)}, {});`,
    },
  ];
}

function wrongCalls([name, operation]: readonly [string, Operation]): Line[] {
  const { request } = operation;
  const example = operation.example as Json;
  const schema = request as SchemaNode;
  const unknown = { ...example, fieldNobodyKnows: 1 };
  const missing = (schema.required ?? []).map((field): Line => {
    const { [field]: _, ...rest } = example;
    return { label: `${name} without ${field}`, text: call(name, rest) };
  });
  const mistyped = leavesOf(schema, []).map(
    (path): Line => ({
      label: `${name} with a wrong type of ${path.join('.')}`,
      text: call(name, withWrongType(example, schema, path)),
    }),
  );
  return [
    { label: `${name} with an unknown field`, text: call(name, unknown) },
    {
      label: `${name} read wrongly`,
      text: `(await client.${name}(${JSON.stringify(example)})).data.nope;`,
    },
    ...missing,
    ...mistyped,
  ];
}

/** Paths of all fields that have a type of their own. */
function leavesOf(node: SchemaNode, path: string[]): string[][] {
  if (node.properties) {
    return Object.entries(node.properties).flatMap(([name, child]) =>
      leavesOf(child, [...path, name]),
    );
  }
  if (node.items) return leavesOf(node.items, [...path, '0']);
  return [path];
}

/** The example with one value of a type that no field has. */
function withWrongType(value: unknown, node: SchemaNode, path: string[]): unknown {
  const [step, ...rest] = path;
  if (step === undefined) {
    return [node.type].flat().includes('object') ? 7 : { fieldNobodyKnows: [[1]] };
  }
  if (step === '0' && node.items) {
    const items = Array.isArray(value) ? value : [];
    return [withWrongType(items[0], node.items, rest), ...items.slice(1)];
  }
  const fields = (value ?? {}) as Json;
  const child = node.properties?.[step] ?? {};
  return { ...fields, [step]: withWrongType(fields[step], child, rest) };
}

const header = `import { createClient } from '../../../sdk/client.ts';
const client = createClient({ baseUrl: 'http://demo.localhost:8080' });
`;

async function compile(files: Record<string, Line[]>): Promise<Map<string, Set<number>>> {
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: '../../../tsconfig.json', include: ['./*.ts'] }),
  );
  for (const [name, lines] of Object.entries(files)) {
    const text = lines.map((line) => line.text).join('\n');
    await writeFile(join(folder, `${name}.ts`), `${header}${text}\n`);
  }
  const tsc = join(root, 'node_modules/.bin/tsc');
  // Of several threads each would find out the same types for itself.
  const args = ['-p', folder, '--pretty', 'false', '--singleThreaded'];
  const output = await promisify(execFile)(tsc, args, { maxBuffer: 64 * 1024 * 1024 }).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
  const found = new Map<string, Set<number>>();
  for (const match of output.matchAll(/^(.+?)\((\d+),\d+\): error TS\d+/gm)) {
    const file = match[1]?.split('/').at(-1)?.replace(/\.ts$/, '') ?? '';
    found.set(file, (found.get(file) ?? new Set()).add(Number(match[2]) - 3));
  }
  return found;
}

const right = operations.flatMap(rightCalls);
const wrong = operations.flatMap(wrongCalls);
const errors = await compile({ right, wrong });

test('every operation can be called with its example', () => {
  const refused = right.filter((_, index) => errors.get('right')?.has(index));
  assert.deepEqual(
    refused.map((line) => line.label),
    [],
  );
});

test('an unknown field, a missing field and a wrong type do not compile', () => {
  const accepted = wrong.filter((_, index) => !errors.get('wrong')?.has(index));
  assert.deepEqual(
    accepted.map((line) => line.label),
    [],
  );
  assert.ok(wrong.length > operations.length * 3, `only ${wrong.length} wrong calls were tried`);
});
