// Lines of bank files: what is still to be posted, what was decided, and lists of them.

import { plainArray, textArray } from '../../base/db/array-text.ts';
import { withHashJoins } from '../../base/db/hash-joins.ts';
import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';
import type { LineStatus, OpenLine, Suggestion } from './bank-line.ts';
import type { BankFormat, Statement } from './statement.ts';

const lineColumns = sql`bank_line_id, bank_account_id, encode(fingerprint, 'hex') as fingerprint,
  line_date::text as line_date, amount, is_reversal, payer, payer_account, text, reference`;

/** Lines of a file that are not posted yet, by their numbers. */
export async function listReceived(
  tx: Tx,
  tenantId: number,
  bankFileId: number,
  { firstId, lastId }: { firstId: number; lastId: number },
): Promise<OpenLine[]> {
  const { rows } = await sql<OpenLine>`
    select ${lineColumns} from bank_lines
    where tenant_id = ${tenantId} and bank_file_id = ${bankFileId}
      and line_number between ${firstId} and ${lastId} and status = 'Received'
    order by line_number
  `.execute(tx);
  return rows;
}

export type DecidedLine = {
  id: number;
  status: LineStatus;
  paymentId: number | null;
  inSuspense: boolean;
  journalId: number | null;
  suggestions: readonly Suggestion[];
  reason: string | null;
};

/** Lines of one status get another one. Returns how many had it still. */
export async function updateDecided(
  tx: Tx,
  tenantId: number,
  lines: readonly DecidedLine[],
  { from, stamp }: { from: LineStatus; stamp: Stamp },
): Promise<number> {
  if (lines.length === 0) return 0;
  // The lines of a chunk follow each other: PostgreSQL reads their range and no other line.
  const ids = lines.map((line) => line.id);
  const [firstId, lastId] = [Math.min(...ids), Math.max(...ids)];
  const all = <Value>(of: (line: DecidedLine) => Value) => lines.map(of);
  const suggestions = all((line) =>
    line.suggestions.length === 0 ? null : JSON.stringify(line.suggestions),
  );
  const update = sql`
    update bank_lines l
    set status = r.status, is_open = r.status in ('Suggested', 'Unmatched'),
      payment_id = r.payment_id, in_suspense = r.in_suspense,
      journal_id = coalesce(r.journal_id, l.journal_id),
      suggestions = coalesce(r.suggestions, '[]')::jsonb, reason = r.reason,
      decided_at = ${stamp.at}, decided_by = ${stamp.by}
    from unnest(
      ${plainArray(ids)}::bigint[],
      ${plainArray(all((line) => line.status))}::text[],
      ${plainArray(all((line) => line.paymentId))}::bigint[],
      ${plainArray(all((line) => line.inSuspense))}::boolean[],
      ${plainArray(all((line) => line.journalId))}::bigint[],
      ${textArray(suggestions)}::text[],
      ${textArray(all((line) => line.reason))}::text[]
    ) as r (line_id, status, payment_id, in_suspense, journal_id, suggestions, reason)
    where l.tenant_id = ${tenantId} and l.bank_line_id between ${firstId} and ${lastId}
      and l.bank_line_id = r.line_id and l.status = ${from}
  `;
  const { count } = await withHashJoins(tx, () => update.execute(tx));
  return count;
}

export type StoredLine = OpenLine & {
  status: LineStatus;
  in_suspense: boolean;
  payment_id: number | null;
};

export async function findLine(
  tx: Tx,
  tenantId: number,
  bankLineId: number,
): Promise<StoredLine | undefined> {
  const { rows } = await sql<StoredLine>`
    select ${lineColumns}, status, in_suspense, payment_id from bank_lines
    where tenant_id = ${tenantId} and bank_line_id = ${bankLineId}
  `.execute(tx);
  return rows[0];
}

export type LineRow = {
  bank_line_id: number;
  bank_file_id: number;
  bank_account_id: number;
  line_date: string;
  amount: string;
  is_reversal: boolean;
  payer: string | null;
  payer_account: string | null;
  text: string | null;
  reference: string | null;
  bank_reference: string | null;
  status: LineStatus;
  payment_id: number | null;
  suggestions: Suggestion[];
  reason: string | null;
  decided_by: string | null;
};

export type LineFilter = {
  bankLineId: number | null;
  bankFileId: number | null;
  status: LineStatus | null;
};

/** Oldest first, as a clerk works through them. */
export async function listLines(
  tx: Tx,
  tenantId: number,
  filter: LineFilter,
  options: { afterId: number | null; offset: number; limit: number },
): Promise<LineRow[]> {
  const rest = options.afterId === null ? sql`true` : sql`bank_line_id > ${options.afterId}`;
  const { rows } = await sql<LineRow>`
    select bank_line_id, bank_file_id, bank_account_id, line_date::text as line_date,
      amount::text as amount, is_reversal, payer, payer_account, text, reference, bank_reference,
      status, payment_id, suggestions, reason, decided_by
    from bank_lines
    where ${linesMatching(tenantId, filter)} and ${rest}
    order by bank_line_id
    limit ${options.limit} offset ${options.offset}
  `.execute(tx);
  return rows;
}

export async function countListed(tx: Tx, tenantId: number, filter: LineFilter): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from bank_lines where ${linesMatching(tenantId, filter)}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

function linesMatching(tenantId: number, filter: LineFilter): Sql {
  const { bankLineId, bankFileId, status } = filter;
  return sql.join(
    [
      sql`tenant_id = ${tenantId}`,
      ...(bankLineId === null ? [] : [sql`bank_line_id = ${bankLineId}`]),
      ...(bankFileId === null ? [] : [sql`bank_file_id = ${bankFileId}`]),
      ...(status === null ? [] : [sql`status = ${status}`]),
      ...(status === 'Suggested' || status === 'Unmatched' ? [sql`is_open`] : []),
    ],
    sql` and `,
  );
}

export type FileRow = {
  bank_file_id: number;
  bank_account_id: number;
  /** GATEWAY: the notices of a gateway and day. */
  format: BankFormat | 'GATEWAY';
  file_name: string | null;
  statements: Statement[];
  lines: number;
  duplicates: number;
  job_id: number | null;
  created_at: Temporal.Instant;
  created_by: string;
};

/** Newest first. */
export async function listFiles(
  tx: Tx,
  tenantId: number,
  bankFileId: number | null,
  options: { beforeId: number | null; offset: number; limit: number },
): Promise<FileRow[]> {
  const isWanted = bankFileId === null ? sql`true` : sql`bank_file_id = ${bankFileId}`;
  const rest = options.beforeId === null ? sql`true` : sql`bank_file_id < ${options.beforeId}`;
  const { rows } = await sql<FileRow>`
    select bank_file_id, bank_account_id, format, file_name, statements, lines, duplicates,
      job_id, created_at, created_by
    from bank_files
    where tenant_id = ${tenantId} and ${isWanted} and ${rest}
    order by bank_file_id desc
    limit ${options.limit} offset ${options.offset}
  `.execute(tx);
  return rows;
}

export async function countFiles(
  tx: Tx,
  tenantId: number,
  bankFileId: number | null,
): Promise<number> {
  const isWanted = bankFileId === null ? sql`true` : sql`bank_file_id = ${bankFileId}`;
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from bank_files where tenant_id = ${tenantId} and ${isWanted}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}
