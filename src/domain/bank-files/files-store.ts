// Bank files, their lines as they come in, and mappings.

import { plainArray, textArray } from '../../base/db/array-text.ts';
import type { Tx } from '../../base/db/pool.ts';
import { type Sql, sql } from '../../base/db/sql.ts';
import type { Stamp } from '../../base/stamp.ts';
import { ledgerAccounts } from '../ledger/accounts.ts';
import type { LineStatus } from './bank-line.ts';
import type { MappingColumns } from './mapping.ts';
import type { BankFormat, Statement } from './statement.ts';

export async function saveMappings(
  tx: Tx,
  tenantId: number,
  mappings: readonly { name: string; columns: MappingColumns }[],
  stamp: Stamp,
): Promise<void> {
  const rows = mappings.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  await sql`
    insert into bank_mappings (tenant_id, name, columns, modified_at, modified_by)
    select own.tenant_id, r.name, r.columns, ${stamp.at}, ${stamp.by}
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r (name text, columns jsonb)
    on conflict (tenant_id, name) do update
      set columns = excluded.columns, modified_at = excluded.modified_at,
        modified_by = excluded.modified_by
  `.execute(tx);
}

export type MappingRow = {
  name: string;
  columns: MappingColumns;
  modified_at: Temporal.Instant;
  modified_by: string;
};

/** By name, or the mappings of the names. */
export async function listMappings(
  tx: Tx,
  tenantId: number,
  options: { names?: readonly string[]; afterName?: string | null; offset: number; limit: number },
): Promise<MappingRow[]> {
  const { names, afterName = null } = options;
  const isWanted = names ? sql`name = any(${names}::text[])` : sql`true`;
  const rest = afterName === null ? sql`true` : sql`name > ${afterName}`;
  const { rows } = await sql<MappingRow>`
    select name, columns, modified_at, modified_by from bank_mappings
    where tenant_id = ${tenantId} and ${isWanted} and ${rest}
    order by name
    limit ${options.limit} offset ${options.offset}
  `.execute(tx);
  return rows;
}

export async function countMappings(
  tx: Tx,
  tenantId: number,
  names: readonly string[] | undefined,
): Promise<number> {
  const isWanted = names ? sql`name = any(${names}::text[])` : sql`true`;
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from bank_mappings where tenant_id = ${tenantId} and ${isWanted}
  `.execute(tx);
  return rows[0]?.count ?? 0;
}

/** A bank account of the workspace, and where its money is in the books. */
export type KnownAccount = {
  bank_account_id: number;
  /** IBAN and account number, letters and digits only. */
  names: string[];
  cash_account_id: number;
  business_unit_id: number;
};

export async function listKnownAccounts(tx: Tx, tenantId: number): Promise<KnownAccount[]> {
  const { rows } = await sql<KnownAccount>`
    select a.bank_account_id,
      array_remove(array[
        nullif(upper(regexp_replace(a.iban, '[^A-Za-z0-9]', '', 'g')), ''),
        nullif(upper(regexp_replace(a.account_number, '[^A-Za-z0-9]', '', 'g')), '')
      ], null) as names,
      coalesce(c.cash_account_id, ${ledgerAccounts.cash}) as cash_account_id, c.business_unit_id
    from bank_accounts a
    join pricing_contexts c on c.tenant_id = ${tenantId} and c.context_id = a.context_id
    where a.tenant_id = ${tenantId}
    order by a.bank_account_id
  `.execute(tx);
  return rows;
}

/** Files of a workspace are accepted one after the other: lines of two may be the same. */
export async function lockFiles(tx: Tx, tenantId: number): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(hashtextextended('bank files', tenant_id))
    from tenants where tenant_id = ${tenantId}
  `.execute(tx);
}

export async function findFileByHash(
  tx: Tx,
  tenantId: number,
  key: { bankAccountId: number; sha256: string },
): Promise<{ bank_file_id: number } | undefined> {
  const { rows } = await sql<{ bank_file_id: number }>`
    select bank_file_id from bank_files
    where tenant_id = ${tenantId} and bank_account_id = ${key.bankAccountId}
      and sha256 = decode(${key.sha256}, 'hex')
  `.execute(tx);
  return rows[0];
}

export async function insertFile(
  tx: Tx,
  tenantId: number,
  file: {
    bankFileId: number;
    bankAccountId: number;
    format: BankFormat;
    fileName: string | null;
    sha256: string;
  },
  stamp: Stamp,
): Promise<void> {
  await sql`
    insert into bank_files (tenant_id, bank_file_id, bank_account_id, format, file_name, sha256,
      created_at, created_by)
    values (${tenantId}, ${file.bankFileId}, ${file.bankAccountId}, ${file.format},
      ${file.fileName}, decode(${file.sha256}, 'hex'), ${stamp.at}, ${stamp.by})
  `.execute(tx);
}

export async function updateFile(
  tx: Tx,
  tenantId: number,
  bankFileId: number,
  found: { statements: readonly Statement[]; lines: number; duplicates: number },
): Promise<void> {
  await sql`
    update bank_files
    set statements = ${JSON.stringify(found.statements)}::jsonb, lines = ${found.lines},
      duplicates = ${found.duplicates}
    where tenant_id = ${tenantId} and bank_file_id = ${bankFileId}
  `.execute(tx);
}

