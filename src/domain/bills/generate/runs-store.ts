import type { Tx } from '../../../base/db/pool.ts';
import { sql } from '../../../base/db/sql.ts';
import type { PinnedVersions } from '../../pricing/price-books.ts';
import type { SeriesFormat } from '../../tenants/number-format.ts';

/** Consecutive numbers of a series, and how they are printed. */
export type NumberRange = { seriesId: number; first: number; format: SeriesFormat };

/** What was set aside for posting the bills of a run. */
export type Reservation = {
  numbers: NumberRange;
  firstEntry: number;
  firstJournal: number;
  /** Bills to be posted, and those left out. */
  bills: number;
  skipped: number;
  /** YYYY-MM-DD. */
  postingDate: string;
  /** First and last bill of each part, its bills, and the subscriptions in the parts before. */
  ranges: [number, number, number, number][];
};

export type RunRow = {
  run_number: number;
  job_id: number;
  bill_id: number | null;
  book_version: number;
  versions: PinnedVersions;
  first_bill_id: number | null;
  part_size: number;
  started_at: Temporal.Instant;
  finished_at: Temporal.Instant | null;
  totals: RunTotals | null;
  reserved: Reservation | null;
  generated_by: string;
};

/** Sums over the bills of a run; amounts are minor units as text. */
export type RunTotals = {
  subscriptions: number;
  bills: number;
  errors: number;
  holds: number;
  currentCharges: string;
  taxAmount: string;
  arrears: string;
  payable: string;
  components: Record<string, { label: string; amount: string }>;
  usage: Record<string, { unit: string | null; quantity: string }>;
};

const columns = sql.raw(`run_number, job_id, bill_id, book_version, versions, first_bill_id,
  part_size, started_at, finished_at, totals, reserved, generated_by`);

export type NewRun = Pick<
  RunRow,
  'run_number' | 'job_id' | 'bill_id' | 'book_version' | 'versions' | 'first_bill_id' | 'part_size'
>;

export async function insertRun(
  tx: Tx,
  tenantId: number,
  termId: number,
  run: NewRun,
  stamp: { at: Temporal.Instant; by: string },
): Promise<void> {
  await sql`
    insert into bill_runs (tenant_id, term_id, run_number, job_id, bill_id, book_version, versions,
      first_bill_id, part_size, started_at, generated_by)
    values (${tenantId}, ${termId}, ${run.run_number}, ${run.job_id}, ${run.bill_id},
      ${run.book_version}, ${JSON.stringify(run.versions)}::jsonb, ${run.first_bill_id},
      ${run.part_size}, ${stamp.at}, ${stamp.by})
  `.execute(tx);
}

export async function findRun(
  tx: Tx,
  tenantId: number,
  key: { termId: number; runNumber: number },
): Promise<RunRow | undefined> {
  const { rows } = await sql<RunRow>`
    select ${columns} from bill_runs
    where tenant_id = ${tenantId} and term_id = ${key.termId} and run_number = ${key.runNumber}
  `.execute(tx);
  return rows[0];
}

/** The newest that made all bills of the term. */
export async function findWholeRun(
  tx: Tx,
  tenantId: number,
  termId: number,
): Promise<RunRow | undefined> {
  const { rows } = await sql<RunRow>`
    select ${columns} from bill_runs
    where tenant_id = ${tenantId} and term_id = ${termId} and bill_id is null
    order by run_number desc
    limit 1
  `.execute(tx);
  return rows[0];
}

/** The newest totals of the term before a run. */
export async function findTotalsBefore(
  tx: Tx,
  tenantId: number,
  key: { termId: number; runNumber: number },
): Promise<RunTotals | undefined> {
  const { rows } = await sql<{ totals: RunTotals }>`
    select totals from bill_runs
    where tenant_id = ${tenantId} and term_id = ${key.termId} and run_number < ${key.runNumber}
      and totals is not null
    order by run_number desc
    limit 1
  `.execute(tx);
  return rows[0]?.totals;
}

/**
 * True if this login generated bills of the term and the workspace requires another login to post.
 */
export async function isLeftToOthers(
  tx: Tx,
  tenantId: number,
  termId: number,
  name: string,
): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from bill_runs r
      where r.tenant_id = ${tenantId} and r.term_id = ${termId} and r.generated_by = ${name}
    ) as found
    from tenants where tenant_id = ${tenantId} and separates_duties
  `.execute(tx);
  return rows[0]?.found ?? false;
}

export async function finishRun(
  tx: Tx,
  tenantId: number,
  key: { termId: number; runNumber: number },
  end: { at: Temporal.Instant; totals: RunTotals },
): Promise<void> {
  await sql`
    update bill_runs
    set finished_at = ${end.at}, totals = ${JSON.stringify(end.totals)}::jsonb
    where tenant_id = ${tenantId} and term_id = ${key.termId} and run_number = ${key.runNumber}
  `.execute(tx);
}

/** Of the terms that are being posted at present. */
export async function listReservations(tx: Tx, tenantId: number): Promise<Reservation[]> {
  const { rows } = await sql<{ reserved: Reservation }>`
    select r.reserved
    from terms t
    join bill_runs r on r.tenant_id = ${tenantId} and r.term_id = t.term_id
      and r.run_number = t.run_number
    where t.tenant_id = ${tenantId} and t.stage = 'Posting' and r.reserved is not null
  `.execute(tx);
  return rows.map((row) => row.reserved);
}

export async function updateReservation(
  tx: Tx,
  tenantId: number,
  key: { termId: number; runNumber: number },
  reserved: Reservation | null,
): Promise<void> {
  await sql`
    update bill_runs
    set reserved = ${reserved === null ? null : JSON.stringify(reserved)}::jsonb
    where tenant_id = ${tenantId} and term_id = ${key.termId} and run_number = ${key.runNumber}
  `.execute(tx);
}
