import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';

export async function markBeforeImport(tx: Tx): Promise<void> {
  await sql`savepoint before_import`.execute(tx);
}

export async function undoImport(tx: Tx): Promise<void> {
  await sql`rollback to savepoint before_import`.execute(tx);
}

/** A second call with the same bytes waits until they are imported or refused. */
export async function lockFile(
  tx: Tx,
  tenantId: number,
  key: { kind: string; sha256: Buffer },
): Promise<void> {
  const name = `import ${key.kind} ${key.sha256.toString('hex')}`;
  await sql`
    select pg_advisory_xact_lock(hashtextextended(${name}, tenant_id))
    from tenants where tenant_id = ${tenantId}
  `.execute(tx);
}

export type ImportRecord = {
  importId: number;
  kind: string;
  fileName: string | null;
  sha256: Buffer;
  rows: number;
};

/** An earlier import of the same bytes by any login. */
export async function findImport(
  tx: Tx,
  tenantId: number,
  key: { kind: string; sha256: Buffer },
): Promise<{ created_at: Temporal.Instant; created_by: string } | undefined> {
  const { rows } = await sql<{ created_at: Temporal.Instant; created_by: string }>`
    select created_at, created_by from imports
    where tenant_id = ${tenantId} and kind = ${key.kind}
      and sha256 = decode(${key.sha256.toString('hex')}, 'hex')
    order by import_id desc
    limit 1
  `.execute(tx);
  return rows[0];
}

export async function insertImport(
  tx: Tx,
  tenantId: number,
  record: ImportRecord,
  stamp: Stamp,
): Promise<void> {
  await sql`
    insert into imports (
      tenant_id, import_id, kind, file_name, sha256, rows, created_at, created_by
    )
    values (
      ${tenantId}, ${record.importId}, ${record.kind}, ${record.fileName},
      decode(${record.sha256.toString('hex')}, 'hex'), ${record.rows}, ${stamp.at}, ${stamp.by}
    )
  `.execute(tx);
}
