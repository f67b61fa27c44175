// Numbers of transactions, which another PostgreSQL counts anew.
import type pg from 'pg';

/**
 * Events are read in the order of the transactions that wrote them, as far as those have ended.
 * Here they get numbers in the same order that lie before every later transaction.
 */
export async function renumberEvents(client: pg.Client, tenantId: number | null): Promise<void> {
  const { rows } = await client.query<{ found: boolean }>(
    "select to_regclass('public.events') is not null as found",
  );
  if (!rows[0]?.found) return;
  await client.query(
    `update events e set written_in = r.place::text::xid8
     from (
       select tenant_id, event_id, least(
         dense_rank() over (partition by tenant_id order by written_in),
         pg_current_xact_id()::text::bigint) as place
       from events where tenant_id = $1 or $1::bigint is null
     ) r
     where e.tenant_id = r.tenant_id and e.event_id = r.event_id`,
    [tenantId],
  );
}
