// Documents that no bill run makes: those of credit notes and of cancelled bills, which a worker
// makes soon after they are due, receipts and reminders. Each is made once, and its file is kept.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { FileFacts } from './document-file.ts';

export type FurtherKind =
  | 'Cancelled'
  | 'CreditNote'
  | 'Receipt'
  | 'Reminder'
  | 'EInvoice'
  | 'CreditNoteEInvoice';
export type FurtherKey = { kind: FurtherKind; subjectId: number };

/** What waits: a document, or the mail that brings a receipt. */
export type QueuedKey = { kind: 'Cancelled' | 'CreditNote' | 'ReceiptMail'; subjectId: number };

/** Workspaces in which some wait to be made. */
export async function listWorkspacesWithDocuments(tx: Tx): Promise<number[]> {
  const { rows } = await sql<{ tenant_id: number }>`
    select tenant_id from workspaces_with_documents_to_make() as w (tenant_id)
  `.execute(tx);
  return rows.map((row) => row.tenant_id);
}

/**
 * The next that can be made, and that no other worker has taken. The document of a cancelled bill
 * that is billed again names the new bill: it waits until that is posted. It comes last: the
 * others wait for nothing.
 */
export async function takeQueued(tx: Tx, tenantId: number, limit: number): Promise<QueuedKey[]> {
  const { rows } = await sql<{ kind: QueuedKey['kind']; subject_id: number }>`
    select q.kind, q.subject_id from document_queue q
    where q.tenant_id = ${tenantId} and (q.kind <> 'Cancelled' or not exists (
      select from credit_notes n
      where n.tenant_id = ${tenantId} and n.bill_id = q.subject_id and n.cancels_bill
        and n.rebill_term_id is not null and not exists (
          select from bills r
          where r.tenant_id = ${tenantId} and r.term_id = n.rebill_term_id
            and r.bill_number is not null
        )
    ))
    order by q.kind desc, q.subject_id
    limit ${limit}
    for update of q skip locked
  `.execute(tx);
  return rows.map((row) => ({ kind: row.kind, subjectId: row.subject_id }));
}

export async function deleteQueued(
  tx: Tx,
  tenantId: number,
  keys: readonly QueuedKey[],
): Promise<void> {
  if (keys.length === 0) return;
  await sql`
    delete from document_queue q
    using unnest(
      ${keys.map((key) => key.kind)}::text[], ${keys.map((key) => key.subjectId)}::bigint[]
    ) as made (kind, subject_id)
    where q.tenant_id = ${tenantId} and q.kind = made.kind and q.subject_id = made.subject_id
  `.execute(tx);
}

export async function insertFurther(
  tx: Tx,
  tenantId: number,
  documents: readonly (FurtherKey & FileFacts & { documentId: number })[],
  at: Temporal.Instant,
): Promise<void> {
  await sql`
    insert into further_documents (tenant_id, document_id, kind, subject_id, size, sha256,
      created_at)
    select own.tenant_id, d.document_id, d.kind, d.subject_id, d.size, decode(d.sha256, 'hex'),
      ${at}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join unnest(
      ${documents.map((one) => one.documentId)}::bigint[],
      ${documents.map((one) => one.kind)}::text[],
      ${documents.map((one) => one.subjectId)}::bigint[],
      ${documents.map((one) => one.size)}::integer[],
      ${documents.map((one) => one.sha256)}::text[]
    ) d (document_id, kind, subject_id, size, sha256)
  `.execute(tx);
}

export type FurtherRow = { document_id: number; sha256: string; deleted_on: string | null };

/** Those that are made, by subject. */
export async function listFurther(
  tx: Tx,
  tenantId: number,
  kind: FurtherKind,
  subjectIds: readonly number[],
): Promise<Map<number, FurtherRow>> {
  const { rows } = await sql<FurtherRow & { subject_id: number }>`
    select subject_id, document_id, encode(sha256, 'hex') as sha256, deleted_on
    from further_documents
    where tenant_id = ${tenantId} and kind = ${kind}
      and subject_id = any(${[...subjectIds]}::bigint[])
  `.execute(tx);
  return new Map(rows.map((row) => [row.subject_id, row]));
}

/** Those of the keys whose documents are made. */
export async function listKeptKeys(
  tx: Tx,
  tenantId: number,
  keys: readonly FurtherKey[],
): Promise<FurtherKey[]> {
  const { rows } = await sql<{ kind: FurtherKind; subject_id: number }>`
    select kind, subject_id from further_documents
    where tenant_id = ${tenantId} and (kind, subject_id) in (
      select * from unnest(${keys.map((key) => key.kind)}::text[],
        ${keys.map((key) => key.subjectId)}::bigint[])
    )
  `.execute(tx);
  return rows.map((row) => ({ kind: row.kind, subjectId: row.subject_id }));
}

/** Undefined while it is not made. */
export async function findFurther(
  tx: Tx,
  tenantId: number,
  { kind, subjectId }: FurtherKey,
): Promise<FurtherRow | undefined> {
  const { rows } = await sql<FurtherRow>`
    select document_id, encode(sha256, 'hex') as sha256, deleted_on
    from further_documents
    where tenant_id = ${tenantId} and kind = ${kind} and subject_id = ${subjectId}
  `.execute(tx);
  return rows[0];
}
