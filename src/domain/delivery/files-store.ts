// The files of published documents, in their parts.

import { wireDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import { joinFile, type KeptFile, sha256Of } from './document-file.ts';

/** Adds the parts that are not kept yet, and notes that the others are used again. */
export async function saveParts(
  tx: Tx,
  tenantId: number,
  parts: ReadonlyMap<string, Uint8Array>,
  at: Temporal.Instant,
): Promise<void> {
  // Where it is already the next year, the documents belong to that.
  const year = at.add({ hours: 24 }).toZonedDateTimeISO('UTC').year;
  const known = await listKnownParts(tx, tenantId, [...parts.keys()]);
  const current = [...known].filter(([, lastYear]) => lastYear >= year).map(([sha256]) => sha256);
  const older = [...known.keys()].filter((sha256) => !current.includes(sha256)).sort();
  // One that was deleted meanwhile is not among those that were used again: it is added.
  const used = new Set([...current, ...(await useParts(tx, tenantId, older, year))]);
  const added = [...parts.keys()].filter((sha256) => !used.has(sha256)).sort();
  if (added.length === 0) return;
  // Of two that add the same part, one waits for the other: all add them in the same order.
  await sql`
    insert into document_parts (tenant_id, sha256, bytes, last_year)
    select own.tenant_id, sha256(p.bytes), p.bytes, ${year}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join unnest(${added.map((sha256) => hexOf(parts.get(sha256)))}::bytea[]) p (bytes)
    on conflict do nothing
  `.execute(tx);
}

async function listKnownParts(
  tx: Tx,
  tenantId: number,
  hashes: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await sql<{ sha256: string; last_year: number }>`
    select encode(sha256, 'hex') as sha256, last_year from document_parts
    where tenant_id = ${tenantId}
      and sha256 = any(${hashes.map((one) => `\\x${one}`)}::bytea[])
  `.execute(tx);
  return new Map(rows.map((row) => [row.sha256, row.last_year]));
}

/** Once a year for each part. Returns those that are still kept. */
async function useParts(
  tx: Tx,
  tenantId: number,
  hashes: readonly string[],
  year: number,
): Promise<string[]> {
  if (hashes.length === 0) return [];
  const { rows } = await sql<{ sha256: string }>`
    update document_parts set last_year = greatest(last_year, ${year}::smallint)
    where tenant_id = ${tenantId}
      and sha256 = any(${hashes.map((one) => `\\x${one}`)}::bytea[])
    returning encode(sha256, 'hex') as sha256
  `.execute(tx);
  return rows.map((row) => row.sha256);
}

export type NewFile = KeptFile & { documentId: number };

export async function insertFiles(
  tx: Tx,
  tenantId: number,
  files: readonly NewFile[],
): Promise<void> {
  if (files.length === 0) return;
  await sql`
    insert into document_contents (tenant_id, document_id, own, part_offsets, part_hashes)
    select own.tenant_id, f.document_id, f.own, f.offsets::integer[], f.hashes::bytea[]
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join unnest(
      ${files.map((file) => file.documentId)}::bigint[],
      ${files.map((file) => hexOf(file.own))}::bytea[],
      ${files.map(({ parts }) => `{${parts.map((part) => part.offset).join(',')}}`)}::text[],
      ${files.map(({ parts }) => `{${parts.map(quotedHash).join(',')}}`)}::text[]
    ) f (document_id, own, offsets, hashes)
  `.execute(tx);
}

function quotedHash({ sha256 }: { sha256: string }): string {
  return `"\\\\x${sha256}"`;
}

function hexOf(bytes: Uint8Array | undefined): string {
  return `\\x${Buffer.from(bytes ?? []).toString('hex')}`;
}

type FileRow = {
  document_id: number;
  own: Buffer;
  part_offsets: number[];
  /** Hexadecimal. */
  part_hashes: string[];
};

/** Of which the file is wanted. */
type Wanted = {
  document_id: number;
  sha256: string | null;
  /** YYYY-MM-DD, if its years of retention have passed. */
  deleted_on: string | null;
};

/**
 * The files of documents, by their ids. Each is compared with its hash: one that differs is left
 * out.
 */
export async function readFiles(
  tx: Tx,
  tenantId: number,
  documents: readonly Wanted[],
): Promise<Map<number, Buffer>> {
  const ids = documents.map((document) => document.document_id);
  const { rows } = await sql<FileRow>`
    select document_id, own, part_offsets,
      array(select encode(h, 'hex') from unnest(part_hashes) with ordinality p (h, n) order by n)
        as part_hashes
    from document_contents
    where tenant_id = ${tenantId} and document_id = any(${ids}::bigint[])
  `.execute(tx);
  const wanted = new Set(rows.flatMap((row) => row.part_hashes));
  const parts = await readParts(tx, tenantId, [...wanted]);
  const bytesOf = (sha256: string) => parts.get(sha256) ?? Buffer.alloc(0);
  const files = new Map(
    rows.map((row) => [row.document_id, joinFile(keptFile(row), bytesOf)] as const),
  );
  return new Map(
    documents.flatMap(({ document_id: id, sha256 }) => {
      const file = files.get(id);
      return file !== undefined && sha256Of(file) === sha256 ? [[id, file] as const] : [];
    }),
  );
}

export async function readFile(tx: Tx, tenantId: number, document: Wanted): Promise<Buffer> {
  if (document.deleted_on !== null) throw deleted(document.deleted_on);
  const file = (await readFiles(tx, tenantId, [document])).get(document.document_id);
  if (file === undefined) throw new AppError('DOCUMENT_DIFFERS');
  return file;
}

function deleted(on: string): AppError {
  const message = `The document was deleted on ${wireDay(on)}: its years of retention have passed`;
  return new AppError('DOCUMENT_DELETED', { message });
}

function keptFile({ own, part_offsets: offsets, part_hashes: hashes }: FileRow): KeptFile {
  return { own, parts: offsets.map((offset, index) => ({ offset, sha256: hashes[index] ?? '' })) };
}

async function readParts(
  tx: Tx,
  tenantId: number,
  hashes: readonly string[],
): Promise<Map<string, Buffer>> {
  if (hashes.length === 0) return new Map();
  const { rows } = await sql<{ sha256: string; bytes: Buffer }>`
    select encode(sha256, 'hex') as sha256, bytes from document_parts
    where tenant_id = ${tenantId}
      and sha256 = any(${hashes.map((one) => `\\x${one}`)}::bytea[])
  `.execute(tx);
  return new Map(rows.map((row) => [row.sha256, row.bytes]));
}
