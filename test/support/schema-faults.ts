// Reads PostgreSQL's own catalogue and tells what breaks the wall between tenants.
import type pg from 'pg';

/** Tables of no tenant, each with its reason. */
const tenantless: Record<string, string> = {
  workspaces: 'the registry of tenants, which the role that serves calls cannot read',
  operation_counts:
    'counts for sums over all tenants, which the role that serves calls cannot read',
  workspace_jobs: 'where workers find work, which the role that serves calls cannot read',
  ended_workspaces: 'the registry of tenants that end, which only workers can read',
  workspace_webhooks: 'as workspace_jobs, for webhooks',
  workers: 'the workers that live, of no tenant',
  schema_migrations: 'what was done to the schema as a whole',
};

/** Functions that run with their owner's rights, each with its reason. */
const definers: Record<string, string> = {
  find_workspace: 'tells the id of a workspace by name and nothing else of the registry',
  search_parties: 'names the tenant itself; policies would keep the planner from the index',
  scan_parties: 'as search_parties, for words too short for the index',
  find_parties_by_email: 'as search_parties, by the index of addresses',
  find_parties_by_contact: 'as search_parties, by the index of contacts',
  find_parties_named: 'as search_parties, for the payers of bank lines',
  first_parties: 'as search_parties, the first few by the beginning of their names',
  some_parties: 'as search_parties, the first few',
  newest_parties: 'as search_parties, the first few among the newest',
  spread_parties: 'as search_parties, the first few among some at many places',
  some_subscriptions: 'as some_parties, for subscriptions',
  search_meters: 'as search_parties, for meters',
  scan_meters: 'as scan_parties, for meters',
  search_subscriptions: 'as search_parties, for subscriptions, their owners and meters',
  scan_subscriptions: 'as scan_parties, for subscriptions, their owners and meters',
  note_job: 'notes for workers when the workspace of the transaction has work',
  note_moved_clock: 'as note_job',
  note_webhook: 'notes for workers that the workspace of the transaction has a webhook',
  watch_operations: 'tells sums over all workspaces, and no row of any',
  watch_workers: 'tells which workers live, which are of no tenant',
  add_ledger_totals: 'writes totals beside journal lines, which no role may write itself',
  fold_ledger_totals: 'as add_ledger_totals',
  add_open_changes: 'adds to what is open by due date, which no role may write itself',
  move_open_bill: 'as add_open_changes',
  fold_open_changes: 'as add_open_changes',
  keep_open_items: 'settles bills and open items as entries say, which no role may do itself',
  delete_ended_rows: 'deletes rows of a workspace that has ended, which no role may do itself',
  erase_party: 'changes notes and notices of a party, which no role may do itself',
  end_lost_attempts: 'ends connections of workers that hold parts of jobs of the workspace',
};

/** Foreign keys whose referencing rows are never looked for, each with its reason. */
const unindexed: Record<string, string> = {
  billing_groups_period_fkey: 'billing periods are never deleted, and groups are few',
  pricing_contexts_period_fkey: 'billing periods are never deleted',
  pricing_contexts_template_fkey: 'templates are never deleted',
  pricing_contexts_email_template_fkey: 'templates are never deleted',
  batches_period_fkey: 'billing periods are never deleted',
  plans_period_fkey: 'billing periods are never deleted',
  bill_documents_setting_fkey: 'what documents were made with is never deleted',
  deliveries_template_fkey: 'templates are never deleted',
};

/** Those of them that are about no tenant, or about all. */
const tenantlessDefiners = ['find_workspace', 'watch_operations', 'watch_workers'];

const appendOnly = [
  'audit_entries',
  'pricing_context_versions',
  'plan_versions',
  'template_versions',
  'seals',
];
const appRoles = ['billwright_api', 'billwright_worker'];
const wall = '(tenant_id = current_tenant())';

export async function findSchemaFaults(client: pg.Client): Promise<string[]> {
  const faults: string[] = [];
  for (const find of [
    tableFaults,
    keyFaults,
    foreignKeyFaults,
    policyFaults,
    relationFaults,
    functionFaults,
    roleFaults,
    settingFaults,
    rightFaults,
    bulkFaults,
  ]) {
    faults.push(...(await find(client)));
  }
  return faults;
}

