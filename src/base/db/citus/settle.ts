// What a machine of a Citus cluster has to know of each shard it holds. Citus copies rows and
// indexes when it makes or moves a shard, but not what plans are made by.
import type pg from 'pg';

/**
 * Runs on each machine. A shard is a table there, so that the same procedure sets its shares. One
 * that came from another machine was never analysed.
 */
export const settleShards = `
create or replace function settle_shards() returns integer
language plpgsql
as $settle$
declare
  shard regclass;
  settled integer := 0;
begin
  perform set_config('citus.override_table_visibility', 'off', true);
  perform set_config('citus.enable_manual_changes_to_shards', 'on', true);
  perform set_config('lock_timeout', '10s', true);
  for shard in
    select c.oid::regclass
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
  end loop;
  return settled;
end
$settle$`;

/** Returns how many shards were made or moved since the last time; the others stay as they are. */
export async function settle(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ success: boolean; result: string }>(
    "select success, result from run_command_on_workers('select settle_shards()')",
  );
  const failed = rows.find((row) => !row.success);
  if (failed) throw new Error(`A machine of the cluster could not be settled: ${failed.result}`);
  return rows.reduce((sum, row) => sum + Number(row.result), 0);
}
