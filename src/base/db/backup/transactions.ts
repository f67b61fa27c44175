// Numbers of transactions, which another PostgreSQL counts anew.
import type pg from 'pg';
import { BackupError } from './format.ts';
import { exists } from './tables.ts';

/** Of one workspace, or of all. */
type Scope = { tenantId: number | null; now: string };

/** Events with the numbers that they get: in the same order, before every later transaction. */
function renumbered(scope: Scope): string {
  return `
    select tenant_id, event_id, written_in, least(
      dense_rank() over (partition by tenant_id order by written_in), $1::bigint) as place
    from events where ${isIn(scope, 'tenant_id')}`;
}

function isIn({ tenantId }: Scope, column: string): string {
  return tenantId === null ? 'true' : `${column} = $2`;
}

function valuesOf({ tenantId, now }: Scope): unknown[] {
  return tenantId === null ? [now] : [now, tenantId];
}

/**
 * Events are read in the order of the transactions that wrote them, as far as those have ended. A
 * webhook keeps its place in that order: it goes on before the first event that it has not read.
 */
export async function renumberEvents(client: pg.Client, tenantId: number | null): Promise<void> {
  if (!(await exists(client, 'events'))) return;
  const scope = { tenantId, now: await currentTransaction(client, tenantId) };
  if (await exists(client, 'webhooks')) await placeWebhooks(client, scope);
  await client.query(
    `update events e set written_in = r.place::text::xid8
     from (${renumbered(scope)}) r
     where e.tenant_id = r.tenant_id and e.event_id = r.event_id and ${isIn(scope, 'e.tenant_id')}`,
    valuesOf(scope),
  );
}

/** On the machine that has the rows of the workspace. */
async function currentTransaction(client: pg.Client, tenantId: number | null): Promise<string> {
  const { rows } = await client.query<{ now: string }>(
    tenantId === null
      ? 'select pg_current_xact_id()::text as now'
      : 'select pg_current_xact_id()::text as now from tenants where tenant_id = $1',
    tenantId === null ? [] : [tenantId],
  );
  return rows[0]?.now ?? '0';
}

async function placeWebhooks(client: pg.Client, scope: Scope): Promise<void> {
  await client.query(
    `update webhooks w
     set read_in = coalesce(n.place, $1::bigint)::text::xid8,
       read_event_id = coalesce(n.event_id - 1, 9007199254740991)
     from (
       select distinct on (h.tenant_id, h.webhook_id) h.tenant_id, h.webhook_id, r.place, r.event_id
       from webhooks h
       left join (${renumbered(scope)}) r
         on r.tenant_id = h.tenant_id and (r.written_in, r.event_id) > (h.read_in, h.read_event_id)
       where ${isIn(scope, 'h.tenant_id')}
       order by h.tenant_id, h.webhook_id, r.place, r.event_id
     ) n
     where w.tenant_id = n.tenant_id and w.webhook_id = n.webhook_id
       and ${isIn(scope, 'w.tenant_id')}`,
    valuesOf(scope),
  );
}

/** For the rest of the transaction, on all machines. */
export async function silenceTriggers(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ may: boolean; role: string }>(
    `select has_parameter_privilege('session_replication_role', 'set') as may,
       quote_ident(current_user) as role`,
  );
  if (!rows[0]?.may) {
    throw new BackupError(
      'This role may not bring in rows of a workspace. Have an administrator of this PostgreSQL ' +
        '(on a cluster, of each machine) run the following, then try again:\n\n' +
        `  grant set on parameter session_replication_role to ${rows[0]?.role};\n`,
    );
  }
  await client.query('set local session_replication_role = replica');
}
