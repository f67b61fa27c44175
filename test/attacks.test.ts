// Attacks on every operation, made from the catalogue: one that is added is attacked by itself.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { routes } from '../sdk/routes.ts';
import { validate } from '../src/base/validation/validate.ts';
import { catalogue, type OperationName, operations } from '../src/operations/catalogue.ts';
import { isRetrieve, type Operation } from '../src/operations/operation.ts';
import { seedBills, seeded } from './support/bill-rows.ts';
import type { TestClient } from './support/client.ts';
import { nastyFor } from './support/nasty-values.ts';
import { alwaysAnswered, customer, needCode, otherLogin } from './support/other-login.ts';
import {
  attackSeed,
  isWhole,
  note,
  ofThisRun,
  type Probes,
  probesFor,
  probesOf,
} from './support/probes.ts';
import {
  changedAt,
  exampleOf,
  isOfType,
  type Json,
  type Leaf,
  leavesOf,
  minimal,
  type Node,
  nameOf,
  objectsOf,
  type Path,
  requestOf,
} from './support/requests.ts';
import { openScene } from './support/scene.ts';
import {
  hashRows,
  logIn,
  openTwoWorkspaces,
  type Raw,
  rawCall,
  tablesOf,
} from './support/two-workspaces.ts';
import { prepareWorking, unmarkedAnyway, workingRequests } from './support/working-requests.ts';

// No worker runs here, and no call waits for a job.
const scene = await openScene({ ownDatabase: true, scheduleWaitSeconds: 0, apiConnections: 2 });
const two = await openTwoWorkspaces(scene);
const { a, b, tenantA, tenantB, mark } = two;

const guarded = operations.filter(([, { access }]) => access !== 'public');
const tokenCodes = /^(TOKEN_|BEARER_|WORKSPACE_)/;

/** Few at a time: the server hashes passwords, and refuses when too many wait for it. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = [...items].values();
  const workers = Array.from({ length: 6 }, async () => {
    for (const item of rest) await work(item);
  });
  await Promise.all(workers);
}

test('without a token every operation is refused, and nothing changes', async () => {
  const before = await hashRows(scene.sql);
  for (const [name, operation] of guarded) {
    for (const body of [operation.example, {}, { method: 'Nonsense' }]) {
      const headers = { 'Idempotency-Key': `${name} without token` };
      const answer = await rawCall(scene, name, body, { workspace: 'alpha', headers });
      assert.equal(answer.code, 'TOKEN_MISSING', name);
      assert.equal(answer.statusCode, 401);
    }
  }
  assert.deepEqual(await hashRows(scene.sql), before);
});

test("with another workspace's token every operation is refused, and nothing changes", async () => {
  const before = await hashRows(scene.sql);
  for (const [name, operation] of guarded) {
    for (const body of [operation.example, {}]) {
      const headers = { 'Idempotency-Key': `${name} elsewhere` };
      const options = { workspace: 'beta', token: a.token, headers };
      const answer = await rawCall(scene, name, body, options);
      assert.equal(answer.code, 'TOKEN_WORKSPACE_MISMATCH', name);
      assert.ok(!answer.text.includes(mark), name);
    }
  }
  assert.deepEqual(await hashRows(scene.sql), before);
});

test('tokens that were put together from pieces of real ones open nothing', async () => {
  const [prefixA] = (a.token ?? '').split('.');
  const [prefixB, secretB] = (b.token ?? '').split('.');
  const before = await hashRows(scene.sql);
  for (const token of [
    `${prefixA}.${secretB}`,
    `0${prefixB}.${secretB}`,
    `${prefixB?.toUpperCase()}.${secretB}x`,
    `${a.token} `.repeat(2).trim(),
    `Bearer ${a.token}`,
    'null',
  ]) {
    for (const workspace of ['alpha', 'beta']) {
      const answer = await rawCall(scene, 'getSettings', {}, { workspace, token });
      assert.match(answer.code ?? '', /^(TOKEN_INVALID|BEARER_PREFIX_NOT_USED)$/, token);
    }
  }
  assert.deepEqual(await hashRows(scene.sql), before);
});

// The ids, numbers and names of another workspace in every field.

const identifying = /id$|ids$|number|name|label|code|email|value|search|subject|actor|token|ref/i;

/**
 * Texts that are tried in each field of a definition, which names things and looks for none: fewer
 * where another operation brings the same definition.
 */
const definitionTexts = 3;
const knownDefinitionTexts = 1;

/** What was tried already: rules that refused with an error, and fields of definitions. */
type Tried = { refused: Set<string>; definitions: Set<string> };

