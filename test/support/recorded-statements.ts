// Every statement that a test process sent, held to the rules for SQL.
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import type pg from 'pg';
import { watchStatements } from '../../src/base/db/watch.ts';
import { type CheckedStatements, openCheckedStatements } from './checked-statements.ts';
import { statementExceptions } from './statement-exceptions.ts';
import { findSqlFaults, type SqlCatalogue } from './statement-rules.ts';

const unchecked = new Set<string>();
const checked = new Set<string>();
let rules: { catalogue: SqlCatalogue; known: CheckedStatements } | undefined;

watchStatements((text) => {
  if (checked.has(text) || unchecked.has(text)) return;
  if (isOfProgram(new Error().stack ?? '')) unchecked.add(text);
});

/** Tests look into the database with statements of their own, on which there are no rules. */
function isOfProgram(stack: string): boolean {
  const caller = stack
    .split('\n')
    .slice(1)
    .find(
      (line) => /\/(src|test)\//.test(line) && !/\/src\/base\/db\/|recorded-statements/.test(line),
    );
  return caller === undefined || caller.includes('/src/');
}

/** Throws with the statements that break a rule, of those sent since it was called last. */
export async function checkRecordedStatements(client: pg.Client): Promise<void> {
  rules ??= { catalogue: await readSqlCatalogue(client), known: openCheckedStatements() };
  const { catalogue, known } = rules;
  const texts = [...unchecked];
  unchecked.clear();
  for (const text of texts) checked.add(text);
  const file = process.env.RECORDED_STATEMENTS;
  if (file) appendFileSync(file, texts.map((text) => `${JSON.stringify(text)}\n`).join(''));
  const judged = known
    .unknownOf(texts)
    .map((text) => ({ text, faults: faultsOf(text, catalogue) }));
  known.remember(judged.flatMap(({ text, faults }) => (faults.length === 0 ? [text] : [])));
  const found = judged.flatMap(({ faults }) => faults);
  assert.equal(found.length, 0, `statements break the rules for SQL:\n\n${found.join('\n\n')}`);
}

function faultsOf(text: string, known: SqlCatalogue): string[] {
  return findSqlFaults(text, known)
    .filter(({ rule }) => !isException(text, rule))
    .map(({ rule, detail }) => `${rule}: ${detail}\n${text.trim()}`);
}

function isException(text: string, rule: string): boolean {
  const plain = text.replaceAll(/\s+/g, ' ');
  return statementExceptions.some((one) => one.rule === rule && plain.includes(one.statement));
}

/** Tables and functions as the database itself knows them. */
async function readSqlCatalogue(client: pg.Client): Promise<SqlCatalogue> {
  const { rows } = await client.query<{
    tables: string[];
    functions: { name: string; text: string }[];
    volatile: string[];
  }>(
    `select array(
         select c.relname::text from pg_class c
         join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
         where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
           and c.relname not in ('workspaces', 'ended_workspaces')
       ) as tables,
       (select json_agg(json_build_object('name', proname, 'text', pg_get_functiondef(oid)))
        from pg_proc
        where pronamespace = 'public'::regnamespace and prorettype <> 'trigger'::regtype
          and prokind in ('f', 'p')) as functions,
       array(select distinct proname::text from pg_proc where provolatile = 'v') as volatile`,
  );
  const [row] = rows;
  assert.ok(row);
  const reads = new RegExp(
    `\\b(from|join|into|update)\\s+(public\\.)?(${row.tables.join('|')})\\b`,
    'i',
  );
  const reading = row.functions.filter(({ text }) => reads.test(text));
  return {
    tenantTables: new Set(row.tables),
    readingFunctions: new Set(reading.map(({ name }) => name)),
    volatileFunctions: new Set(row.volatile),
  };
}
