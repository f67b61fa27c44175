// The schema as text, read from PostgreSQL's own catalogue: what the migrations amount to.
import type pg from 'pg';

/** One line a thing, in a fixed order, so that a change shows as a small difference. */
export async function dumpSchema(client: pg.Client): Promise<string> {
  const parts: string[] = [
    '-- Written by `npm run billwright -- schema`: the result of all migrations. Nothing runs it.',
  ];
  for (const section of sections) {
    const { rows } = await client.query<{ text: string }>(section.query);
    parts.push(`-- ${section.title}`, ...rows.map((row) => row.text));
  }
  return `${parts.join('\n\n')}\n`;
}

const ours = `c.relnamespace = 'public'::regnamespace`;
// What an extension brought is listed by the extension's own line.
const notOfExtension = (oid: string) =>
  `not exists (select from pg_depend x where x.objid = ${oid} and x.deptype = 'e')`;

const sections: { title: string; query: string }[] = [
  {
    title: 'extensions',
    query: `select format('create extension %I;', extname) as text
      from pg_extension where extname <> 'plpgsql' order by extname`,
  },
  {
    title: 'tables',
    query: `select format(E'create table %I (\\n%s\\n);', c.relname,
        string_agg(lines.line, E',\\n' order by lines.kind, lines.position, lines.line)) as text
      from pg_class c
      cross join lateral (
        select 1 as kind, a.attnum::integer as position, format('  %I %s%s%s', a.attname,
          format_type(a.atttypid, a.atttypmod),
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
      group by c.oid, c.relname
      order by c.relname`,
  },
  {
    title: 'views',
    query: `select format(E'create view %I with (%s) as\\n%s', c.relname,
        coalesce(array_to_string(c.reloptions, ', '), ''), pg_get_viewdef(c.oid)) as text
      from pg_class c where c.relkind = 'v' and ${ours} order by c.relname`,
  },
  {
    title: 'indexes',
    query: `select pg_get_indexdef(i.indexrelid) || ';' as text
      from pg_index i
      join pg_class c on c.oid = i.indexrelid
      where ${ours}
        and not exists (select from pg_constraint k where k.conindid = i.indexrelid
          and k.contype in ('p', 'u', 'x'))
      order by c.relname`,
  },
  {
    title: 'functions and procedures',
    query: `select pg_get_functiondef(p.oid) || E';\\n-- owned by ' ||
        case when r.rolname like 'billwright\\_%' then r.rolname else 'the owner' end as text
      from pg_proc p
      join pg_roles r on r.oid = p.proowner
      where p.pronamespace = 'public'::regnamespace and ${notOfExtension('p.oid')}
      order by p.proname, pg_get_function_identity_arguments(p.oid)`,
  },
  {
    title: 'triggers',
    query: `select pg_get_triggerdef(t.oid) || ';' as text
      from pg_trigger t
      join pg_class c on c.oid = t.tgrelid
      where not t.tgisinternal and ${ours}
      order by c.relname, t.tgname`,
  },
  {
    title: 'row-level security',
    query: `select format('alter table %I %s row level security%s;', c.relname,
        case when c.relrowsecurity then 'enable' else 'disable' end,
        case when c.relforcerowsecurity then ', force row level security' else '' end)
        || coalesce((select string_agg(format(
          E'\\ncreate policy %I on %I as %s for %s using (%s)%s;',
          p.polname, c.relname, case when p.polpermissive then 'permissive' else 'restrictive' end,
          case p.polcmd when '*' then 'all' else p.polcmd::text end,
          pg_get_expr(p.polqual, p.polrelid),
          coalesce(' with check (' || pg_get_expr(p.polwithcheck, p.polrelid) || ')', '')), ''
          order by p.polname) from pg_policy p where p.polrelid = c.oid), '') as text
      from pg_class c where c.relkind in ('r', 'p') and ${ours} order by c.relname`,
  },
  {
    title: 'rights',
    query: `select format('grant %s on %I to %I;', string_agg(lower(g.privilege_type), ', '
        order by g.privilege_type), g.table_name, g.grantee) as text
      from information_schema.role_table_grants g
      where g.table_schema = 'public' and g.grantee like 'billwright\\_%'
      group by g.table_name, g.grantee
      order by g.table_name, g.grantee`,
  },
  {
    title: 'rights to single columns',
    query: `select format('grant %s (%s) on %I to %I;', lower(x.privilege_type),
        string_agg(a.attname::text, ', ' order by a.attnum), c.relname, x.grantee::regrole) as text
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      cross join lateral aclexplode(a.attacl) x
      where ${ours}
      group by c.relname, x.grantee, x.privilege_type
      order by c.relname, x.grantee::regrole::text, x.privilege_type`,
  },
];
