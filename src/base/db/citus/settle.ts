// What a machine of a Citus cluster has to know of each shard it holds. Citus copies rows and
// indexes when it makes or moves a shard, but not what plans are made by.
import type pg from 'pg';
import { renumberEvents, silenceTriggers } from '../backup/transactions.ts';

/**
 * Runs on each machine. A shard is a table there, so that the same procedure sets its shares. One
 * that came from another machine was never analysed.
 */
export const settleShards = `
create or replace function settle_shards() returns json
language plpgsql
as $settle$
declare
  shard regclass;
  shard_number bigint;
  settled integer := 0;
  with_events bigint[] := '{}';
begin
  perform set_config('citus.override_table_visibility', 'off', true);
  perform set_config('citus.enable_manual_changes_to_shards', 'on', true);
  perform set_config('lock_timeout', '10s', true);
  for shard, shard_number in
    select c.oid::regclass, s.shardid
    from pg_dist_partition d
    join pg_dist_shard s on s.logicalrelid = d.logicalrelid
    join pg_class c on c.oid = to_regclass(shard_name(d.logicalrelid, s.shardid))
    join pg_class t on t.oid = d.logicalrelid
    where d.partmethod = 'h' and t.relnamespace = 'public'::regnamespace
      and not exists (
        select from pg_stats p
        where p.schemaname = 'public' and p.tablename = c.relname and p.attname = 'tenant_id'
          and p.n_distinct = 10 and p.most_common_vals is null
      )
  loop
    call assume_shares(shard);
    execute format('analyze %s', shard);
    settled := settled + 1;
    with_events := with_events || (
      select shardid from pg_dist_shard
      where shardid = shard_number and logicalrelid = 'events'::regclass);
  end loop;
  return json_build_object('settled', settled, 'events', array_remove(with_events, null));
end
$settle$`;

/** Returns how many shards were made or moved since the last time; the others stay as they are. */
export async function settle(client: pg.Client): Promise<number> {
  await assertMayRenumber(client);
  const { rows } = await client.query<{ success: boolean; result: string }>(
    "select success, result from run_command_on_workers('select settle_shards()')",
  );
  const failed = rows.find((row) => !row.success);
  if (failed) throw notSettled(failed.result);
  const all = rows.map((row) => JSON.parse(row.result) as { settled: number; events: number[] });
  await renumberMoved(
    client,
    all.flatMap((one) => one.events),
  );
  return all.reduce((sum, one) => sum + one.settled, 0);
}

function notSettled(result: string): Error {
  const error = new Error(`A machine of the cluster could not be settled: ${result}`);
  // As PostgreSQL reports a connection that failed.
  return /^(failed to connect|connection )/i.test(result)
    ? Object.assign(error, { code: '08006' })
    : error;
}

/** Before anything is settled: a shard that is settled is not looked at again. */
async function assertMayRenumber(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ found: boolean }>(
    'select exists (select from workspaces) as found',
  );
  if (!rows[0]?.found) return;
  await client.query('begin');
  try {
    await silenceTriggers(client);
  } finally {
    await client.query('rollback');
  }
}

/** The machine to which events were moved may count transactions from a lower number. */
async function renumberMoved(client: pg.Client, shards: readonly number[]): Promise<void> {
  if (shards.length === 0) return;
  const { rows } = await client.query<{ tenant_id: string }>(
    `select tenant_id from workspaces
     where get_shard_id_for_distribution_column('events', tenant_id) = any($1::bigint[])
     order by tenant_id`,
    [shards],
  );
  for (const { tenant_id: tenantId } of rows) {
    await client.query('begin');
    await client.query('select set_tenant($1)', [tenantId]);
    await silenceTriggers(client);
    await renumberEvents(client, Number(tenantId));
    await client.query('commit');
  }
}
