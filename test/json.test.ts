// JSON that is parsed in pieces is what JSON.parse makes of it, or is refused as JSON.parse does.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseJson } from '../src/base/json/parse.ts';
import { atOnce } from '../src/base/slices.ts';

const parse = (text: string) => atOnce(parseJson(Buffer.from(text)));

/** Long enough to be cut into several pieces. */
const fillerBytes = 150_000;
/** Two of them in one list are not too many. */
const itemsMax = 45_000;

function long(item: string): string {
  return Array(Math.min(itemsMax, Math.ceil(fillerBytes / (item.length + 1))))
    .fill(item)
    .join(',');
}

test('a long text gives the same value as JSON.parse', () => {
  const item = fc.jsonValue({ depthSize: 'small' });
  const name = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'rows', 'data', 'a"b', '\\'));
  const property = fc.property(item, item, name, name, (one, other, outer, inner) => {
    const items = `${long(JSON.stringify(one))},${long(JSON.stringify(other))}`;
    const [first, second] = [JSON.stringify(outer), JSON.stringify(inner)];
    for (const text of [
      `{${first}: [${items}], ${second}: ${JSON.stringify(other)}}`,
      `{"x":1,${first}:{"y":[[${items}],2],${second}:[${items} ]},"z":[]}`,
      `[${items}]`,
      `\n[ {"a":[${items}]}, [${items}] ]`,
    ]) {
      assert.ok(
        JSON.stringify(parse(text)) === JSON.stringify(JSON.parse(text)),
        text.slice(0, 99),
      );
    }
  });
  fc.assert(property, { numRuns: 20 });
});

test('a byte order mark is passed over, and __proto__ is a field like any other', () => {
  assert.deepEqual(parse('\ufeff{"a":1}'), { a: 1 });
  const rows = long('{"b":1}');
  const made = parse(`{"__proto__":[${rows}]}`) as object;
  assert.equal(Object.getPrototypeOf(made), Object.prototype);
  assert.ok(Object.hasOwn(made, '__proto__'));
});

test('what JSON.parse refuses is refused in pieces too', () => {
  const blanks = ' '.repeat(fillerBytes);
  const items = long('"some text"');
  const wrong = [
    `{"a":[${items},]}`,
    `{"a":[,${items}]}`,
    `{"a":[${blanks},1]}`,
    `{"a":[1,${blanks}]}`,
    `{"a":[1,${blanks},1]}`,
    `{"a":[${items},${blanks}]}`,
    `{"a":[${items}}`,
    `{"a":{"b":[${items}]]}`,
    `{"a":[${items}]`,
    `{"a":[${items}]]}`,
    `{"a":[${items} "x"]}`,
    `{"a":[${items},"x]}`,
    `{"a":[${items},"\\"]}`,
    `{"a":[${items},'x']}`,
    `{a:[${items}]}`,
    `{"a" [${items}]}`,
    `{"a":[${items}],}`,
    `{"a":[${items}]}{}`,
    `{"a":[${items},\u00a01]}`,
    `{"a":[${items},01]}`,
    `{"a":[${items},"\n"]}`,
  ];
  for (const text of wrong) {
    const shown = `${text.slice(0, 20)} … ${text.slice(-20)}`;
    assert.throws(() => JSON.parse(text), SyntaxError, shown);
    assert.throws(() => parse(text), SyntaxError, shown);
  }
});
