// Files of documents whose years of retention have passed.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';

/** Documents published before a moment whose files are kept, the oldest first. */
export async function listOldDocuments(
  tx: Tx,
  tenantId: number,
  before: Temporal.Instant,
  limit: number,
): Promise<number[]> {
  const { rows } = await sql<{ document_id: number }>`
    select o.document_id
    from (
      (select tenant_id, document_id, created_at from bill_documents
       where tenant_id = ${tenantId} and error is null and deleted_on is null
         and created_at < ${before}
       order by created_at, document_id
       limit ${limit})
      union all
      (select tenant_id, document_id, created_at from further_documents
       where tenant_id = ${tenantId} and deleted_on is null and created_at < ${before}
       order by created_at, document_id
       limit ${limit})
    ) o
    where o.tenant_id = ${tenantId}
    order by o.created_at, o.document_id
    limit ${limit}
  `.execute(tx);
  return rows.map((row) => row.document_id);
}

/** The documents keep their rows, with the hash of what was published. */
export async function deleteFiles(
  tx: Tx,
  tenantId: number,
  documentIds: readonly number[],
  day: Temporal.PlainDate,
): Promise<void> {
  if (documentIds.length === 0) return;
  const ids = [...documentIds];
  await sql`
    delete from document_contents
    where tenant_id = ${tenantId} and document_id = any(${ids}::bigint[])
  `.execute(tx);
  await sql`
    update bill_documents set deleted_on = ${day}
    where tenant_id = ${tenantId} and document_id = any(${ids}::bigint[])
  `.execute(tx);
  await sql`
    update further_documents set deleted_on = ${day}
    where tenant_id = ${tenantId} and document_id = any(${ids}::bigint[])
  `.execute(tx);
}

/** Parts that only documents of years before this one had. */
export async function deleteParts(
  tx: Tx,
  tenantId: number,
  year: number,
  limit: number,
): Promise<number> {
  const { count } = await sql`
    delete from document_parts
    where tenant_id = ${tenantId} and sha256 in (
      select sha256 from document_parts
      where tenant_id = ${tenantId} and last_year < ${year}
      limit ${limit}
    ) and last_year < ${year}
  `.execute(tx);
  return count;
}
