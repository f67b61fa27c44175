import type { Client } from 'pg';
import { type Connection, connect } from './connection.ts';

// Any number, the same for every program that bootstraps.
const bootstrapLock = 7_130_001;

// Brings the roles and the database to what they must be, at every start: an interrupted first
// start is completed by the next one.
export async function bootstrap(superuser: Connection): Promise<void> {
  const client = await connect(superuser, 'billwright bootstrap');
  try {
    await client.query('select pg_advisory_lock($1)', [bootstrapLock]);
    await ensureRole(client, 'billwright', { createrole: true, createdb: true, bypassrls: true });
    await ensureRole(client, 'billwright_api', {
      createrole: false,
      createdb: false,
      bypassrls: false,
    });
    await ensureOwnerManagesApi(client);
    await ensureOwnerImports(client);
    const { rowCount } = await client.query("select from pg_database where datname = 'billwright'");
    if (rowCount === 0) await client.query('create database billwright owner billwright');
  } finally {
    await client.end();
  }
}

// A workspace is imported without firing triggers: the other workspaces keep theirs.
async function ensureOwnerImports(client: Client): Promise<void> {
  const { rows } = await client.query(
    "select has_parameter_privilege('billwright', 'session_replication_role', 'set') as may",
  );
  if (rows[0]?.may) return;
  await client.query('grant set on parameter session_replication_role to billwright');
}

type RoleRights = { createrole: boolean; createdb: boolean; bypassrls: boolean };

async function ensureRole(client: Client, name: string, rights: RoleRights): Promise<void> {
  const { rows } = await client.query(
    `select not rolsuper and not rolreplication and rolcanlogin
        and rolcreaterole = $2 and rolcreatedb = $3 and rolbypassrls = $4 as is_right
       from pg_roles where rolname = $1`,
    [name, rights.createrole, rights.createdb, rights.bypassrls],
  );
  if (rows[0]?.is_right) return;
  const options = [
    ...['nosuperuser', 'noreplication', 'login'],
    rights.createrole ? 'createrole' : 'nocreaterole',
    rights.createdb ? 'createdb' : 'nocreatedb',
    rights.bypassrls ? 'bypassrls' : 'nobypassrls',
  ].join(' ');
  await client.query(`${rows[0] ? 'alter' : 'create'} role ${name} ${options}`);
}

// Migrations run as the owner and set the limits of the role that serves calls. Since PostgreSQL
// 16, createrole alone does not allow this for a role that another role created.
async function ensureOwnerManagesApi(client: Client): Promise<void> {
  const { rowCount } = await client.query(
    `select from pg_auth_members
      where roleid = 'billwright_api'::regrole
        and member = 'billwright'::regrole
        and admin_option`,
  );
  if (rowCount) return;
  await client.query('grant billwright_api to billwright with admin true, inherit false, set true');
}
