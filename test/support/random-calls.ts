// Random calls of every operation, made from the catalogue.
import { type OperationName, operations } from '../../src/operations/catalogue.ts';
import type { Operation } from '../../src/operations/operation.ts';
import type { Harvest, Random, Values } from './random-values.ts';
import { changedAt, exampleOf, type Json, leavesOf, requestOf } from './requests.ts';
import { workingRequests } from './working-requests.ts';

export type RandomCall = {
  name: OperationName;
  operation: Operation;
  body: string;
  headers: Record<string, string>;
};

export type Sources = { random: Random; harvest: Harvest; values: Values };

/** A login that anybody may use. */
export const guest = { username: 'guest', password: 'correct horse battery' };

/** Rarer than others: each costs hashes of passwords, which take as long as a hundred calls. */
const dear = new Set([
  'changePassword',
  'login',
  'requestLink',
  'requestPasswordReset',
  'resetPassword',
  'logout',
  'makeLogins',
  'makeClients',
  'updateLogin',
]);
const dearOnceIn = 8;

export function randomCall(sources: Sources): RandomCall {
  const { random } = sources;
  let [name, operation] = random.pick(operations);
  while (dear.has(name) && !random.once(dearOnceIn)) [name, operation] = random.pick(operations);
  const { method, action } = operation;
  const words = { method, action, apiVersion: 'v2' };
  const fields = fieldsOf(sources, name, operation);
  const headers: Record<string, string> = {};
  if (random.once(12)) headers['Idempotency-Key'] = `key-${random.below(200)}`;
  const body = random.once(25)
    ? brokenText(sources, JSON.stringify({ ...words, ...fields }))
    : JSON.stringify({ ...words, ...fields });
  return { name, operation, body, headers };
}

function fieldsOf(sources: Sources, name: OperationName, operation: Operation): Json {
  const { random, values } = sources;
  const kind = random.below(10);
  if (kind === 0) return values.odd() as Json;
  const recipe = random.once(2) ? recipes[name] : undefined;
  const made = () =>
    random.once(2) ? drawn(sources, operation) : adapted(sources, name, operation);
  const good = recipe?.(sources) ?? made();
  return (kind < 7 ? good : values.spoiled(good)) as Json;
}

/** Where neither schema nor example leads to a success, because each needs something new. */
const recipes: Partial<Record<OperationName, (sources: Sources) => Json>> = {
  login: () => guest,
  makeClients: ({ random }) => ({
    clients: [
      {
        clientID: `client-${random.below(1e9)}`,
        clientSecret: 'x'.repeat(40),
        roles: ['Meter Reader'],
      },
    ],
  }),
  importData: ({ random, harvest }) => ({
    kind: 'Meters',
    content:
      'number,brand,meterType,purchaseDate,mf\r\n' +
      `${random.once(4) ? harvest.for('number') : random.below(1e9) + 1e6},Itron,` +
      `Electric single phase,15/01/2024,${random.pick(['1', '20', 'x'])}\r\n`,
    dryRun: random.once(3),
  }),
};

function drawn(sources: Sources, operation: Operation): Json {
  return withUpload(sources, operation, sources.values.valid(requestOf(operation)) as Json);
}

/** A request that works, about other things. */
function adapted(sources: Sources, name: OperationName, operation: Operation): Json {
  const { random, values } = sources;
  const start = structuredClone(workingRequests[name] ?? exampleOf(operation));
  const leaves = leavesOf(requestOf(operation));
  const changes = random.below(4);
  let body = start;
  for (let i = 0; i < changes && leaves.length > 0; i += 1) {
    const { path, node } = random.pick(leaves);
    const field = path.findLast((step) => step !== '0') ?? '';
    const change = () => values.valid(node, field);
    body = changedAt(body, requestOf(operation), path, change) as Json;
  }
  return random.once(2) ? withUpload(sources, operation, body) : body;
}

const uploads: Record<string, [list: string, columns: string[]]> = {
  '/billing/terms/upload-meter-readings': ['readings', ['connectionNumber', 'number', 'register']],
  '/billing/terms/post-manual-component-values': ['compsData', ['connectionNumber', 'component']],
  '/billing/terms/upload-usage': ['usage', ['connectionNumber', 'name']],
};

/** Uploads carry their rows as text. */
function withUpload({ random, harvest }: Sources, operation: Operation, body: Json): Json {
  const upload = Object.entries(uploads).find(([path]) => path === operation.path)?.[1];
  if (!upload) return body;
  const [list, columns] = upload;
  const row = () => [
    ...columns.map((column) => String(harvest.for(column) ?? 'x')),
    random.pick(['1', '250.5', '-3', 'x', '01/06/2026']),
    ...(random.once(2) ? ['15/06/2026'] : []),
  ];
  const rows = Array.from({ length: random.below(4) }, row);
  const inner = JSON.stringify({ termID: harvest.for('termID') ?? 1, [list]: rows });
  const data = random.once(10) ? inner.slice(0, -2) : inner;
  return { ...body, data: { data, sheduleTime: null } };
}

/** Text that is not JSON, or not the JSON that it seems. */
function brokenText({ random }: Sources, text: string): string {
  const many = (item: string, count: number) => Array(count).fill(item).join(',');
  return random.pick([
    () => text.slice(0, random.below(text.length)),
    () => text.replace('{', '{"__proto__":{"a":1},'),
    () => text.replace('{', '{"constructor":{"prototype":{"a":1}},'),
    () => `${text.slice(0, -1)},${text.slice(1)}`,
    () => `[${text}]`,
    () => `\ufeff${text}`,
    () => text.replace('{', `{"deep":${'['.repeat(40)}${']'.repeat(40)},`),
    () => text.replace('{', `{"many":[${many('0', 20_000)}],`),
    () => text.replace('{', `{"wide":{${many('"a":0', 900)}},`),
    () => text.replace('{', `{"rows":[${many('{"a":[1,2,{"b":null}]}', 8_000)}],`),
    () => text.replaceAll('"', "'"),
    () => text.replace(/\[.*\]/s, (list) => `[${many(list.slice(1, -1) || '0', 1_200)}]`),
    () => JSON.stringify(text),
    () => '',
  ])();
}
