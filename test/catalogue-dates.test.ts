// Dates and times of every request in the catalogue, whichever way they may be written.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as Type from 'typebox';
import type { SchemaNode } from '../src/base/validation/problems.ts';
import { validate } from '../src/base/validation/validate.ts';
import { operations } from '../src/operations/catalogue.ts';

type Node = SchemaNode & { anyOf?: Node[] };
type Field = { path: string; node: Node };

/** Every field of a request with its path, those of items and of alternatives included. */
function fieldsOf(node: Node, path: string): Field[] {
  const children = Object.entries(node.properties ?? {}).flatMap(([name, child]) =>
    fieldsOf(child, path === '' ? name : `${path}.${name}`),
  );
  const items = node.items ? fieldsOf(node.items, `${path}[]`) : [];
  const branches = (node.anyOf ?? []).flatMap((branch) => fieldsOf(branch, path));
  return [{ path, node }, ...children, ...items, ...branches];
}

const fields = operations.flatMap(([name, { request }]) =>
  fieldsOf(request as Node, '').map(({ path, node }) => ({ path: `${name} ${path}`, node })),
);

function accepts(node: Node, value: string): boolean {
  const schema = Type.Object({ value: node as Type.TSchema });
  return validate(schema, { value }).problems.length === 0;
}

function refusedBy(among: readonly Field[], value: string): string[] {
  return among.filter(({ node }) => !accepts(node, value)).map(({ path }) => path);
}

const dates = fields.filter(({ node }) => node['x-code'] === 'INVALID_DATE');
const times = fields.filter(({ node }) => node['x-code'] === 'INVALID_DATETIME');

test('every date field of a request accepts DD/MM/YYYY', () => {
  assert.ok(dates.length > 50, `${dates.length} date fields`);
  assert.deepEqual(refusedBy(dates, '31/01/2027'), []);
  assert.equal(refusedBy(dates, '31/02/2027').length, dates.length);
});

test('the dates for which the contract fixes DDMMYYYY accept that form too', () => {
  const fixed = dates.filter(({ node }) => /DDMMYYYY/.test(node.description ?? ''));
  assert.deepEqual(
    [...new Set(fixed.map(({ path }) => path.split('.').at(-1)))],
    ['connectionDate', 'billedThrough'],
  );
  assert.deepEqual(refusedBy(fixed, '31012027'), []);
  assert.equal(refusedBy(fixed, '31022027').length, fixed.length);
});

test('every timestamp field of a request accepts a space and a T between date and time', () => {
  const timestamps = times.filter(({ node }) => node.format !== 'time-of-day');
  assert.ok(timestamps.length > 10, `${timestamps.length} timestamp fields`);
  assert.deepEqual(refusedBy(timestamps, '2027-01-31T23:59:59'), []);
  assert.deepEqual(refusedBy(timestamps, '2027-01-31 23:59:59'), []);
  for (const wrong of ['2027-02-31 00:00:00', '2027-01-31  00:00:00', '2027-01-31t00:00:00']) {
    assert.equal(refusedBy(timestamps, wrong).length, timestamps.length, wrong);
  }
});

test('no request has a date or a timestamp that is plain text', () => {
  const known = new Set([...dates, ...times].map(({ path }) => path));
  // Names that end like a date but are not dates.
  const others = /payableWithinDueDate|acceptDueDate|mappings\[\]\.columns\.date/;
  const plain = fields.filter(({ path, node }) => {
    const isText = [node.type ?? []].flat().includes('string');
    return isText && /(Date|Time|At|Through|\bdate)$/.test(path) && !others.test(path);
  });
  assert.deepEqual(
    plain.map(({ path }) => path).filter((path) => !known.has(path)),
    [],
  );
});