function isWall(using: string | null): boolean {
  const text = using?.replaceAll(/\s+/g, ' ');
  return text === wall;
}

async function rowsOf<Row extends object>(client: pg.Client, query: string): Promise<Row[]> {
  const { rows } = await client.query<Row>(query);
  return rows;
}

const ours = `c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'f')`;

async function tableFaults(client: pg.Client): Promise<string[]> {
  const tables = await rowsOf<{
    name: string;
    kind: string;
    type: string | null;
    required: boolean | null;
    enabled: boolean;
    forced: boolean;
  }>(
    client,
    `select c.relname as name, c.relkind as kind, format_type(a.atttypid, a.atttypmod) as type,
       a.attnotnull as required, c.relrowsecurity as enabled, c.relforcerowsecurity as forced
     from pg_class c
     left join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
     where ${ours}`,
  );
  const unknown = Object.keys(tenantless).filter((name) => !tables.some((t) => t.name === name));
  return [
    ...unknown.map((name) => `${name} is exempted and does not exist`),
    ...tables.flatMap((table) => {
      if (tenantless[table.name]) return [];
      const { name } = table;
      return [
        ...(table.kind === 'f' ? [`table ${name} is foreign: no policy can guard it`] : []),
        ...(table.type === 'bigint' ? [] : [`table ${name} has no tenant_id bigint`]),
        ...(table.required ? [] : [`table ${name} has a tenant_id that may be null`]),
        ...(table.enabled ? [] : [`table ${name} has row-level security switched off`]),
        ...(table.forced ? [] : [`table ${name} does not force row-level security on its owner`]),
      ];
    }),
  ];
}

/** Primary keys, unique indexes and exclusions: their checks see the rows of every tenant. */
async function keyFaults(client: pg.Client): Promise<string[]> {
  const keys = await rowsOf<{ table: string; name: string; primary: boolean; first: string }>(
    client,
    `select c.relname as table, i.indexrelid::regclass::text as name, i.indisprimary as primary,
       (select a.attname from pg_attribute a where a.attrelid = c.oid and a.attnum = i.indkey[0])
         as first
     from pg_index i
     join pg_class c on c.oid = i.indrelid
     where ${ours} and (i.indisunique or i.indisexclusion)`,
  );
  const tables = await rowsOf<{ name: string }>(
    client,
    `select c.relname as name from pg_class c where ${ours}`,
  );
  const keyless = tables.filter(
    ({ name }) => !tenantless[name] && !keys.some((key) => key.primary && key.table === name),
  );
  return [
    ...keyless.map(({ name }) => `table ${name} has no primary key`),
    ...keys
      .filter((key) => !tenantless[key.table] && key.first !== 'tenant_id')
      .map((key) => `unique index ${key.name} of ${key.table} does not begin with tenant_id`),
  ];
}

async function foreignKeyFaults(client: pg.Client): Promise<string[]> {
  const keys = await rowsOf<{
    name: string;
    table: string;
    from: string[];
    to: string[];
    indexed: boolean;
  }>(
    client,
    `select k.conname as name, c.relname as table,
       array(select a.attname::text from unnest(k.conkey) with ordinality u (number, position)
         join pg_attribute a on a.attrelid = k.conrelid and a.attnum = u.number
         order by u.position) as from,
       array(select a.attname::text from unnest(k.confkey) with ordinality u (number, position)
         join pg_attribute a on a.attrelid = k.confrelid and a.attnum = u.number
         order by u.position) as to,
       exists (select from pg_index i where i.indrelid = k.conrelid
         and (i.indkey::smallint[])[0:cardinality(k.conkey) - 1] @> k.conkey
         and (i.indkey::smallint[])[0:cardinality(k.conkey) - 1] <@ k.conkey) as indexed
     from pg_constraint k
     join pg_class c on c.oid = k.conrelid
     where k.contype = 'f' and ${ours}`,
  );
  return keys.flatMap((key) => {
    const label = `foreign key ${key.name} of ${key.table}`;
    const isWalled = key.from[0] === 'tenant_id' && key.to[0] === 'tenant_id';
    return [
      ...(isWalled ? [] : [`${label} can link rows of two tenants`]),
      ...(key.indexed || unindexed[key.name] ? [] : [`${label} has no index of its own`]),
    ];
  });
}

