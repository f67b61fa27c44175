// Workspaces that are to be deleted, or were. A registry like that of all workspaces.
import { listToDelete } from '../../base/db/backup/tables.ts';
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

export type EndedRow = {
  tenant_id: number;
  workspace: string;
  was_active: boolean;
  delete_after: Temporal.Instant;
  is_due: boolean;
};

/** Those that are not deleted yet. */
export async function listEnded(tx: Tx): Promise<EndedRow[]> {
  const { rows } = await sql<EndedRow>`
    select tenant_id, workspace, was_active, delete_after, delete_after <= now() as is_due
    from ended_workspaces
    where deleted_at is null
    order by tenant_id
  `.execute(tx);
  return rows;
}

/** Its time has come: what is left of it is nothing to work with. */
export async function isBeingDeleted(tx: Tx, tenantId: number): Promise<boolean> {
  const { rows } = await sql`
    select from ended_workspaces where tenant_id = ${tenantId} and delete_after <= now()
  `.execute(tx);
  return rows.length > 0;
}

export async function insertEnded(
  tx: Tx,
  tenantId: number,
  ended: { workspace: string; wasActive: boolean; exportFile: string; days: number },
): Promise<Temporal.Instant> {
  const { rows } = await sql<{ delete_after: Temporal.Instant }>`
    insert into ended_workspaces (
      tenant_id, workspace, was_active, requested_at, delete_after, export_file
    )
    values (${tenantId}, ${ended.workspace}, ${ended.wasActive}, now(),
      now() + make_interval(days => ${ended.days}::integer), ${ended.exportFile})
    returning delete_after
  `.execute(tx);
  const deleteAfter = rows[0]?.delete_after;
  if (!deleteAfter) throw new Error('no end of the workspace was stored');
  return deleteAfter;
}

/** Undefined if the workspace has not ended, or its deletion has begun. */
export async function deleteEnded(
  tx: Tx,
  tenantId: number,
): Promise<{ was_active: boolean } | undefined> {
  const { rows } = await sql<{ was_active: boolean }>`
    delete from ended_workspaces
    where tenant_id = ${tenantId} and delete_after > now()
    returning was_active
  `.execute(tx);
  return rows[0];
}

/** Names of tables, each before those that its foreign keys name. */
export const listTablesToDelete = listToDelete;

/** Of the workspace of the transaction, up to so many rows of a table. */
export async function deleteEndedRows(tx: Tx, table: string, most: number): Promise<number> {
  const { rows } = await sql<{ deleted: number }>`
    select delete_ended_rows(${table}, ${most}) as deleted
  `.execute(tx);
  return rows[0]?.deleted ?? 0;
}

/** Jobs that run, and workers that still hold a part of one. */
export async function findRunningJob(
  tx: Tx,
  tenantId: number,
): Promise<{ job_id: number; operation: string; is_held: boolean } | undefined> {
  const { rows } = await sql<{ job_id: number; operation: string; is_held: boolean }>`
    select j.job_id, j.operation,
      exists (
        select from chunk_attempts a
        where a.tenant_id = ${tenantId} and a.job_id = j.job_id and a.error is null
          and a.seen_at > now() - interval '40 seconds'
      ) as is_held
    from jobs j
    where j.tenant_id = ${tenantId} and j.status = 'Running'
    order by is_held desc, j.job_id
    limit 1
  `.execute(tx);
  return rows[0];
}