type Chosen = typeof ofThisRun;

const every: Chosen = (values) => [...values];

/** The example, the least request, and the example with chosen values in fields that may name. */
function probing(operation: Operation, probes: Probes, tried: Tried, chosen: Chosen): Json[] {
  const request = requestOf(operation);
  const example = exampleOf(operation);
  const bodies = leavesOf(request).flatMap(({ path, node }) => {
    const name = path.findLast((step) => step !== '0') ?? '';
    if (!identifying.test(name) || name === 'pageNumber' || node.enum) return [];
    const all = chosen(probesFor(operation, node, name, probes), operation, path);
    const values = isDefinition(path) ? all.slice(0, textsFor({ path, node }, tried)) : all;
    const reached = reaching(operation, values, example, { path, node }, tried.refused);
    return reached.map(({ body }) => body);
  });
  return [example, minimal(request) as Json, ...bodies];
}

/**
 * A request with each of the values in a field. What the schema refuses gets no further, and knows
 * of no workspace: of those, one for each rule and error, whichever operation has the field.
 */
function reaching(
  operation: Operation,
  values: readonly unknown[],
  start: Json,
  { path, node }: Leaf,
  refused: Set<string>,
): { value: unknown; body: Json }[] {
  const request = requestOf(operation);
  return values.flatMap((value) => {
    const body = changedAt(start, request, path, () => value) as Json;
    const [problem] = validate(operation.request, body).problems;
    const refusal = problem && JSON.stringify([node, problem.code]);
    if (refusal && refused.has(refusal)) return [];
    if (refusal) refused.add(refusal);
    return [{ value, body }];
  });
}

function textsFor(leaf: Leaf, { definitions }: Tried): number {
  const key = definitionKey(leaf);
  const isKnown = definitions.has(key) && !isWhole;
  definitions.add(key);
  return isKnown ? knownDefinitionTexts : definitionTexts;
}

/** The same for a field of a definition, whichever operation brings it. */
function definitionKey({ path, node }: Leaf): string {
  return JSON.stringify([path.slice(-3), node]);
}

/** Whether a field is an item of a context or plan: what those define they do not look for. */
function isDefinition(path: Path): boolean {
  return ['service', 'tariff', 'tariffs'].includes(path[0] ?? '') && path.slice(1).includes('0');
}

/** With the contents of documents in the answer. */
const readOf = ({ text }: Raw) => {
  const documents = [...text.matchAll(/"base64":"([^"]*)"/g)].map(([, encoded = '']) =>
    Buffer.from(encoded, 'base64').toString('utf8'),
  );
  return [text, ...documents].join('\n');
};

const seenBy = (raw: Raw) => `${readOf(raw)}\n${JSON.stringify([...raw.headers])}`;

/** These may end a token, and get one of their own; to log in is dear. */
const isAboutLogins = ({ path }: Operation) => path.startsWith('/billing/auth/');

test("no operation shows or changes anything of B by B's ids, numbers, names or tokens", async (t) => {
  const probes = await probesOf(scene.sql, two);
  const session = await b.login({ username: 'b-clerk', password: 'correct horse battery' });
  note(probes.texts, session.data.refreshToken, 'refresh_token');
  note(probes.texts, session.data.accessToken, 'access_token');
  note(probes.texts, 'admin@beta.example', 'username');
  assert.ok(probes.numbers.size >= 7 && probes.texts.size >= 12);
  const before = await hashRows(scene.sql, tenantB);
  let sent = 0;
  const tried = { refused: new Set<string>(), definitions: new Set<string>() };
  const fresh = () => logIn(scene, 'alpha', 'admin@alpha.example');
  const shared = await fresh();
  await each(operations, async ([name, operation]) => {
    const isEnding = operation.method === 'Logout';
    let token = isAboutLogins(operation) ? await fresh() : shared;
    for (const body of probing(operation, probes, tried, ofThisRun)) {
      const answer = await rawCall(scene, name, body, { workspace: 'alpha', token });
      sent += 1;
      const what = `${name} ${JSON.stringify(body)}`;
      assert.ok(!seenBy(answer).includes(mark), what);
      assert.ok(answer.statusCode < 500, what);
      const isRefused = operation.access !== 'public' && tokenCodes.test(answer.code ?? '');
      assert.ok(!isRefused, `${what}: ${answer.code}`);
      const isRefusedAlways = operation.access === 'public' && !alwaysAnswered.has(name);
      if (isRefusedAlways) assert.ok(!answer.success, what);
      if (isEnding) token = await fresh();
    }
  });
  assert.ok(sent > operations.length * 4, `${sent} requests`);
  t.diagnostic(`seed ${attackSeed}: ${sent} requests`);
  assert.deepEqual(await hashRows(scene.sql, tenantB), before);
});

