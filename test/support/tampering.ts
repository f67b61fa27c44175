// Tampering: changes made past the program, with triggers and constraints disabled. `billwright
// verify` names each.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { createLog } from '../../src/base/log.ts';
import type { CheckResult } from '../../src/domain/bills/verify/checks.ts';
import { sealAll } from '../../src/worker/sealing.ts';
import { resultsOf } from './checks.ts';
import type { Scene } from './scene.ts';

/** Seals what was written, as a worker does each half minute. */
export async function seal({ worker, clock, logged }: Scene): Promise<void> {
  const log = createLog({ level: 'error', destination: { write: (line) => logged.push(line) } });
  await sealAll({ database: worker, clock, log });
}

export type Tampering = {
  what: string;
  table: string;
  /** Other tables that it changes. */
  besides?: readonly string[];
  statements: string;
  /** Checks that fail, and what they name. */
  checks: readonly string[];
  names: RegExp;
};

/** As the superuser of the database: past triggers, foreign keys and row-level security. */
export async function tamper(
  { cluster, databaseName }: Pick<Scene, 'cluster' | 'databaseName'>,
  ...batches: readonly string[]
): Promise<void> {
  const sql = new pg.Client({ ...cluster.superuser, database: databaseName });
  await sql.connect();
  try {
    await sql.query("set session_replication_role = 'replica'");
    for (const statements of batches) await sql.query(statements);
  } finally {
    await sql.end();
  }
}

/** Without those that are computed of others. */
export async function columnsOf({ sql }: Pick<Scene, 'sql'>, table: string): Promise<string> {
  const { rows } = await sql.query(
    `select string_agg(column_name, ', ') as columns from information_schema.columns
     where table_schema = 'public' and table_name = $1 and is_generated = 'NEVER'`,
    [table],
  );
  return rows[0].columns;
}

/** A test for each. Afterwards everything is as it was, but for what is computed from the rest. */
export function testTamperings(
  scene: Scene,
  tenantId: number,
  tamperings: readonly Tampering[],
): void {
  const broken = async (): Promise<CheckResult[]> =>
    (await resultsOf(scene, tenantId)).filter(({ wrong }) => wrong > 0);
  const mine = `tenant_id = ${tenantId}`;
  const keep = (table: string) =>
    `create table kept_${table} as select * from ${table} where ${mine}`;
  const known = new Map<string, string>();
  const undo = async (table: string) => {
    const columns = known.get(table) ?? (await columnsOf(scene, table));
    known.set(table, columns);
    return `delete from ${table} where ${mine};
      insert into ${table} (${columns}) select ${columns} from kept_${table};
      drop table kept_${table}`;
  };
  test('verify finds nothing before anything is tampered with', async () => {
    assert.deepEqual(await broken(), []);
  });
  for (const { what, table, besides = [], statements, checks, names } of tamperings) {
    test(`verify names it when ${what}`, async () => {
      const tables = [table, ...besides];
      await tamper(scene, ...tables.map(keep));
      try {
        await tamper(scene, statements);
        const found = await broken();
        assert.deepEqual(
          found.map(({ check }) => check),
          checks,
        );
        const examples = found.flatMap((result) => result.examples).join('\n');
        assert.match(examples, new RegExp(names.source, 'm'));
      } finally {
        await tamper(scene, ...(await Promise.all(tables.map(undo))));
      }
    });
  }
  test('verify finds nothing once all of it is undone', async () => {
    assert.deepEqual(await broken(), []);
  });
}
