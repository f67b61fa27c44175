// The catalogue of operations: nothing is half declared.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { errorCodes } from '../src/base/errors.ts';
import type { SchemaNode } from '../src/base/validation/problems.ts';
import { validate } from '../src/base/validation/validate.ts';
import { sdkRoutes } from '../src/commands/sdk.ts';
import { permissions } from '../src/domain/access/roles.ts';
import { commonErrors } from '../src/http/openapi.ts';
import { operations } from '../src/operations/catalogue.ts';
import type { Operation } from '../src/operations/operation.ts';
import { readSources } from './support/source.ts';

/** Files under operations/ that are about all of them. */
const shared = new Set([
  'operation.ts',
  'catalogue.ts',
  'fields.ts',
  'listing.ts',
  'approving.ts',
  'scheduling.ts',
]);

/** The one path with several operations: their files are in its folder. */
const folderPath = '/billing/billing-groups';

const files = readSources('src/operations')
  .map(({ path }) => path.slice('src/operations/'.length))
  .filter((path) => !shared.has(path) && !path.endsWith('-fields.ts'));

async function operationsIn(file: string): Promise<Operation[]> {
  const exported: Record<string, unknown> = await import(`../src/operations/${file}`);
  return Object.values(exported).filter(
    (one): one is Operation => typeof one === 'object' && one !== null && 'handle' in one,
  );
}

test('each file holds one operation, whose path is its own, and which is in the catalogue', async () => {
  const known = new Set(operations.map(([, operation]) => operation));
  for (const file of files) {
    const found = await operationsIn(file);
    assert.equal(found.length, 1, `${file} has ${found.length} operations`);
    for (const operation of found) {
      const own = `/billing/${file.replace(/\.ts$/, '')}`;
      const isMember = operation.path === folderPath && own.startsWith(`${folderPath}/`);
      assert.ok(operation.path === own || isMember, `${file} declares ${operation.path}`);
      assert.ok(known.delete(operation), `${file} is not in the catalogue`);
    }
  }
  assert.deepEqual([...known], [], 'operations without a file of their own');
});

test('every operation names its access, with a permission that exists', () => {
  for (const [name, { access }] of operations) {
    if (typeof access === 'string') {
      assert.ok(['public', 'authenticated', 'login'].includes(access), name);
      continue;
    }
    assert.ok(permissions.includes(access.permission), `${name}: ${access.permission}`);
    assert.ok(access.own === undefined || permissions.includes(access.own), name);
  }
  const open = operations.filter(([, { access }]) => typeof access === 'string');
  assert.deepEqual(
    open.map(([name, { access }]) => [name, access]),
    [
      ['login', 'public'],
      ['refreshToken', 'public'],
      ['requestLink', 'public'],
      ['redeemLink', 'public'],
      ['requestPasswordReset', 'public'],
      ['resetPassword', 'public'],
      ['enrolTotp', 'login'],
      ['confirmTotp', 'login'],
      ['logout', 'authenticated'],
      ['changePassword', 'login'],
      // Each kind asks for its own permission.
      ['search', 'authenticated'],
    ],
    'an operation without a permission needs a reason that everybody agrees to',
  );
});

test('every permission is asked for by an operation', () => {
  const asked = new Set(
    operations.flatMap(([, { access }]) =>
      typeof access === 'string' ? [] : [access.permission, access.own],
    ),
  );
  assert.deepEqual(
    permissions.filter((name) => !asked.has(name)),
    [],
  );
});

test('every operation lists errors that exist, each once, and none that any call can get', () => {
  for (const [name, { errors }] of operations) {
    assert.equal(new Set(errors).size, errors.length, `${name} lists a code twice`);
    const unknown = errors.filter((code) => !Object.hasOwn(errorCodes, code));
    const common = errors.filter((code) => commonErrors.includes(code));
    assert.deepEqual(unknown, [], name);
    assert.deepEqual(common, [], `${name} repeats common codes`);
  }
  assert.deepEqual(
    commonErrors.filter((code) => !Object.hasOwn(errorCodes, code)),
    [],
  );
});