async function policyFaults(client: pg.Client): Promise<string[]> {
  const tables = await rowsOf<{ name: string; policies: Policy[] }>(
    client,
    `select c.relname as name, (select coalesce(json_agg(json_build_object(
         'name', p.polname, 'permissive', p.polpermissive, 'command', p.polcmd,
         'everybody', p.polroles = '{0}', 'using', pg_get_expr(p.polqual, p.polrelid),
         'check', pg_get_expr(p.polwithcheck, p.polrelid))), '[]')
       from pg_policy p where p.polrelid = c.oid) as policies
     from pg_class c
     where ${ours}`,
  );
  return tables.flatMap(({ name, policies }) => {
    if (tenantless[name]) return [];
    const [policy] = policies;
    if (policies.length !== 1 || !policy) {
      return [`table ${name} has ${policies.length} policies: permissive ones add up`];
    }
    const label = `policy ${policy.name} of ${name}`;
    return [
      ...(policy.permissive ? [] : [`${label} is restrictive: alone it lets nothing through`]),
      ...(policy.command === '*' ? [] : [`${label} is not for all commands`]),
      ...(policy.everybody ? [] : [`${label} is not for all roles`]),
      ...(isWall(policy.using) ? [] : [`${label} lets through ${policy.using}, not ${wall}`]),
      ...(policy.check === null ? [] : [`${label} has a WITH CHECK of its own`]),
    ];
  });
}

type Policy = {
  name: string;
  permissive: boolean;
  command: string;
  everybody: boolean;
  using: string;
  check: string | null;
};

async function relationFaults(client: pg.Client): Promise<string[]> {
  const relations = await rowsOf<{ name: string; kind: string; invoker: boolean }>(
    client,
    `select c.relname as name, c.relkind as kind,
       coalesce('security_invoker=true' = any(c.reloptions), false) as invoker
     from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('v', 'm', 'S')`,
  );
  return relations.flatMap(({ name, kind, invoker }) => {
    if (kind === 'm') return [`materialised view ${name} has no policy`];
    if (kind === 'S') return [`sequence ${name} is shared by all tenants`];
    return invoker ? [] : [`view ${name} reads with its owner's rights`];
  });
}

async function functionFaults(client: pg.Client): Promise<string[]> {
  const functions = await rowsOf<{
    name: string;
    definer: boolean;
    settings: string[];
    open: boolean;
    names: boolean;
  }>(
    client,
    `select p.proname as name, p.prosecdef as definer, coalesce(p.proconfig, '{}') as settings,
       has_function_privilege('public', p.oid, 'execute') as open,
       pg_get_functiondef(p.oid) like '%tenant_id = require_tenant()%' as names
     from pg_proc p
     where p.pronamespace = 'public'::regnamespace and p.prokind in ('f', 'p')
       and not exists (select from pg_depend x where x.objid = p.oid and x.deptype = 'e')`,
  );
  return functions.flatMap(({ name, definer, settings, open, names }) => {
    if (!definer) return [];
    const isFixed = settings.some((one) => /^search_path=(?:"?public"?, )?"?pg_temp"?$/.test(one));
    return [
      ...(definers[name] ? [] : [`function ${name} runs with its owner's rights`]),
      ...(isFixed ? [] : [`function ${name} has no fixed search_path`]),
      ...(names || tenantlessDefiners.includes(name) ? [] : [`function ${name} names no tenant`]),
      ...(open ? [`function ${name} can be called by everybody`] : []),
    ];
  });
}

async function roleFaults(client: pg.Client): Promise<string[]> {
  const roles = await rowsOf<{
    name: string;
    mighty: boolean;
    bypasses: boolean;
    owned: number;
    memberships: string[];
  }>(
    client,
    `select r.rolname as name,
       r.rolsuper or r.rolcreaterole or r.rolcreatedb or r.rolreplication as mighty,
       r.rolbypassrls as bypasses,
       (select count(*)::integer from pg_class c where c.relowner = r.oid)
         + (select count(*)::integer from pg_namespace n where n.nspowner = r.oid) as owned,
       array(select m.roleid::regrole::text from pg_auth_members m where m.member = r.oid)
         as memberships
     from pg_roles r
     where r.rolname like 'billwright\\_%'`,
  );
  const missing = appRoles.filter((name) => !roles.some((role) => role.name === name));
  return [
    ...missing.map((name) => `role ${name} does not exist`),
    ...roles.flatMap((role) => {
      const bypasses = role.bypasses && appRoles.includes(role.name);
      return [
        ...(role.mighty ? [`role ${role.name} has rights over the whole server`] : []),
        ...(bypasses ? [`role ${role.name} bypasses row-level security`] : []),
        ...(role.owned > 0 ? [`role ${role.name} owns tables`] : []),
        ...role.memberships.map((other) => `role ${role.name} may become ${other}`),
      ];
    }),
  ];
}