export async function updateFileJob(
  tx: Tx,
  tenantId: number,
  bankFileId: number,
  jobId: number,
): Promise<void> {
  await sql`
    update bank_files set job_id = ${jobId}
    where tenant_id = ${tenantId} and bank_file_id = ${bankFileId}
  `.execute(tx);
}

export type NewLine = {
  id: number;
  number: number;
  account: number;
  content: string | null;
  fingerprint: string;
  date: string;
  amount: number;
  isReversal: boolean;
  payer: string | null;
  payerAccount: string | null;
  text: string | null;
  reference: string | null;
  bankId: string | null;
  status: 'Received' | 'Duplicate';
};

export async function insertLines(
  tx: Tx,
  tenantId: number,
  bankFileId: number,
  lines: readonly NewLine[],
): Promise<void> {
  const all = <Value>(of: (line: NewLine) => Value) => lines.map(of);
  await sql`
    insert into bank_lines (tenant_id, bank_line_id, bank_file_id, line_number, bank_account_id,
      content_hash, fingerprint, line_date, amount, is_reversal, payer, payer_account, text,
      reference, bank_reference, status)
    select own.tenant_id, r.line_id, ${bankFileId}, r.number, r.account, decode(r.content, 'hex'),
      decode(r.fingerprint, 'hex'), r.date, r.amount, r.is_reversal, r.payer, r.payer_account,
      r.text, r.reference, r.bank_id, r.status
    from (select tenant_id from tenants where tenant_id = ${tenantId}) own
    cross join unnest(
      ${plainArray(all((line) => line.id))}::bigint[],
      ${plainArray(all((line) => line.number))}::integer[],
      ${plainArray(all((line) => line.account))}::bigint[],
      ${plainArray(all((line) => line.content))}::text[],
      ${plainArray(all((line) => line.fingerprint))}::text[],
      ${textArray(all((line) => line.date))}::date[],
      ${plainArray(all((line) => line.amount))}::bigint[],
      ${plainArray(all((line) => line.isReversal))}::boolean[],
      ${textArray(all((line) => line.payer))}::text[],
      ${textArray(all((line) => line.payerAccount))}::text[],
      ${textArray(all((line) => line.text))}::text[],
      ${textArray(all((line) => line.reference))}::text[],
      ${textArray(all((line) => line.bankId))}::text[],
      ${plainArray(all((line) => line.status))}::text[]
    ) as r (line_id, number, account, content, fingerprint, date, amount, is_reversal, payer,
      payer_account, text, reference, bank_id, status)
  `.execute(tx);
}

/**
 * How many lines of each content the file has so far. Each content is looked up by the index: with
 * `= any` PostgreSQL would compare every line of the file with every content.
 */
export async function countContents(
  tx: Tx,
  tenantId: number,
  bankFileId: number,
  contents: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await sql<{ content: string; count: number }>`
    select encode(wanted.hash, 'hex') as content, stored.count
    from unnest(${byteaLiterals(contents)}) as wanted (hash)
    cross join lateral (
      select count(*) as count from bank_lines
      where tenant_id = ${tenantId} and bank_file_id = ${bankFileId}
        and content_hash = wanted.hash
    ) stored
    where stored.count > 0
  `.execute(tx);
  return new Map(rows.map((row) => [row.content, row.count]));
}

export async function listFingerprints(
  tx: Tx,
  tenantId: number,
  fingerprints: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql<{ fingerprint: string }>`
    select encode(fingerprint, 'hex') as fingerprint from bank_lines
    where tenant_id = ${tenantId} and fingerprint = any(${byteaLiterals(fingerprints)})
      and not is_duplicate
  `.execute(tx);
  return new Set(rows.map((row) => row.fingerprint));
}

/** Of hexadecimal digits. */
function byteaLiterals(values: readonly string[]): Sql {
  return sql`${`{${values.map((value) => `"\\\\x${value}"`).join(',')}}`}::bytea[]`;
}

export type LineCounts = Record<LineStatus, number>;

export async function countLines(
  tx: Tx,
  tenantId: number,
  bankFileId: number,
): Promise<LineCounts> {
  const { rows } = await sql<{ status: LineStatus; count: number }>`
    select status, count(*) as count from bank_lines
    where tenant_id = ${tenantId} and bank_file_id = ${bankFileId}
    group by status
  `.execute(tx);
  const counts = { Received: 0, Posted: 0, Suggested: 0, Unmatched: 0, Ignored: 0, Duplicate: 0 };
  for (const { status, count } of rows) counts[status] = count;
  return counts;
}

export async function getFileJob(
  tx: Tx,
  tenantId: number,
  bankFileId: number,
): Promise<{ lines: number; job_id: number | null }> {
  const { rows } = await sql<{ lines: number; job_id: number | null }>`
    select lines, job_id from bank_files
    where tenant_id = ${tenantId} and bank_file_id = ${bankFileId}
  `.execute(tx);
  const [row] = rows;
  if (!row) throw new Error(`no bank file ${bankFileId}`);
  return row;
}
