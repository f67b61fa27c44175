// Parts of files that are too large for one call.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';

export type PartRow = {
  part_number: number;
  is_last: boolean;
  sha256: string;
  bytes: number;
};

/** Calls for one upload wait for each other, so that its size and its end are known. */
export async function lockUpload(tx: Tx, tenantId: number, uploadId: string): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(hashtextextended('upload ' || ${uploadId}::text, tenant_id))
    from tenants where tenant_id = ${tenantId}
  `.execute(tx);
}

/** Those that are not too old, in their order; without their contents. */
export async function listParts(
  tx: Tx,
  tenantId: number,
  uploadId: string,
  since: Temporal.Instant,
): Promise<PartRow[]> {
  const { rows } = await sql<PartRow>`
    select part_number, is_last, encode(sha256, 'hex') as sha256, octet_length(content) as bytes
    from upload_parts
    where tenant_id = ${tenantId} and upload_id = ${uploadId} and created_at > ${since}
    order by part_number
  `.execute(tx);
  return rows;
}

/** One that has expired gives its place to a new one. */
export async function insertPart(
  tx: Tx,
  tenantId: number,
  part: { uploadId: string; number: number; isLast: boolean; content: Buffer; sha256: string },
  stamp: Stamp,
): Promise<boolean> {
  const { count } = await sql`
    insert into upload_parts (tenant_id, upload_id, part_number, is_last, content, sha256,
      created_at, created_by)
    values (${tenantId}, ${part.uploadId}, ${part.number}, ${part.isLast},
      decode(${part.content.toString('base64')}, 'base64'), decode(${part.sha256}, 'hex'),
      ${stamp.at}, ${stamp.by})
    on conflict (tenant_id, upload_id, part_number) do nothing
  `.execute(tx);
  return count === 1;
}

export async function findPartContent(
  tx: Tx,
  tenantId: number,
  uploadId: string,
  number: number,
): Promise<Buffer> {
  const { rows } = await sql<{ content: string }>`
    select encode(content, 'base64') as content from upload_parts
    where tenant_id = ${tenantId} and upload_id = ${uploadId} and part_number = ${number}
  `.execute(tx);
  if (!rows[0]) throw new Error(`no part ${number} of the upload ${uploadId}`);
  return Buffer.from(rows[0].content, 'base64');
}

/** Returns how many. */
export async function deleteOldParts(
  tx: Tx,
  tenantId: number,
  before: Temporal.Instant,
): Promise<number> {
  const { count } = await sql`
    delete from upload_parts where tenant_id = ${tenantId} and created_at <= ${before}
  `.execute(tx);
  return count;
}
