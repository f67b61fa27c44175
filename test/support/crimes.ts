// What somebody changes behind the back of the program, with every trigger and constraint asleep,
// and that `billwright verify` names it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import type { Judgement } from '../../src/domain/bills/laws.ts';
import { judgementsOf } from './laws.ts';
import type { Scene } from './scene.ts';

export type Crime = {
  what: string;
  table: string;
  /** Other tables that it changes. */
  besides?: readonly string[];
  commit: string;
  /** Laws that are broken, and what is named. */
  laws: readonly string[];
  names: RegExp;
};

/** As nobody can but who owns the machine: past triggers, foreign keys and row-level security. */
export async function tamper(
  { cluster, databaseName }: Pick<Scene, 'cluster' | 'databaseName'>,
  statements: string,
): Promise<void> {
  const sql = new pg.Client({ ...cluster.superuser, database: databaseName });
  await sql.connect();
  try {
    await sql.query("set session_replication_role = 'replica'");
    await sql.query(statements);
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
export function testCrimes(scene: Scene, tenantId: number, crimes: readonly Crime[]): void {
  const broken = async (): Promise<Judgement[]> =>
    (await judgementsOf(scene, tenantId)).filter(({ wrong }) => wrong > 0);
  const mine = `tenant_id = ${tenantId}`;
  const undo = async (table: string) => {
    const columns = await columnsOf(scene, table);
    await tamper(
      scene,
      `delete from ${table} where ${mine};
       insert into ${table} (${columns}) select ${columns} from kept_${table};
       drop table kept_${table}`,
    );
  };
  for (const { what, table, besides = [], commit, laws, names } of crimes) {
    test(`verify names it when ${what}`, async () => {
      assert.deepEqual(await broken(), [], 'before');
      const tables = [table, ...besides];
      for (const one of tables) {
        await tamper(scene, `create table kept_${one} as select * from ${one} where ${mine}`);
      }
      try {
        await tamper(scene, commit);
        const found = await broken();
        assert.deepEqual(
          found.map(({ law }) => law),
          laws,
        );
        const examples = found.flatMap((judgement) => judgement.examples).join('\n');
        assert.match(examples, new RegExp(names.source, 'm'));
      } finally {
        for (const one of tables) await undo(one);
      }
    });
  }
}
