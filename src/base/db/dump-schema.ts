// The schema as text, read from PostgreSQL's own catalogue: what the migrations amount to.
import type pg from 'pg';
import type { Migration } from './migrate.ts';

/**
 * Grouped by the migration that first makes an object, in the order of the files. Under a table are
 * its comments, indexes, triggers, policy and rights. A change shows as a small difference.
 */
export async function dumpSchema(client: pg.Client, migrations: Migration[]): Promise<string> {
  const found = new Map<string, string[]>();
  for (const query of queries) {
    const { rows } = await client.query<{ object: string; text: string }>(query);
    for (const { object, text } of rows) {
      found.set(object, [...(found.get(object) ?? []), wrapComments(text)]);
    }
  }
  const parts = [
    '-- Written by `npm run billwright -- schema`: the result of all migrations. Nothing runs it.',
  ];
  for (const { title, objects } of groupsOf(migrations)) {
    const texts = objects.flatMap((object) => found.get(object)?.join('\n') ?? []);
    for (const object of objects) found.delete(object);
    if (texts.length > 0) parts.push(`-- ${title}`, ...texts);
  }
  const others = [...found.keys()].sort();
  if (others.length > 0) parts.push('-- made by no migration');
  for (const object of others) parts.push(found.get(object)?.join('\n') ?? '');
  return `${parts.join('\n\n')}\n`;
}

const creation =
  /^create (?:or replace )?(?:extension|table|view|function|procedure) (?:if not exists )?(\w+)/gm;

function groupsOf(migrations: Migration[]): { title: string; objects: string[] }[] {
  const known = new Set<string>();
  return migrations.map(({ version, name, sql }) => {
    const made = [...sql.matchAll(creation)].map((match) => match[1] as string);
    const objects = [...new Set(made)].filter((object) => !known.has(object));
    for (const object of objects) known.add(object);
    const number = String(version).padStart(4, '0');
    return { title: `${name.replaceAll('_', ' ')} (${number}_${name}.sql)`, objects };
  });
}

const lineLength = 100;

function wrapComments(text: string): string {
  const wrapped = text.split('\n').map((line) => {
    const start = /^ *-- /.exec(line)?.[0];
    if (start === undefined || line.length <= lineLength) return line;
    const room = lineLength - start.length;
    const pieces = line.slice(start.length).match(new RegExp(`.{1,${room}}(?: |$)|\\S+`, 'g'));
    return (pieces ?? []).map((piece) => start + piece.trimEnd()).join('\n');
  });
  return wrapped.join('\n');
}

const ours = `c.relnamespace = 'public'::regnamespace`;
// The line of an extension covers what the extension brought.
const notOfExtension = (oid: string) =>
  `not exists (select from pg_depend x where x.objid = ${oid} and x.deptype = 'e')`;

const extensions = `select extname as object, format('create extension %I;', extname) as text
  from pg_extension where extname <> 'plpgsql' order by extname`;

const tables = `select c.relname as object,
    coalesce('-- ' || obj_description(c.oid, 'pg_class') || E'\\n', '')
    || format(E'create table %I (\\n%s\\n)%s;', c.relname,
      string_agg(lines.line, E',\\n' order by lines.kind, lines.position, lines.line),
      coalesce(' with (' || array_to_string(c.reloptions, ', ') || ')', '')) as text
  from pg_class c
  cross join lateral (
    select 1 as kind, a.attnum::integer as position,
      coalesce('  -- ' || col_description(c.oid, a.attnum) || E'\\n', '')
      || format('  %I %s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
        case when a.attnotnull then ' not null' else '' end,
        case when a.attgenerated = 's'
          then format(' generated always as (%s) stored', pg_get_expr(d.adbin, d.adrelid))
          else coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') end) as line
    from pg_attribute a
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    union all
    select 2, 0, format('  constraint %I %s', k.conname, pg_get_constraintdef(k.oid))
    from pg_constraint k
    where k.conrelid = c.oid and k.contype in ('p', 'u', 'f', 'c', 'x')
  ) lines
  where c.relkind in ('r', 'p') and ${ours}
  group by c.oid, c.relname, c.reloptions
  order by c.relname`;

const views = `select c.relname as object,
    coalesce('-- ' || obj_description(c.oid, 'pg_class') || E'\\n', '')
    || format(E'create view %I with (%s) as\\n%s', c.relname,
      coalesce(array_to_string(c.reloptions, ', '), ''), pg_get_viewdef(c.oid)) as text
  from pg_class c where c.relkind = 'v' and ${ours} order by c.relname`;

const indexes = `select t.relname as object, pg_get_indexdef(i.indexrelid) || ';' as text
  from pg_index i
  join pg_class c on c.oid = i.indexrelid
  join pg_class t on t.oid = i.indrelid
  where ${ours}
    and not exists (select from pg_constraint k where k.conindid = i.indexrelid
      and k.contype in ('p', 'u', 'x'))
  order by c.relname`;

const functions = `select p.proname as object, pg_get_functiondef(p.oid) || E';\\n-- owned by ' ||
    case when r.rolname like 'billwright\\_%' then r.rolname else 'the owner' end as text
  from pg_proc p
  join pg_roles r on r.oid = p.proowner
  where p.pronamespace = 'public'::regnamespace and ${notOfExtension('p.oid')}
  order by p.proname, pg_get_function_identity_arguments(p.oid)`;

const triggers = `select c.relname as object, pg_get_triggerdef(t.oid) || ';' as text
  from pg_trigger t
  join pg_class c on c.oid = t.tgrelid
  where not t.tgisinternal and ${ours}
  order by c.relname, t.tgname`;

const policies = `select c.relname as object,
    format('alter table %I %s row level security%s;', c.relname,
      case when c.relrowsecurity then 'enable' else 'disable' end,
      case when c.relforcerowsecurity then ', force row level security' else '' end)
    || coalesce((select string_agg(format(
      E'\\ncreate policy %I on %I as %s for %s using (%s)%s;',
      p.polname, c.relname, case when p.polpermissive then 'permissive' else 'restrictive' end,
      case p.polcmd when '*' then 'all' else p.polcmd::text end,
      pg_get_expr(p.polqual, p.polrelid),
      coalesce(' with check (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')', '')), ''
      order by p.polname) from pg_policy p where p.polrelid = c.oid), '') as text
  from pg_class c where c.relkind in ('r', 'p') and ${ours} order by c.relname`;

const rights = `select g.table_name as object,
    format('grant %s on %I to %I;', string_agg(lower(g.privilege_type), ', '
      order by g.privilege_type), g.table_name, g.grantee) as text
  from information_schema.role_table_grants g
  where g.table_schema = 'public' and g.grantee like 'billwright\\_%'
  group by g.table_name, g.grantee
  order by g.table_name, g.grantee`;

const rightsToColumns = `select c.relname as object,
    format('grant %s (%s) on %I to %I;', lower(x.privilege_type),
      string_agg(a.attname::text, ', ' order by a.attnum), c.relname, x.grantee::regrole) as text
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  cross join lateral aclexplode(a.attacl) x
  where ${ours}
  group by c.relname, x.grantee, x.privilege_type
  order by c.relname, x.grantee::regrole::text, x.privilege_type`;

const queries = [
  extensions,
  tables,
  views,
  indexes,
  triggers,
  policies,
  rights,
  rightsToColumns,
  functions,
];
