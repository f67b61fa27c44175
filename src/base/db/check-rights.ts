// Checks, before a database is set up, whether the role has the rights that this needs. Missing
// rights are reported as the statements that an administrator has to run.
import pg from 'pg';

const extensions = ['pg_trgm', 'btree_gin', 'btree_gist'];
const roles = ['billwright_api', 'billwright_worker', 'billwright_search', 'billwright_bulk'];
/**
 * From this version on, the right to create roles does not include granting roles of other
 * creators.
 */
const strictGrants = 160_000;

type Rights = {
  role: string;
  database: string;
  version: number;
  isSuperuser: boolean;
  mayCreateRoles: boolean;
  mayBypassRls: boolean;
  ownsDatabase: boolean;
  unavailable: string[];
  /** Roles that exist, made by another, and that this one may not grant. */
  foreign: string[];
};

/** Throws with the statements that an administrator has to run, ready to be copied. */
export async function assertMaySetUp(client: pg.Client): Promise<void> {
  const rights = await readRights(client);
  if (rights.unavailable.length > 0) {
    throw new Error(
      `PostgreSQL has no extension ${rights.unavailable.join(', ')}. Install its additional ` +
        'modules (on Debian and Ubuntu the package postgresql-contrib), then start again.',
    );
  }
  if (rights.isSuperuser) return;
  const statements = missingStatements(rights);
  if (statements.length === 0) return;
  const back = rights.mayCreateRoles
    ? ''
    : '\n\nOnce Billwright has started, the right to create roles can be taken back:\n\n' +
      `  alter role ${pg.escapeIdentifier(rights.role)} nocreaterole;`;
  throw new Error(
    `The role ${rights.role} may not set up the database ${rights.database}. Have an ` +
      'administrator of this PostgreSQL run the following, then start again:\n\n' +
      `${statements.map((one) => `  ${one}`).join('\n')}${back}`,
  );
}

function missingStatements(rights: Rights): string[] {
  const role = pg.escapeIdentifier(rights.role);
  const statements: string[] = [];
  if (!rights.mayCreateRoles) {
    const bypass = rights.mayBypassRls ? '' : ' bypassrls';
    statements.push(`alter role ${role} createrole${bypass};`);
  }
  if (rights.foreign.length > 0 && rights.version >= strictGrants) {
    statements.push(`grant ${rights.foreign.join(', ')} to ${role} with admin option;`);
  }
  if (!rights.ownsDatabase) {
    statements.push(`alter database ${pg.escapeIdentifier(rights.database)} owner to ${role};`);
  }
  return statements;
}

async function readRights(client: pg.Client): Promise<Rights> {
  const { rows } = await client.query<Rights>(
    `select r.rolname as role, d.datname as database,
       current_setting('server_version_num')::integer as version,
       r.rolsuper as "isSuperuser", r.rolcreaterole as "mayCreateRoles",
       r.rolbypassrls as "mayBypassRls",
       pg_has_role(r.oid, d.datdba, 'usage') as "ownsDatabase",
       array(select name from unnest($1::text[]) name
         where name not in (select name from pg_available_extensions)
           and name not in (select extname from pg_extension)) as unavailable,
       array(select rolname::text from pg_roles g
         where g.rolname = any($2::text[])
           and not pg_has_role(r.oid, g.oid, 'member with admin option')
         order by rolname) as foreign
     from pg_roles r, pg_database d
     where r.rolname = current_user and d.datname = current_database()`,
    [extensions, roles],
  );
  const [rights] = rows;
  if (!rights) throw new Error('the current role is unknown');
  return rights;
}
