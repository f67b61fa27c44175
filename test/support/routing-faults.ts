// Reads PostgreSQL's own catalogue and finds what a database of several machines could not route:
// see "Rules for SQL" in CONTRIBUTING.md.
import type pg from 'pg';

/** Roles that policies do not bind, each with its reason. */
const unbound: Record<string, string> = {
  billwright_search: 'its functions name the tenant; policies would keep the planner from an index',
  billwright_bulk: 'COPY is refused to a bound role; it has no right to any tenant_id',
};

/** The registry is copied to every machine, so nothing in it changes often. */
const registryColumns = ['tenant_id', 'workspace', 'created_at'];

export async function findRoutingFaults(client: pg.Client): Promise<string[]> {
  return [
    ...(await policyFaults(client)),
    ...(await functionFaults(client)),
    ...(await triggerFaults(client)),
    ...(await registryFaults(client)),
    ...(await roleFaults(client)),
  ];
}

async function policyFaults(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select polrelid::regclass::text as name from pg_policy
     where pg_get_expr(polqual, polrelid) ~* '\\mselect\\M'
       or pg_get_expr(polwithcheck, polrelid) ~* '\\mselect\\M'`,
  );
  return rows.map(({ name }) => `the policy of ${name} has a subquery`);
}

const ours = `p.pronamespace = 'public'::regnamespace
  and not exists (select from pg_depend x where x.objid = p.oid and x.deptype = 'e')`;

async function functionFaults(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select proname::text as name from pg_proc p where ${ours} and prosqlbody is not null`,
  );
  return rows.map(({ name }) => `the body of function ${name} is not a string`);
}

async function triggerFaults(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; body: string; transitions: string[] }>(
    `select p.proname::text as name, p.prosrc as body, array(
       select distinct n::text from pg_trigger t, unnest(array[t.tgoldtable, t.tgnewtable]) n
       where t.tgfoid = p.oid and n is not null) as transitions
     from pg_proc p where ${ours} and p.prorettype = 'trigger'::regtype`,
  );
  const tables = await tableNames(client);
  return rows.flatMap(({ name, body, transitions }) => {
    const plain = body.replaceAll(/--[^\n]*/g, '');
    const compares = /tg_table_name\s*(=|<>|!=|in\b)|(=|<>)\s*tg_table_name/i.test(plain);
    const joins = plain.split(/;|\b(?:loop|then)\b/i).some((statement) => {
      const reads = [
        ...statement.matchAll(/\b(?:from|join|using|update|insert\s+into)\s+(\w+)/gi),
      ].map((match) => match[1] ?? '');
      return (
        reads.some((read) => transitions.includes(read)) && reads.some((read) => tables.has(read))
      );
    });
    return [
      ...(compares ? [`function ${name} compares the name of its table`] : []),
      ...(joins ? [`function ${name} joins a transition table to another table`] : []),
    ];
  });
}

async function tableNames(client: pg.Client): Promise<Set<string>> {
  const { rows } = await client.query<{ name: string }>(
    `select relname::text as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind = 'r'`,
  );
  return new Set(rows.map((row) => row.name));
}

async function registryFaults(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select attname::text as name from pg_attribute
     where attrelid = 'workspaces'::regclass and attnum > 0 and not attisdropped`,
  );
  return rows
    .filter(({ name }) => !registryColumns.includes(name))
    .map(({ name }) => `the registry has a column ${name}`);
}

async function roleFaults(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select rolname::text as name from pg_roles
     where rolname like 'billwright\\_%' and rolbypassrls`,
  );
  return rows
    .filter(({ name }) => !unbound[name])
    .map(({ name }) => `policies do not bind the role ${name}`);
}
