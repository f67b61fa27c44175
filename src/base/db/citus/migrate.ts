// Migrations on the coordinator of a Citus cluster: the same files, statement by statement, so that
// functions, roles and changes of tables go to every machine.
import type pg from 'pg';
import { isDistributed } from './cluster.ts';
import { distributeTables } from './distribute.ts';
import { adaptFunctions } from './functions.ts';
import { settle } from './settle.ts';
import { statementsOf } from './statements.ts';
import { numberOnOwnMachine } from './transactions.ts';
import { spellOutWalls } from './walls.ts';

/** For the sessions of the program, and for those that Citus opens on the machines. */
const databaseSettings = {
  // The workspace of a transaction is known on the machine that has its rows.
  'citus.propagate_set_commands': 'local',
  // The triggers of our tables read and write rows of their own workspace only.
  'citus.enable_unsafe_triggers': 'on',
  // A function that searches is called inside a query, on the machine with all rows that it reads.
  'citus.allow_nested_distributed_execution': 'on',
  // The few statements about all workspaces take one connection to each machine. After one that
  // took more, Citus refuses to write to the registry in the same transaction.
  'citus.multi_shard_modify_mode': 'sequential',
};

/** Once for each connection that migrates. */
export async function prepareCitus(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string; missing: boolean }>(
    `select quote_ident(current_database()) as name, not coalesce((
       select s.setconfig @> $1::text[] from pg_db_role_setting s
       join pg_database d on d.oid = s.setdatabase
       where d.datname = current_database() and s.setrole = 0), false) as missing`,
    [Object.entries(databaseSettings).map(([name, value]) => `${name}=${value}`)],
  );
  for (const [name, value] of Object.entries(databaseSettings)) {
    if (rows[0]?.missing) {
      const text = `alter database ${rows[0].name} set ${name} = '${value}'`;
      await client.query(text);
    }
    await client.query(`set ${name} = '${value}'`);
  }
}

/** Runs the file in the transaction that is open. */
export async function runMigration(client: pg.Client, text: string): Promise<void> {
  const isSpread = await isDistributed(client, 'tenants');
  for (const statement of statementsOf(text)) {
    // A table is spread when the file has ended; until then its foreign keys are of this machine.
    const isTable = /^create table\b/i.test(statement);
    if (isTable) await client.query('set local citus.enable_ddl_propagation = off');
    await client.query(statement);
    if (isTable) await client.query('set local citus.enable_ddl_propagation = on');
  }
  if (isSpread) await distributeTables(client);
}

/** After the last file: spreads the tables of a new database, and what they need elsewhere. */
export async function finishMigrations(client: pg.Client): Promise<void> {
  await client.query('begin');
  try {
    await distributeTables(client);
    await prepareRoles(client);
    await adaptFunctions(client);
    await spellOutWalls(client);
    await numberOnOwnMachine(client);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
  await settle(client);
}

/** Citus connects to the other machines as the role of the transaction. */
async function prepareRoles(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ text: string }>(
    `select format('alter role %I %s', r.rolname, w.attribute) as text
     from pg_roles r
     join (values ('billwright_api', 'login'), ('billwright_worker', 'login'),
       ('billwright_search', 'login'), ('billwright_bulk', 'nobypassrls')) w (name, attribute)
       on w.name = r.rolname
     where case w.attribute when 'login' then not r.rolcanlogin else r.rolbypassrls end`,
  );
  for (const { text } of rows) await client.query(text);
}