test('every operation has a summary and an example that its own schema accepts', () => {
  for (const [name, operation] of operations) {
    assert.match(operation.summary, /^[A-Z].*\.$/, `${name}: a sentence`);
    const example = operation.example as Record<string, unknown>;
    const { problems, ignored } = validate(operation.request, example);
    assert.deepEqual(problems, [], name);
    assert.deepEqual(ignored, [], name);
  }
});

test('an example that its schema refuses is found', () => {
  const [, first] = operations.find(([name]) => name === 'addBillingGroup') ?? [];
  assert.ok(first);
  assert.equal(validate(first.request, { name: 7, nmae: 'x' }).problems.length, 1);
  assert.deepEqual(validate(first.request, { name: 'x', nmae: 'x' }).ignored, ['nmae']);
});

/** Objects of any shape, each with the place where its size is limited. */
const freeForm: Record<string, string> = {
  'makeConnections connection.variants[]': 'connection-fields.ts: 64 KiB',
  'makeConnections connection[].variants[]': 'connection-fields.ts: 64 KiB',
  'updateConnection data.variants[]': 'connection-fields.ts: 64 KiB',
  'updateSettings data.letterhead': 'update-settings.ts: 64 KiB',
  'updateSettings data.reminders[]': 'update-settings.ts: 64 KiB',
  'createService service.values[].default[]': 'service-fields.ts: 1 MiB for each table',
  'updateService service.values[].default[]': 'service-fields.ts: 1 MiB for each table',
  'createTariff tariff.valueFormulas[].rows[]': 'tariff-fields.ts: 1 MiB for each table',
  'createTariff tariff.usageData[]': 'tariff-fields.ts: 64 KiB',
  'createTariff tariff.securityAttributes[]': 'tariff-fields.ts: 64 KiB',
  'updateTariff tariff.valueFormulas[].rows[]': 'tariff-fields.ts: 1 MiB for each table',
  'updateTariff tariff.usageData[]': 'tariff-fields.ts: 64 KiB',
  'updateTariff tariff.securityAttributes[]': 'tariff-fields.ts: 64 KiB',
  'simulateTariff service.values[].default[]': 'service-fields.ts: 1 MiB for each table',
  'simulateTariff tariffs[].valueFormulas[].rows[]': 'tariff-fields.ts: 1 MiB for each table',
  'simulateTariff tariffs[].usageData[]': 'tariff-fields.ts: 64 KiB',
  'simulateTariff tariffs[].securityAttributes[]': 'tariff-fields.ts: 64 KiB',
  'simulateTerm tariffs[].valueFormulas[].rows[]': 'tariff-fields.ts: 1 MiB for each table',
  'simulateTerm tariffs[].usageData[]': 'tariff-fields.ts: 64 KiB',
  'simulateTerm tariffs[].securityAttributes[]': 'tariff-fields.ts: 64 KiB',
  'simulateTariff scenario.connection.variants[].value[]': 'simulate-tariff.ts: 64 KiB',
  'simulateTariff scenario.uploadedUsage': 'simulate-tariff.ts: 1 MiB',
  'simulateTariff scenario.usageHistory': 'simulate-tariff.ts: 64 KiB',
  'simulateTariff scenario.previousTerm.usage': 'simulate-tariff.ts: 64 KiB',
  'simulateTariff scenario.previousTerm.billed': 'simulate-tariff.ts: 64 KiB',
};

