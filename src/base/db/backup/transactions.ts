// Numbers of transactions, which another PostgreSQL counts anew.
import type pg from 'pg';
import { exists } from './tables.ts';

/** Events with the numbers that they get: in the same order, before every later transaction. */
const renumbered = `
  select tenant_id, event_id, written_in, least(
    dense_rank() over (partition by tenant_id order by written_in),
    pg_current_xact_id()::text::bigint) as place
  from events where tenant_id = $1 or $1::bigint is null`;

/**
 * Events are read in the order of the transactions that wrote them, as far as those have ended. A
 * webhook keeps its place in that order: it goes on before the first event that it has not read.
 */
export async function renumberEvents(client: pg.Client, tenantId: number | null): Promise<void> {
  if (!(await exists(client, 'events'))) return;
  if (await exists(client, 'webhooks')) await placeWebhooks(client, tenantId);
  await client.query(
    `update events e set written_in = r.place::text::xid8
     from (${renumbered}) r
     where e.tenant_id = r.tenant_id and e.event_id = r.event_id`,
    [tenantId],
  );
}

async function placeWebhooks(client: pg.Client, tenantId: number | null): Promise<void> {
  await client.query(
    `update webhooks w
     set read_in = coalesce(n.place::text::xid8, pg_current_xact_id()),
       read_event_id = coalesce(n.event_id - 1, 9007199254740991)
     from (
       select distinct on (h.tenant_id, h.webhook_id) h.tenant_id, h.webhook_id, r.place, r.event_id
       from webhooks h
       left join (${renumbered}) r
         on r.tenant_id = h.tenant_id and (r.written_in, r.event_id) > (h.read_in, h.read_event_id)
       where h.tenant_id = $1 or $1::bigint is null
       order by h.tenant_id, h.webhook_id, r.place, r.event_id
     ) n
     where w.tenant_id = n.tenant_id and w.webhook_id = n.webhook_id`,
    [tenantId],
  );
}