async function settingFaults(client: pg.Client): Promise<string[]> {
  const settings = await rowsOf<{ role: string; setting: string }>(
    client,
    `select s.setrole::regrole::text as role, unnest(s.setconfig) as setting
     from pg_db_role_setting s`,
  );
  const limits = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
  return appRoles.flatMap((role) =>
    limits
      .filter((limit) => {
        const found = settings.find((s) => s.role === role && s.setting.startsWith(`${limit}=`));
        return !found || /=0\w*$/.test(found.setting);
      })
      .map((limit) => `role ${role} has no ${limit}`),
  );
}

async function rightFaults(client: pg.Client): Promise<string[]> {
  const rights = await rowsOf<{ grantee: string; table: string; right: string }>(
    client,
    `select case when a.grantee = 0 then 'public' else a.grantee::regrole::text end as grantee,
       c.relname as table, a.privilege_type as right
     from pg_class c
     cross join lateral aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) a
     where ${ours} and a.grantee <> c.relowner
     union
     select a.grantee::regrole::text, c.relname, a.privilege_type
     from pg_class c
     join pg_attribute o on o.attrelid = c.oid
     cross join lateral aclexplode(o.attacl) a
     where ${ours} and a.grantee <> 'billwright_bulk'::regrole`,
  );
  const makers = await rowsOf<{ name: string }>(
    client,
    `select r.name
     from (values ('public'), ('billwright_api'), ('billwright_worker'), ('billwright_search'),
       ('billwright_bulk'))
       as r (name)
     where has_schema_privilege(r.name, 'public', 'create')`,
  );
  return [
    ...makers.map(({ name }) => `${name} may create things in schema public`),
    ...rights.flatMap(({ grantee, table, right }) => {
      const verb = right.toLowerCase();
      const isChange = appendOnly.includes(table) && !['select', 'insert'].includes(verb);
      const isOdd = ['truncate', 'references', 'trigger', 'maintain'].includes(verb);
      const isRegistry = tenantless[table] !== undefined && grantee === 'billwright_api';
      const isSearch = grantee === 'billwright_search' && verb !== 'select';
      const isBulk = grantee === 'billwright_bulk';
      const isBad = isBulk || isChange || isOdd || isRegistry || isSearch || grantee === 'public';
      return isBad ? [`${grantee} may ${verb} on ${table}`] : [];
    }),
  ];
}

/**
 * The role that copies in bulk is bound by no policy. It may insert, column by column, and never
 * into tenant_id, whose default is the tenant of the transaction.
 */
async function bulkFaults(client: pg.Client): Promise<string[]> {
  const rights = await rowsOf<{
    table: string;
    column: string;
    right: string;
    fallback: string | null;
  }>(
    client,
    `select c.relname as table, a.attname as column, x.privilege_type as right,
       (select pg_get_expr(d.adbin, d.adrelid) from pg_attrdef d
         join pg_attribute t on t.attrelid = d.adrelid and t.attnum = d.adnum
         where d.adrelid = c.oid and t.attname = 'tenant_id') as fallback
     from pg_class c
     join pg_attribute a on a.attrelid = c.oid
     cross join lateral aclexplode(a.attacl) x
     where ${ours} and x.grantee = 'billwright_bulk'::regrole`,
  );
  const unbound = rights.filter(({ fallback }) => fallback !== 'current_tenant()');
  return [
    ...new Set(unbound.map(({ table }) => `billwright_bulk writes ${table} for no tenant`)),
    ...rights
      .filter(({ column, right }) => right !== 'INSERT' || column === 'tenant_id')
      .map(
        ({ table, column, right }) =>
          `billwright_bulk may ${right.toLowerCase()} ${column} of ${table}`,
      ),
  ];
}