test('the same requests by B itself show the mark in every retrieval', async () => {
  const probes = await probesOf(scene.sql, two);
  const unmarked: string[] = [];
  const tried = { refused: new Set<string>(), definitions: new Set<string>() };
  await each(
    operations.filter(([, one]) => isRetrieve(one)),
    async ([name, operation]) => {
      let isSeen = false;
      for (const body of probing(operation, probes, tried, every)) {
        const answer = await rawCall(scene, name, body, { workspace: 'beta', token: b.token });
        isSeen ||= readOf(answer).includes(mark);
        if (isSeen) break;
      }
      if (!isSeen && !unmarkedAnyway.has(name)) unmarked.push(name);
    },
  );
  assert.deepEqual(unmarked, [], 'let two-workspaces.ts make something that these show');
});

// Undeclared fields.

/** In two days: no worker runs here, and a due job would hold its term for ever. */
const sheduleTime = Temporal.Now.plainDateTimeISO('Asia/Karachi')
  .add({ days: 2 })
  .toString({ smallestUnit: 'second' });

function uploadOf(list: string): Json {
  const data = JSON.stringify({ termID: 1, [list]: [] });
  return { operation: 'schedule', data: { data, sheduleTime } };
}

const stepOf = (termID: number, more: Json = {}): Json => ({
  operation: 'schedule',
  data: { termID, sheduleTime, ...more },
});

/** Requests that work in a new workspace, where the example needs something that is not there. */
const working: Partial<Record<OperationName, Json>> = {
  ...workingRequests,
  updateService: exampleOf(catalogue.createService),
  removeBillingAccounts: { data: { billingGroupID: 1, connectionGroupIDs: [1] } },
  moveClock: { data: { to: '2034-01-01T00:00:00' } },
  changePassword: {
    data: { currentPassword: 'correct horse battery', newPassword: 'staple of the second kind' },
  },
  uploadMeterReadings: uploadOf('readings'),
  postManualComponentValues: uploadOf('compsData'),
  uploadUsage: uploadOf('usage'),
  postMeterReadings: {
    operation: 'schedule',
    data: { termID: 1, reading: 'current', sheduleTime },
  },
  unpostMeterReadings: { data: { termID: 1, sheduleTime } },
  // Leaves the time zone as it is.
  updateSettings: { data: { name: 'Another name', locale: 'en-PK' } },
  generateBills: stepOf(seeded.generatedTerm),
  cancelJob: { data: { jobID: seeded.waitingJob } },
  holdBill: { data: { billID: 1, hold: false } },
  postBills: stepOf(seeded.generatedTerm, { acceptDueDate: true }),
  publishBills: stepOf(seeded.postedTerm, { acceptDueDate: true }),
  unpostBills: stepOf(seeded.postedTerm, { reason: 'wrong prices' }),
  cancelBill: { data: { billID: seeded.creditedBill, reason: 'wrong prices' } },
  billConnection: { data: { connectionNumber: 'SUB-14', sheduleTime } },
  distributeBills: stepOf(seeded.publishedTerm),
  resolveDeliveries: {
    data: {
      termID: seeded.publishedTerm,
      deliveryIDs: [seeded.delivery],
      resolution: 'Sent',
    },
  },
};

const extras = JSON.parse(`{
  "tenantID": ${tenantA}, "tenant_id": ${tenantA}, "status": "POLLUTED", "balance": 987654321,
  "createdBy": "POLLUTED", "ts": 987654321, "archived": true, "passwordHash": "POLLUTED",
  "__proto__": { "polluted": "POLLUTED", "name": "POLLUTED" },
  "constructor": { "prototype": { "polluted": "POLLUTED" } },
  "prototype": { "polluted": "POLLUTED" }
}`) as Json;

function extrasFor(node: Node): [string, unknown][] {
  return Object.entries(extras).filter(([name]) => !Object.hasOwn(node.properties ?? {}, name));
}

function polluted(value: unknown, node: Node): unknown {
  const copy = { ...(value as Json) };
  for (const [name, extra] of extrasFor(node)) {
    Object.defineProperty(copy, name, { value: extra, enumerable: true, configurable: true });
  }
  return copy;
}

/** Where prices are defined, an unknown field is refused, not ignored. */
const isClosed = ({ node }: Leaf) => node.additionalProperties === false;
const openObjectsOf = (request: Node) => objectsOf(request).filter((leaf) => !isClosed(leaf));

