// The functions of the schema as a Citus cluster needs them. Their own form, in the migrations, is
// the one that PostgreSQL alone plans best; here they are rewritten from it, after every migration.
import type pg from 'pg';
import { settleShards } from './settle.ts';

/**
 * Citus sends a statement to one machine if it compares the tenant with a value. The result of a
 * function is none, so the function is called once, into this variable.
 */
const own = 'own_tenant_of_call';

/** Citus tells the other machines what SET LOCAL sets, and nothing else. */
const setTenant = [
  `create or replace function set_tenant_everywhere(wanted text) returns void
   language plpgsql volatile
   as $set$
   begin
     execute format('set local app.tenant = %L', wanted);
   end
   $set$`,
  // Outside of begin and commit, Citus takes only what runs inside of another statement for a part
  // of a transaction. What the coordinator plans is thrown away for a statement of one machine, so
  // it tries no other order of the tables; set_config says nothing to the machines, which do.
  `create or replace function set_tenant(wanted text) returns text
   language plpgsql volatile
   as $set$
   begin
     perform set_tenant_everywhere(wanted);
     perform set_config('join_collapse_limit', '1', true);
     return wanted;
   end
   $set$`,
];

type Found = {
  name: string;
  definition: string;
  body: string;
  language: string;
  isSet: boolean;
  isGeneric: boolean;
};

/** Functions are made on all machines. Those that are as they should be stay as they are. */
export async function adaptFunctions(client: pg.Client): Promise<void> {
  await client.query(settleShards);
  await client.query('revoke all on function settle_shards() from public');
  for (const one of await listUnadapted(client)) {
    if (one.name === 'set_tenant(text)') {
      for (const text of setTenant) await client.query(text);
      continue;
    }
    const body = withOwnTenant(one);
    const language = body === one.body ? one.language : 'plpgsql';
    const definition = one.definition
      .replace(one.body, () => withHints(body))
      .replace(/^ LANGUAGE \w+$/m, ` LANGUAGE ${language}`);
    await client.query(definition);
    // A statement of Citus has no generic plan.
    if (one.isGeneric) await client.query(`alter function ${one.name} reset plan_cache_mode`);
  }
}

async function listUnadapted(client: pg.Client): Promise<Found[]> {
  const { rows } = await client.query<Found>(
    `select p.oid::regprocedure::text as name, pg_get_functiondef(p.oid) as definition,
       p.prosrc as body, l.lanname::text as language, p.proretset as "isSet",
       coalesce('plan_cache_mode=force_generic_plan' = any(p.proconfig), false) as "isGeneric"
     from pg_proc p
     join pg_language l on l.oid = p.prolang
     where p.pronamespace = 'public'::regnamespace and p.prokind = 'f'
       and not exists (select from pg_depend x where x.objid = p.oid and x.deptype = 'e')
       and ((p.prosrc ~ '\\mconstraint = ' and p.prosrc !~ '\\mhint = ')
         or p.prosrc ~ '[^:]= require_tenant\\(\\)'
         or 'plan_cache_mode=force_generic_plan' = any(p.proconfig)
         or (p.proname = 'set_tenant' and p.prosrc !~ 'join_collapse_limit'))
     order by p.proname`,
  );
  return rows;
}

/** Citus passes on the hint of an error, but not the name of its constraint. */
export function withHints(body: string): string {
  return body.replaceAll(
    /\bconstraint = ('\w+'|tg_argv\[0\])/g,
    (all, name: string) => `${all}, hint = 'constraint "' || ${name} || '"'`,
  );
}

export function withOwnTenant({ body, language, isSet }: Omit<Found, 'definition'>): string {
  const comparison = /(?<!:)= require_tenant\(\)/g;
  // The assignment of a variable calls it once already.
  if (!comparison.test(body)) return body;
  const declaration = `${own} constant bigint := require_tenant();`;
  const pinned = body.replaceAll(comparison, `= ${own}`);
  if (language === 'plpgsql') {
    return /^\s*declare\b/m.test(pinned)
      ? pinned.replace(/\bdeclare\b/, `declare\n  ${declaration}`)
      : pinned.replace(/\bbegin\b/, `declare\n  ${declaration}\nbegin`);
  }
  const statement = pinned.trim().replace(/;$/, '');
  const doing = isSet ? `return query ${statement};` : `${statement};`;
  // In a function in SQL, a name is that of a column first.
  return `\n#variable_conflict use_column\ndeclare\n  ${declaration}\nbegin\n  ${doing}\nend\n`;
}
