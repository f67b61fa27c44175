// The description of the API, checked by an independent validator, and its reference page.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { demoLogin } from '../src/domain/access/demo-login.ts';
import { fieldWords, isDescribed } from '../src/http/describe-fields.ts';
import { operations } from '../src/operations/catalogue.ts';
import { openScene } from './support/scene.ts';

const { baseUrl } = await openScene();

type Description = {
  openapi: string;
  info: { title: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, { post: PathItem }>;
  components: { schemas: Record<string, { properties: Record<string, { const?: unknown }> }> };
};
type PathItem = {
  operationId: string;
  tags: string[];
  description: string;
  parameters?: object[];
  responses: { 200: { headers: object } };
  requestBody: { content: Record<string, { examples: Record<string, { value: object }> }> };
};

async function readDescription(): Promise<Description> {
  const response = await fetch(new URL('/openapi.json', baseUrl));
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
  return (await response.json()) as Description;
}

test('/openapi.json is a valid OpenAPI 3.1 document', async () => {
  const description = await readDescription();
  assert.match(description.openapi, /^3\.1\./);
  const validator = new Validator();
  const { valid, errors } = await validator.validate(description as never);
  assert.ok(valid, JSON.stringify(errors)?.slice(0, 2_000));
  assert.equal(validator.version, '3.1');
  validator.resolveRefs();
});

const jsonTypes = ['null', 'boolean', 'object', 'array', 'number', 'integer', 'string'];

/** Paths of types that JSON Schema does not have, which the validator of OpenAPI leaves alone. */
function oddTypes(node: unknown, path = ''): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const { type, properties } = node as { type?: unknown; properties?: object };
  const types = [type ?? []].flat();
  const isOdd = types.some((one) => !jsonTypes.includes(one as string));
  const isDoubled = new Set(types).size < types.length;
  const inner = Object.entries(properties ?? {}).flatMap(([name, child]) =>
    oddTypes(child, `${path}/${name}`),
  );
  const items = 'items' in node ? oddTypes(node.items, `${path}/0`) : [];
  return [...(isOdd || isDoubled ? [`${path}: ${JSON.stringify(type)}`] : []), ...inner, ...items];
}

test('every type in /openapi.json is one that JSON Schema has, or a list of such', async () => {
  const { schemas } = (await readDescription()).components;
  const found = Object.entries(schemas).flatMap(([name, schema]) => oddTypes(schema, name));
  assert.deepEqual(found, []);
});

type Node = { properties?: Record<string, Node>; description?: string } & Record<string, unknown>;

/** Paths of fields without a description, and the descriptions that were found. */
function fieldsOf(node: Node, path: string): { bare: string[]; texts: string[] } {
  const parts = [node.items, node.anyOf, node.allOf, node.oneOf, node.patternProperties];
  const inner = parts.flatMap((part) => (part ? Object.values([part].flat()) : [])) as Node[];
  const fields = Object.entries(node.properties ?? {});
  const found = [
    ...fields.map(([name, field]) => fieldsOf(field, `${path}.${name}`)),
    ...inner.map((part) => fieldsOf(part, path)),
  ];
  return {
    bare: [
      ...fields.flatMap(([name, field]) => (isDescribed(field) ? [] : [`${path}.${name}`])),
      ...found.flatMap(({ bare }) => bare),
    ],
    texts: [node.description ?? '', ...found.flatMap(({ texts }) => texts)],
  };
}

test('every field in /openapi.json has a description, and no description is left over', async () => {
  const { schemas } = (await readDescription()).components;
  const found = Object.entries(schemas).map(([name, schema]) => fieldsOf(schema as Node, name));
  assert.deepEqual(
    found.flatMap(({ bare }) => bare),
    [],
    'add the field to src/http/field-words, or describe it in its schema',
  );
  const texts = new Set(found.flatMap((each) => each.texts));
  const unused = [...fieldWords].filter(([, words]) => !texts.has(words));
  assert.deepEqual(
    unused.map(([name]) => name),
    [],
  );
});

test('the validator refuses a broken document', async () => {
  const description = await readDescription();
  const [path] = Object.keys(description.paths);
  assert.ok(path);
  const broken = { ...description, paths: { [path]: { post: { responses: 7 } } } };
  assert.equal((await new Validator().validate(broken as never)).valid, false);
});

test('/openapi.json has every operation, with its words, fields, example and errors', async () => {
  const { paths, components } = await readDescription();
  for (const [name, operation] of operations) {
    const item = paths[operation.path]?.post;
    assert.ok(item, `${name} is missing`);
    assert.ok(item.operationId.split('_').includes(name));
    assert.ok(item.description.includes(`${operation.method} / ${operation.action}`));
    for (const code of operation.errors) assert.ok(item.description.includes(code), code);
    const content = item.requestBody.content['application/json'];
    const { method, action } = operation;
    const words = operation.isWordless ? {} : { method, action, apiVersion: 'v2' };
    assert.deepEqual(content?.examples[name]?.value, { ...words, ...operation.example });
    const request = components.schemas[`${name}Request`];
    const fields = Object.keys(operation.request.properties);
    for (const field of fields) assert.ok(request?.properties[field], `${name} ${field}`);
    assert.equal(request?.properties.action?.const, operation.action);
    assert.ok(components.schemas[`${name}Response`], name);
  }
  const known = new Set(operations.map(([, { path }]) => path as string));
  assert.deepEqual(new Set(Object.keys(paths)), known);
});