const changes = guarded.filter(
  ([name, operation]) => !isRetrieve(operation) && !needCode.has(name),
);

/** The request with every declared object in it, so that each level can be polluted. */
function wholeRequest(name: OperationName, operation: Operation): Json {
  const request = requestOf(operation);
  const start = working[name] ?? exampleOf(operation);
  return objectsOf(request).reduce(
    (body, { path }) => changedAt(body, request, path, (found) => found) as Json,
    start,
  );
}

async function prepare(workspace: string, timezone = 'Asia/Karachi'): Promise<TestClient> {
  const client = await scene.workspace(workspace, { sandbox: true, timezone });
  await prepareWorking(client);
  await seedBills(scene, client, 'seeded');
  return client;
}

const volatile = new Set(
  `tenant_id created_at modified_at read_in at used_at revoked_at spent_at expires_at finished_at ts
   password_hash secret secret_hash token_hash session_id request_id clock_offset_ms access_epoch
   createdAt modifiedAt now unit_ts written_in`.split(/\s+/),
);

/** All rows of a workspace, without what differs between two workspaces that did the same. */
async function factsOf(client: TestClient): Promise<Record<string, string[]>> {
  const facts: Record<string, string[]> = {};
  for (const table of await tablesOf(scene.sql)) {
    const { rows } = await scene.sql.query<{ row: Json }>(
      `select to_jsonb(t) as row from ${table} t where tenant_id = find_workspace($1)`,
      [client.workspace],
    );
    const texts = rows.map(({ row }) => JSON.stringify(row, withoutVolatile));
    facts[table] = texts
      .map((text) =>
        text
          .replaceAll(client.workspace, 'workspace')
          .replace(uuid, 'uuid')
          .replace(requestId, 'id'),
      )
      .sort();
  }
  return facts;
}

const requestId = /\b01[0-9A-Z]{24}\b/g;
const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const instant = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/;

function withoutVolatile(key: string, value: unknown): unknown {
  if (volatile.has(key)) return undefined;
  return typeof value === 'string' && instant.test(value) ? 'instant' : value;
}

test('undeclared fields are named, never stored, and touch no prototype', async () => {
  const plain = await prepare('gamma');
  const dirty = await prepare('delta');
  for (const [name, operation] of changes) {
    const request = requestOf(operation);
    const body = wholeRequest(name, operation);
    const bad = openObjectsOf(request).reduceRight(
      (made, { path }) => changedAt(made, request, path, polluted),
      body as unknown,
    ) as Json;
    const good = await callFresh(name, operation, plain, body);
    assert.ok(good.success, `${name} must work here, or this proves nothing: ${good.text}`);
    await assertAudited(name, good);
    const answer = await callFresh(name, operation, dirty, bad);
    assert.ok(answer.success, `${name}: ${answer.text}`);
    assert.ok(!seenBy(answer).includes('POLLUTED'), name);
    assert.equal(({} as Json).polluted, undefined, name);
    const seen = answer.headers.get('x-ignored-fields')?.split(',').length;
    const all = openObjectsOf(request).flatMap(({ node }) => extrasFor(node)).length;
    assert.equal(seen, Math.min(20, all), name);
  }
  const [clean, other] = [await factsOf(plain), await factsOf(dirty)];
  assert.deepEqual(other, clean);
  assert.doesNotMatch(JSON.stringify(other), /POLLUTED|987654321/);
});

/** Logging out ends the token that is used, so it gets one of its own. */
async function callFresh(
  name: OperationName,
  operation: Operation,
  client: TestClient,
  body: Json,
): Promise<Raw> {
  const { workspace } = client;
  const isEnding = operation.method === 'Logout';
  if (name === 'changePassword') return callAsOther(name, client, body);
  if (name === 'updateOwnDetails') return callAsOther(name, client, body, customer);
  const token = isEnding
    ? await logIn(scene, workspace, `admin@${workspace}.example`)
    : client.token;
  return rawCall(scene, name, body, { workspace, token });
}

/** A changed password ends the other sessions of the login, so another login changes its own. */
async function callAsOther(
  name: OperationName,
  client: TestClient,
  body: Json,
  holder?: typeof customer,
): Promise<Raw> {
  const token = await otherLogin(scene, client, holder);
  return rawCall(scene, name, body, { workspace: client.workspace, token });
}

