import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Sql, sql, statementOf } from '../src/base/db/sql.ts';

test('a value becomes a parameter and a piece of SQL becomes text', () => {
  const active = sql`status = ${'Active'}`;
  const statement = statementOf(sql`select * from parties where tenant_id = ${7} and ${active}`);
  assert.equal(statement.text, 'select * from parties where tenant_id = $1 and status = $2');
  assert.deepEqual(statement.values, [7, 'Active']);
});

test('a hostile value stays a parameter, and a hostile name or literal is quoted', () => {
  const hostile = `'; drop table parties; --"`;
  assert.deepEqual(statementOf(sql`select ${hostile}`), { text: 'select $1', values: [hostile] });
  assert.equal(statementOf(sql.ref(`b.${hostile}`)).text, `"b"."'; drop table parties; --"""`);
  assert.equal(statementOf(sql.lit("it's")).text, "'it''s'");
});

test('one template with other pieces or other parameters makes other texts', () => {
  const parties = (condition: Sql) => statementOf(sql`select 1 where ${condition}`).text;
  for (let turn = 0; turn < 2; turn += 1) {
    assert.equal(parties(sql.raw('true')), 'select 1 where true');
    assert.equal(parties(sql.raw('false')), 'select 1 where false');
    assert.equal(parties(sql`a = ${1}`), 'select 1 where a = $1');
    assert.equal(parties(sql`a = ${sql.raw('b')}`), 'select 1 where a = b');
  }
});

test('joined items are separated by commas, or as the caller wants', () => {
  assert.equal(statementOf(sql`(${sql.join([1, 2, 3])})`).text, '($1, $2, $3)');
  const conditions = [sql`a = ${1}`, sql`b = ${2}`];
  assert.equal(statementOf(sql.join(conditions, sql` and `)).text, 'a = $1 and b = $2');
  assert.equal(statementOf(sql.join([])).text, '');
});

test('two evaluations of a template give one text', () => {
  const text = (id: number) => statementOf(sql`select ${id}, ${sql.ref('b.status')}`).text;
  assert.equal(text(1), text(2));
});