test('/openapi.json names the headers of docs/api.md, and a key only where one is taken', async () => {
  const { paths } = await readDescription();
  const page = readFileSync(new URL('../docs/api.md', import.meta.url), 'utf8');
  const [, table = ''] = /\| Header \|(.+?)\n\n/s.exec(page) ?? [];
  const named = [...table.matchAll(/`((?:X|Retry|Idempotency)-[A-Za-z-]+)`/g)].map(
    ([, name]) => name,
  );
  assert.ok(named.length > 10);
  for (const [path, { post }] of Object.entries(paths)) {
    assert.deepEqual(Object.keys(post.responses[200].headers).sort(), named.toSorted(), path);
    // Login and refresh answer with tokens, which are not stored.
    const isKeyless = /\/auth\/(?:login|refresh-token)$/.test(path);
    if (isKeyless) assert.equal(post.parameters, undefined, path);
  }
  assert.ok(paths['/billing/auth/logout']?.post.parameters);
});

const elsewhere = /(?:https?:)?\/\/(?!www\.w3\.org)[a-z0-9.-]+\.[a-z]{2,}/i;

test('/openapi.json is titled Billwright and opens with how to log in', async () => {
  const { info, paths } = await readDescription();
  assert.equal(info.title, 'Billwright');
  assert.match(info.description, /^## Log in first\n/);
  for (const word of ['/billing/auth/login', demoLogin.username, demoLogin.password]) {
    assert.ok(info.description.includes(word), word);
  }
  const [first] = Object.keys(paths);
  assert.equal(first, '/billing/auth/login');
  const example = paths['/billing/auth/login']?.post.requestBody.content['application/json'];
  assert.deepEqual(example?.examples.login?.value, {
    ...{ method: 'Login', action: 'Login User', apiVersion: 'v2' },
    ...{ username: demoLogin.username, password: demoLogin.password },
  });
});

test('every operation is in a group that has a description, in the order of the work', async () => {
  const { tags, paths } = await readDescription();
  const names = tags.map(({ name }) => name);
  assert.deepEqual(names, [
    'Access and settings',
    'Parties',
    'Pricing',
    'Subscriptions',
    'Meters and readings',
    'Bill run',
    'Bills and documents',
    'Payments',
    'Collections',
    'Ledger',
    'Imports and exports',
    'Jobs and audit',
    'Events',
  ]);
  for (const { name, description } of tags) assert.ok(description.length > 20, name);
  const used = Object.entries(paths).map(([path, { post }]) => {
    assert.ok(names.includes(post.tags[0] ?? ''), `${path} is in no group of api-groups.ts`);
    return names.indexOf(post.tags[0] ?? '');
  });
  assert.deepEqual(
    used,
    used.toSorted((a, b) => a - b),
    'paths follow the groups',
  );
});

test('/ is a page with links to the reference, the description and health', async () => {
  const response = await fetch(new URL('/', baseUrl));
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type') ?? '', /^text\/html/);
  const policy = response.headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /script-src|unsafe|https?:/);
  const page = await response.text();
  assert.match(page, /<title>Billwright<\/title>/);
  assert.doesNotMatch(page, /<script|\son\w+=|\ssrc=/i);
  assert.doesNotMatch(page, elsewhere);
  const style = /<style>(.*)<\/style>/s.exec(page)?.[1] ?? '';
  const hash = createHash('sha256').update(style).digest('base64');
  assert.ok(policy.includes(`'sha256-${hash}'`), 'the browser applies the style');
  const links = [...page.matchAll(/<a href="([^"]+)"/g)].map((match) => match[1] ?? '');
  assert.deepEqual(links, ['/docs', '/openapi.json', '/health', '/ready']);
  for (const link of links) assert.equal((await fetch(new URL(link, baseUrl))).status, 200, link);
});

test('/docs/ is the same page as /docs', async () => {
  const pages = await Promise.all(
    ['/docs', '/docs/'].map(async (path) => (await fetch(new URL(path, baseUrl))).text()),
  );
  assert.match(pages[0] ?? '', /<title>Billwright<\/title>/);
  assert.equal(pages[1], pages[0]);
});

test('/docs and all it loads come from this server and ask no other', async () => {
  const response = await fetch(new URL('/docs', baseUrl));
  assert.equal(response.status, 200);
  const policy = response.headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /https?:|\*/, 'the browser may fetch from here only');
  const page = await response.text();
  assert.doesNotMatch(page, elsewhere);
  const assets = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '');
  assert.ok(assets.length >= 4);
  for (const path of assets) {
    assert.match(path, /^\/docs\//);
    const asset = await fetch(new URL(path, baseUrl));
    assert.equal(asset.status, 200, path);
    const text = await asset.text();
    assert.ok(text.length > 100, path);
    // The bundle names addresses it never fetches; what loads things is the page and these.
    if (/\.css$|start\.js$/.test(path)) {
      assert.doesNotMatch(text, /@import|url\(\s*['"]?(?:https?:)?\/\//);
    }
    if (path.endsWith('start.js')) assert.doesNotMatch(text, elsewhere);
  }
});