async function assertAudited(name: string, answer: Raw): Promise<void> {
  const { rows } = await scene.sql.query(
    'select actor, operation, address, before, after from audit_entries where request_id = $1',
    [answer.headers.get('x-request-id')],
  );
  assert.ok(rows.length > 0, `${name} changed something and left no trace`);
  const { path, action } = routes[name as OperationName];
  for (const row of rows) {
    assert.equal(row.operation, `${path} ${action}`);
    assert.match(row.actor, /^admin@/);
    assert.ok(row.address && (row.before || row.after), name);
  }
}

test('at every level of every request, all undeclared fields are named', async () => {
  const client = await prepare('epsilon');
  for (const [name, operation] of changes) {
    const request = requestOf(operation);
    for (const { path, node } of openObjectsOf(request)) {
      const body = changedAt(exampleOf(operation), request, path, polluted) as Json;
      const answer = await callFresh(name, operation, client, body);
      const ignored = (answer.headers.get('x-ignored-fields') ?? '').split(',').sort();
      // A list may be declared and mean nothing here, such as skills of a customer.
      const list = nameOf(path.slice(0, -1));
      const named = ignored.filter((one) => one !== list);
      const sent = extrasFor(node).map(([extra]) => nameOf([...path, extra]));
      assert.deepEqual(named, sent.sort(), `${name} ${nameOf(path)}: ${answer.code}`);
    }
  }
});

test('an undeclared field where prices are defined is refused', async () => {
  let refused = 0;
  for (const [name, operation] of guarded) {
    const request = requestOf(operation);
    for (const { path } of objectsOf(request).filter(isClosed)) {
      const body = changedAt(exampleOf(operation), request, path, polluted) as Json;
      const answer = await rawCall(scene, name, body, at(a));
      assert.ok(!answer.success && answer.text.includes('UNKNOWN_FIELD'), name + nameOf(path));
      refused += 1;
    }
  }
  assert.ok(refused >= 12, `${refused} places`);
});

// Values of the wrong kind.

/**
 * Of the texts beside each other that have the same rules, the first. Of numbers each: one goes
 * into a column of eight bytes, another with the same rules into one of four or two.
 */
function differing(leaves: readonly Leaf[]): Leaf[] {
  const rules = leaves.map(({ path, node }) => JSON.stringify([path.slice(0, -1), node]));
  return leaves.filter(
    ({ node }, index) => isOfType(node, 'integer') || rules.indexOf(rules[index] ?? '') === index,
  );
}

test('no value in any field makes an operation fail', async (t) => {
  // Its midnight is the next day elsewhere, and the last day of a year the next year.
  const client = await prepare('zeta', 'America/Los_Angeles');
  const failures: string[] = [];
  // A definition is judged alike whichever operation brings it.
  const definitions = new Set<string>();
  const refused = new Set<string>();
  let sentCount = 0;
  const fresh = () => logIn(scene, 'zeta', 'admin@zeta.example');
  const shared = await fresh();
  await each(operations, async ([name, operation]) => {
    const request = requestOf(operation);
    // A changed password ends the other sessions of the login.
    const isChange = name === 'changePassword';
    let token = isAboutLogins(operation)
      ? await (isChange ? otherLogin(scene, client) : fresh())
      : shared;
    for (const leaf of differing(leavesOf(request))) {
      const { path } = leaf;
      const key = isDefinition(path) && definitionKey(leaf);
      if (key && definitions.has(key)) continue;
      if (key) definitions.add(key);
      const start = working[name] ?? exampleOf(operation);
      const values = ofThisRun(nastyFor(leaf), operation, path);
      for (const { value, body } of reaching(operation, values, start, leaf, refused)) {
        const answer = await rawCall(scene, name, body, { workspace: 'zeta', token });
        sentCount += 1;
        if (operation.method === 'Logout') token = await fresh();
        const isRefused = operation.access !== 'public' && tokenCodes.test(answer.code ?? '');
        if (answer.statusCode < 500 && !isRefused) continue;
        failures.push(
          `${name} ${nameOf(path)} = ${JSON.stringify(value)?.slice(0, 60)}: ${answer.code}`,
        );
      }
    }
  });
  assert.deepEqual(failures, []);
  t.diagnostic(`seed ${attackSeed}: ${sentCount} requests`);
});

test('objects of any shape are limited in size', async () => {
  const big = { text: 'x'.repeat(70_000) };
  for (const data of [{ letterhead: big }, { reminders: [big] }]) {
    const answer = await rawCall(scene, 'updateSettings', { data }, at(a));
    assert.equal(answer.code, 'FIELD_TOO_LONG');
  }
});

function at(client: TestClient): { workspace: string; token: string | null } {
  return { workspace: client.workspace, token: client.token };
}
