// Rows that are copied in as bytes are what they were.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BinaryRows, binaryCopy } from '../src/base/db/binary-rows.ts';
import { openDatabase, plainOpening, transact } from '../src/base/db/pool.ts';
import { sql } from '../src/base/db/sql.ts';
import { openScene } from './support/scene.ts';

const scene = await openScene({ ownDatabase: true });
await scene.sql.query(`create table copied (
  place integer, large bigint, whole bigint, small smallint, flag boolean, day date,
  moment timestamptz, mark bytea, words text, content json)`);

const isoDay = fc
  .integer({ min: -700_000, max: 2_900_000 })
  .map((days) => Temporal.PlainDate.from('1970-01-01').add({ days }).toString())
  .filter((day) => /^\d{4}-/.test(day) && day >= '0001-01-01');

const anyRow = fc.record({
  large: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  whole: fc.option(
    fc.oneof(fc.maxSafeInteger(), fc.integer(), fc.constantFrom(0, -1, 2 ** 32, -(2 ** 32))),
    { nil: null },
  ),
  small: fc.integer({ min: -32767, max: 32767 }),
  flag: fc.boolean(),
  day: fc.option(isoDay, { nil: null }),
  moment: fc
    .integer({ min: -2e9, max: 4e12 })
    .map((ms) => Temporal.Instant.fromEpochMilliseconds(ms)),
  mark: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString('hex')),
  words: fc.option(
    fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', '')),
    { nil: null },
  ),
  content: fc.json(),
});

test('every value is read back as it was written, whatever its length', async () => {
  const connection = { ...scene.cluster.owner, database: scene.databaseName };
  const database = openDatabase({ connection, name: 'test copy', max: 1 });
  const rows = new BinaryRows();
  const long = 'ک\n\t\\'.repeat(400_000);
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { maxLength: 30 }), fc.nat(7), async (made, turn) => {
        const first = made.slice(0, turn === 0 ? 1 : 0);
        const all = [...made, ...first.map((row) => ({ ...row, words: long }))];
        for (const [place, row] of all.entries()) {
          rows.startRow(10);
          rows.integer(place);
          rows.bigint(row.large);
          rows.bigint(row.whole);
          rows.smallint(row.small);
          rows.boolean(row.flag);
          rows.date(row.day);
          rows.timestamptz(row.moment);
          rows.bytea(row.mark);
          rows.text(row.words);
          rows.text(row.content);
        }
        const parts = binaryCopy(rows.written());
        await transact(database, { opening: plainOpening }, async (tx) => {
          await sql`delete from copied`.execute(tx);
          assert.equal(
            await tx.copyIn('copy copied from stdin (format binary)', parts),
            all.length,
          );
        });
        rows.clear();
        const found = await scene.sql.query(
          `select large::text, whole::text, small, flag, day::text, encode(mark, 'hex') as mark,
             (extract(epoch from moment) * 1000)::bigint::text as moment, words,
             content::text as content
           from copied order by place`,
        );
        const expected = all.map((row) => ({
          ...row,
          large: String(row.large),
          whole: row.whole === null ? null : String(row.whole),
          moment: String(row.moment.epochMilliseconds),
        }));
        assert.deepEqual(found.rows, expected);
      }),
      { numRuns: 60 },
    );
  } finally {
    await database.close();
  }
});

test('a number that its column cannot hold is refused', () => {
  const rows = new BinaryRows();
  rows.startRow(1);
  for (const value of [0.5, Number.NaN, Infinity, 2 ** 53]) {
    assert.throws(() => rows.bigint(value), RangeError);
  }
  for (const value of [0.5, Number.NaN, 2 ** 31]) {
    assert.throws(() => rows.integer(value), RangeError);
  }
  for (const value of [0.5, Number.NaN, 32_768]) {
    assert.throws(() => rows.smallint(value), RangeError);
  }
});
