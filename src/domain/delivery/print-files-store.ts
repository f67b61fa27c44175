// What is kept of the files for the printer.

import type { Tx } from '../../base/db/pool.ts';
import { sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';

export type NewPrintFile = {
  termId: number;
  jobId: number;
  part: number;
  name: string;
  firstDeliveryId: number;
  lastDeliveryId: number;
  bills: number;
  size: number;
  /** Hexadecimal. */
  sha256: string;
};

export async function insertPrintFile(
  tx: Tx,
  tenantId: number,
  file: NewPrintFile,
  stamp: Stamp,
): Promise<void> {
  await sql`
    insert into print_files (tenant_id, term_id, job_id, part, name,
      first_delivery_id, last_delivery_id, bills, size, sha256, created_at, created_by)
    values (${tenantId}, ${file.termId}, ${file.jobId}, ${file.part},
      ${file.name}, ${file.firstDeliveryId}, ${file.lastDeliveryId}, ${file.bills}, ${file.size},
      decode(${file.sha256}, 'hex'), ${stamp.at}, ${stamp.by})
  `.execute(tx);
}

export type PrintFileRow = {
  term_id: number;
  job_id: number;
  part: number;
  name: string;
  first_delivery_id: number;
  last_delivery_id: number;
  bills: number;
  size: number;
  /** Hexadecimal. */
  sha256: string;
  created_at: Temporal.Instant;
  created_by: string;
};

const columns = sql.raw(`term_id, job_id, part, name, first_delivery_id,
  last_delivery_id, bills, size, encode(sha256, 'hex') as sha256, created_at, created_by`);

export async function findPrintFile(
  tx: Tx,
  tenantId: number,
  wanted: { jobId: number; part: number },
): Promise<PrintFileRow | undefined> {
  const { rows } = await sql<PrintFileRow>`
    select ${columns} from print_files
    where tenant_id = ${tenantId} and job_id = ${wanted.jobId} and part = ${wanted.part}
  `.execute(tx);
  return rows[0];
}

/** In the order in which they were made. */
export async function listPrintFiles(
  tx: Tx,
  tenantId: number,
  filter: { termId: number | null },
  window: { after: PrintFileRow | undefined; offset: number; limit: number },
): Promise<PrintFileRow[]> {
  const { rows } = await sql<PrintFileRow>`
    select ${columns} from print_files
    where ${matches(tenantId, filter)}
      and (job_id, part) > (${window.after?.job_id ?? 0}, ${window.after?.part ?? 0})
    order by job_id, part
    limit ${window.limit} offset ${window.offset}
  `.execute(tx);
  return rows;
}

export async function countPrintFiles(
  tx: Tx,
  tenantId: number,
  filter: { termId: number | null },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from print_files where ${matches(tenantId, filter)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

function matches(tenantId: number, { termId }: { termId: number | null }) {
  const ofTerm = termId === null ? sql`` : sql`and term_id = ${termId}`;
  return sql`tenant_id = ${tenantId} ${ofTerm}`;
}

/** The bills of a file in the order of printing. */
export async function listPrintedBills(
  tx: Tx,
  tenantId: number,
  file: PrintFileRow,
): Promise<number[]> {
  const { rows } = await sql<{ bill_id: number }>`
    select bill_id from deliveries
    where tenant_id = ${tenantId} and term_id = ${file.term_id} and status = 'Sent'
      and delivery_id between ${file.first_delivery_id} and ${file.last_delivery_id}
      and channel = 'Print' and reason = ${file.name}
    order by delivery_id
  `.execute(tx);
  return rows.map((row) => row.bill_id);
}
