// Bills as they are read to be rendered, and what is kept of their documents.

import type { Tx } from '../../base/db/pool.ts';
import { cutIntoRanges, type IdRange } from '../../base/db/ranges.ts';
import { sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';
import { storedBillColumns, withContents } from '../bills/contents-store.ts';
import type { BillToRender } from './bill-input.ts';
import type { RenderError } from './render-outcome.ts';

const billColumns = sql.raw(`${storedBillColumns}, k.document::text as document,
  k.frozen::text as frozen`);

/** The posted bills of a term, cut into ranges of a given size by the ids of their billed units. */
export function cutPosted(
  tx: Tx,
  tenantId: number,
  termId: number,
  size: number,
): Promise<{ chunks: IdRange[]; total: number }> {
  const posted = sql`
    select tenant_id, unit_id as id from bills
    where tenant_id = ${tenantId} and term_id = ${termId} and status = 'Posted'`;
  return cutIntoRanges(tx, tenantId, posted, size);
}

export async function listPostedBills(
  tx: Tx,
  tenantId: number,
  termId: number,
  range: IdRange,
): Promise<BillToRender[]> {
  const { rows } = await sql<BillToRender>`
    select ${billColumns} from bills b ${withContents(tenantId)}
    where b.tenant_id = ${tenantId} and b.term_id = ${termId} and b.status = 'Posted'
      and b.unit_id between ${range.firstId} and ${range.lastId}
    order by b.unit_id
  `.execute(tx);
  return rows;
}

export async function listBillsByIds(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<BillToRender[]> {
  if (billIds.length === 0) return [];
  const { rows } = await sql<BillToRender>`
    select ${billColumns} from bills b ${withContents(tenantId)}
    where b.tenant_id = ${tenantId} and b.bill_id = any(${[...billIds]}::bigint[])
    order by b.bill_id
  `.execute(tx);
  return rows;
}

/** The bill itself, with the term that it belongs to. */
export async function findBillToShow(
  tx: Tx,
  tenantId: number,
  billId: number,
): Promise<(BillToRender & { term_id: number }) | undefined> {
  const { rows } = await sql<BillToRender & { term_id: number }>`
    select b.term_id, ${billColumns} from bills b ${withContents(tenantId)}
    where b.tenant_id = ${tenantId} and b.bill_id = ${billId}
  `.execute(tx);
  return rows[0];
}

export type NewDocument = {
  documentId: number;
  billId: number;
  size: number | null;
  /** Hexadecimal. */
  sha256: string | null;
  error: RenderError | null;
};

export type DocumentsOfTerm = {
  termId: number;
  settingVersion: number;
  templateId: number;
  templateVersion: number;
  at: Temporal.Instant;
};

/** Of the newest term that has one, of a context or of all; without errors, and not cancelled. */
export async function findNewestBill(
  tx: Tx,
  tenantId: number,
  contextId: number | null,
): Promise<number | undefined> {
  const { rows } = await sql<{ bill_id: number }>`
    select n.bill_id
    from terms t
    cross join lateral (
      select b.bill_id from bills b
      where b.tenant_id = ${tenantId} and b.term_id = t.term_id
        and b.status in ('Draft', 'Hold', 'Posted', 'Published')
      order by b.bill_id desc
      limit 1
    ) n
    where t.tenant_id = ${tenantId}
      and (${contextId}::bigint is null or t.context_id = ${contextId}::bigint)
    order by t.term_id desc
    limit 1
  `.execute(tx);
  return rows[0]?.bill_id;
}

/** Replaces a document that could not be created before. */
export async function saveDocuments(
  tx: Tx,
  tenantId: number,
  of: DocumentsOfTerm,
  documents: readonly NewDocument[],
): Promise<void> {
  if (documents.length === 0) return;
  await sql`
    insert into bill_documents (tenant_id, document_id, bill_id, term_id, format, setting_version,
      template_id, template_version, size, sha256, error, created_at)
    select own.tenant_id, d.document_id, d.bill_id, ${of.termId}, 'PDF', ${of.settingVersion},
      ${of.templateId}, ${of.templateVersion}, d.size, decode(d.sha256, 'hex'), d.error, ${of.at}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(documents.map(rowOf))}::jsonb) as d (
      document_id bigint, bill_id bigint, size integer, sha256 text, error jsonb
    )
    on conflict on constraint bill_documents_once do update
    set document_id = excluded.document_id, setting_version = excluded.setting_version,
      template_id = excluded.template_id, template_version = excluded.template_version,
      size = excluded.size, sha256 = excluded.sha256, error = excluded.error,
      created_at = excluded.created_at
    where bill_documents.error is not null
  `.execute(tx);
}

function rowOf({ documentId, billId, size, sha256, error }: NewDocument) {
  // An absent key becomes SQL's null; a null would be the null of JSON.
  const reason = error === null ? {} : { error };
  return { document_id: documentId, bill_id: billId, size, sha256, ...reason };
}

/** From here on the customer sees them. */
export async function publishBills(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
  issue: { date: string } & Stamp,
): Promise<void> {
  if (billIds.length === 0) return;
  await sql`
    update bills
    set status = 'Published', issue_date = ${issue.date}, modified_at = ${issue.at},
      modified_by = ${issue.by}, ts = greatest(ts + 1, ${issue.at.epochMilliseconds}::bigint)
    where tenant_id = ${tenantId} and bill_id = any(${[...billIds]}::bigint[])
      and status = 'Posted'
  `.execute(tx);
}

/** The day on which the first of its bills was issued; null where none is after all. */
export async function updateIssueDate(
  tx: Tx,
  tenantId: number,
  termId: number,
  issueDate: string | null,
): Promise<void> {
  await sql`
    update terms set issue_date = ${issueDate}
    where tenant_id = ${tenantId} and term_id = ${termId}
      and not exists (
        select from bills
        where tenant_id = ${tenantId} and term_id = ${termId} and status = 'Published'
      )
  `.execute(tx);
}

export type FailedDocumentRow = {
  bill_id: number;
  bill_number: string;
  connection_number: string | null;
  error: RenderError;
};

/** Posted bills whose documents could not be made. */
export async function listFailedDocuments(
  tx: Tx,
  tenantId: number,
  wanted: { termId: number; batchId: number | null },
  options: { afterBillId: number; limit: number },
): Promise<FailedDocumentRow[]> {
  const { rows } = await sql<FailedDocumentRow>`
    select d.bill_id, b.bill_number, d.error,
      k.frozen -> 'connection' ->> 'connectionNumber' as connection_number
    from bill_documents d
    join bills b on b.tenant_id = ${tenantId} and b.bill_id = d.bill_id
    ${withContents(tenantId)}
    where d.tenant_id = ${tenantId} and d.term_id = ${wanted.termId} and d.error is not null
      and (${wanted.batchId}::bigint is null or b.batch_id = ${wanted.batchId})
      and b.status = 'Posted' and d.bill_id > ${options.afterBillId}
    order by d.bill_id
    limit ${options.limit}
  `.execute(tx);
  return rows;
}

/** For bills that are drafts again: whether they can be printed is found out anew. */
export async function deleteFailedDocuments(
  tx: Tx,
  tenantId: number,
  termId: number,
): Promise<void> {
  await sql`
    delete from bill_documents
    where tenant_id = ${tenantId} and term_id = ${termId} and error is not null
  `.execute(tx);
}

export async function countBills(
  tx: Tx,
  tenantId: number,
  termId: number,
): Promise<{ posted: number; published: number }> {
  const { rows } = await sql<{ posted: number; published: number }>`
    select count(*) filter (where status = 'Posted') as posted,
      count(*) filter (where status = 'Published') as published
    from bills
    where tenant_id = ${tenantId} and term_id = ${termId} and status <> 'Cancelled'
  `.execute(tx);
  return rows[0] ?? { posted: 0, published: 0 };
}

/** Which of these bills were cancelled. */
export async function listCancelled(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<Set<number>> {
  const { rows } = await sql<{ bill_id: number }>`
    select bill_id from bills
    where tenant_id = ${tenantId} and bill_id = any(${[...billIds]}::bigint[])
      and status = 'Cancelled'
  `.execute(tx);
  return new Set(rows.map((row) => row.bill_id));
}

export type DocumentRow = {
  document_id: number;
  bill_id: number;
  term_id: number;
  format: 'PDF' | 'HTML';
  setting_version: number;
  template_id: number;
  template_version: number;
  size: number | null;
  /** Hexadecimal. */
  sha256: string | null;
  error: RenderError | null;
  created_at: Temporal.Instant;
  deleted_on: string | null;
};

/** The documents that these bills were published with. */
export async function listPublished(
  tx: Tx,
  tenantId: number,
  billIds: readonly number[],
): Promise<DocumentRow[]> {
  if (billIds.length === 0) return [];
  const { rows } = await sql<DocumentRow>`
    select document_id, bill_id, term_id, format, setting_version, template_id, template_version,
      size, encode(sha256, 'hex') as sha256, error, created_at, deleted_on
    from bill_documents
    where tenant_id = ${tenantId} and bill_id = any(${[...billIds]}::bigint[])
      and format = 'PDF' and error is null
    order by document_id
  `.execute(tx);
  return rows;
}
