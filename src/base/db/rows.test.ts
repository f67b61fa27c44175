import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { rowReader, SentRow } from './rows.ts';
import { parserOf } from './types.ts';

/** PostgreSQL's types, with texts as it writes them. */
const kinds = {
  bool: { type: 16, text: fc.constantFrom('t', 'f') },
  int8: {
    type: 20,
    text: fc.oneof(
      fc.integer().map(String),
      fc.maxSafeInteger().map(String),
      fc.constantFrom('0', '-1', '999999999999999', '-999999999999999', '9007199254740991'),
    ),
  },
  int4: { type: 23, text: fc.integer().map(String) },
  int2: { type: 21, text: fc.integer({ min: -32768, max: 32767 }).map(String) },
  text: {
    type: 25,
    text: fc.oneof(
      fc.string({ unit: 'grapheme' }),
      // Bytes of the one are letters of the other.
      fc.constantFrom('', 'Actual', 'Estimated', 'é', 'Ã©', 'ÃÃ©©', 'کراچی', 'Actua1'),
    ),
  },
  numeric: { type: 1700, text: fc.constantFrom('0', '49117', '0.001', '-12.50', 'NaN') },
  date: {
    type: 1082,
    text: fc.constantFrom('2025-07-31', '2025-07-01', '12025-07-01', 'infinity'),
  },
  json: { type: 114, text: fc.json() },
};

test('a row is read as it would be field by field', () => {
  const names = Object.keys(kinds) as (keyof typeof kinds)[];
  const columns = names.map((name) => ({ name, dataTypeID: kinds[name].type }));
  const row = fc.tuple(
    ...names.map((name) => fc.option(kinds[name].text as fc.Arbitrary<string>, { nil: null })),
  );
  fc.assert(
    fc.property(fc.array(row, { maxLength: 8 }), fc.nat(9), (rows, before) => {
      const read = rowReader(columns);
      for (const fields of rows) {
        const sent = new SentRow(bytesOf(fields, before), before);
        const expected = names.map((name, i) => [name, readAlone(kinds[name].type, fields[i])]);
        assert.deepEqual(read(sent), Object.fromEntries(expected));
        assert.deepEqual(sent.fields, fields);
      }
    }),
    { numRuns: 500 },
  );
});

test('a number that does not fit is refused', () => {
  const read = rowReader([{ name: 'id', dataTypeID: 20 }]);
  for (const text of ['9007199254740992', '-9223372036854775808']) {
    assert.throws(() => read(new SentRow(bytesOf([text], 0), 0)), /does not fit/);
  }
});

function readAlone(type: number, text: string | null | undefined): unknown {
  return text == null ? null : parserOf(type)(text);
}

/** As they come: how many fields, then each with its length before it. */
function bytesOf(fields: readonly (string | null)[], before: number): Buffer {
  const count = Buffer.alloc(before + 2);
  count.writeInt16BE(fields.length, before);
  const parts = fields.flatMap((text) => {
    const bytes = Buffer.from(text ?? '');
    const length = Buffer.alloc(4);
    length.writeInt32BE(text === null ? -1 : bytes.length);
    return [length, bytes];
  });
  return Buffer.concat([count, ...parts]);
}