function unbounded(node: SchemaNode & Bounds, path: string): string[] {
  const types = [node.type ?? []].flat();
  const isText = types.includes('string') && node.enum === undefined;
  const children = Object.entries(node.properties ?? {}).flatMap(([name, child]) =>
    unbounded(child, path === '' ? name : `${path}.${name}`),
  );
  const isOpen = types.includes('object') && node.properties === undefined;
  const isEndless = types.some((type) => type === 'integer' || type === 'number');
  const isUntyped = types.length === 0 && node.enum === undefined && node.anyOf === undefined;
  return [
    ...children,
    ...(node.items ? unbounded(node.items, `${path}[]`) : []),
    ...(node.anyOf ?? []).flatMap((branch) => unbounded(branch, path)),
    ...(isText && node.maxLength === undefined ? [`${path}: text without maxLength`] : []),
    ...(types.includes('array') && node.maxItems === undefined ? [`${path}: no maxItems`] : []),
    ...(isEndless && node.maximum === undefined ? [`${path}: a number without maximum`] : []),
    ...(isOpen ? [`${path}: an object of any shape`] : []),
    ...(isUntyped ? [`${path}: a value of any type`] : []),
  ];
}

type Bounds = { maxLength?: number; maximum?: number; maxItems?: number; anyOf?: SchemaNode[] };

test('every text, number and array of a request is bounded', () => {
  const faults = operations.flatMap(([name, { request }]) =>
    unbounded(request as SchemaNode, '').map((fault) => `${name} ${fault}`),
  );
  const isKnown = (fault: string) => freeForm[fault.replace(/: an object of any shape$/, '')];
  assert.deepEqual(
    faults.filter((fault) => !isKnown(fault)),
    [],
  );
  assert.equal(faults.filter(isKnown).length, Object.keys(freeForm).length);
  const loose = { type: 'object', properties: { a: { type: ['string', 'null'] } } };
  assert.deepEqual(unbounded(loose, ''), ['a: text without maxLength']);
});

test('sdk/routes.ts is what the catalogue gives', async () => {
  const stored = await readFile(new URL('../sdk/routes.ts', import.meta.url), 'utf8');
  assert.equal(stored, sdkRoutes(), 'write it anew with `npm run billwright -- sdk`');
});

test('the operations of the published contract have its paths and words', () => {
  const contract = [
    ['addBillingGroup', '/billing/billing-groups', 'Create', 'Add Billing Group'],
    ['listBillingGroups', '/billing/billing-groups', 'Retrieve', 'List Billing Groups'],
    ['getBillingGroup', '/billing/billing-groups', 'Retrieve', 'Get Billing Group'],
    [
      'getConnections',
      '/billing/connections/get-connections',
      'Retrieve',
      'Retrieve Subscriptions',
    ],
    ['makeConnections', '/billing/connections/make-connections', 'Create', 'Create Subscription'],
    ['makeUsers', '/billing/users/make-users', 'Create', 'Create Parties'],
    ['updateUser', '/billing/users/update-user', 'Update', 'Update Parties'],
    ['getUsers', '/billing/users/get-users', 'Retrieve', 'Retrieve Parties'],
    ['getServices', '/billing/services/get-services', 'Retrieve', 'Retrieve Packages'],
    ['updateService', '/billing/services/update-service', 'Update', 'Update Package'],
    ['createTariff', '/billing/tariffs/create-tariff', 'Create', 'Create Plan'],
    ['updateTariff', '/billing/tariffs/update-tariff', 'Update', 'Update Plan'],
    ['getTariffs', '/billing/tariffs/get-tariffs', 'Retrieve', 'Retrieve Plans'],
    ['makeMeters', '/billing/meters/make-meters', 'Create', 'Create Meters'],
    ['getMeters', '/billing/meters/get-meters', 'Retrieve', 'Retrieve Meters'],
  ];
  const declared = new Map<string, Operation>(operations);
  for (const [name = '', path, method, action] of contract) {
    const operation = declared.get(name);
    assert.deepEqual(
      [operation?.path, operation?.method, operation?.action],
      [path, method, action],
    );
  }
  const onFolderPath = operations.filter(([, { path }]) => path === folderPath);
  assert.equal(onFolderPath.length, 3, 'the contract has three operations on this path');
});

test('creates, updates and their kin answer an empty object', () => {
  for (const [name, { method, response }] of operations) {
    if (['Retrieve', 'Login'].includes(method)) continue;
    assert.deepEqual((response as SchemaNode).properties, {}, name);
  }
});
