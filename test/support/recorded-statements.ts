// Every statement that a test process sent, held to the rules for SQL.
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import type pg from 'pg';
import { watchStatements } from '../../src/base/db/watch.ts';
import { statementExceptions } from './statement-exceptions.ts';
import { findSqlFaults, type SqlCatalogue } from './statement-rules.ts';

const unchecked = new Set<string>();
const checked = new Set<string>();
let catalogue: SqlCatalogue | undefined;

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
  catalogue ??= await readSqlCatalogue(client);
  const texts = [...unchecked];
  unchecked.clear();
  for (const text of texts) checked.add(text);
  const file = process.env.RECORDED_STATEMENTS;
  if (file) appendFileSync(file, texts.map((text) => `${JSON.stringify(text)}\n`).join(''));
  const found = texts.flatMap((text) => faultsOf(text, catalogue as SqlCatalogue));
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
  const { rows } = await client.query<Record<'tables' | 'reading' | 'volatile', string[]>>(
    `with tenant_tables as (
       select c.relname from pg_class c
       join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
       where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
         and c.relname <> 'workspaces'
     )
     select array(select relname::text from tenant_tables) as tables,
       array(select distinct p.proname::text from pg_proc p
         where p.pronamespace = 'public'::regnamespace and p.prorettype <> 'trigger'::regtype
           and exists (select from tenant_tables t where pg_get_functiondef(p.oid)
             ~* ('\\m(from|join|into|update)\\s+(public\\.)?' || t.relname || '\\M'))
           and p.prokind in ('f', 'p')) as reading,
       array(select distinct proname::text from pg_proc where provolatile = 'v') as volatile`,
  );
  const [row] = rows;
  assert.ok(row);
  return {
    tenantTables: new Set(row.tables),
    readingFunctions: new Set(row.reading),
    volatileFunctions: new Set(row.volatile),
  };
}
