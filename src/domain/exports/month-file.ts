// The journals of a month as a file for bookkeeping programs. What it shows never changes after the
// month was closed: accounts appear by their codes, because names can be changed.
import { createHash } from 'node:crypto';
import { csvLines, lineEnd } from '../../base/csv/write.ts';
import { wireDay } from '../../base/days.ts';
import type { Tx } from '../../base/db/pool.ts';
import { amountText } from '../../base/money.ts';
import { lastDayOf } from '../ledger/months.ts';
import { listUnhashedMonths, updateExportHashes } from '../ledger/months-store.ts';
import type { JobTenant } from '../tenants/tenant.ts';
import type { Read } from './export-lines.ts';
import { type JournalExportRow, type JournalPlace, listJournalLines } from './ledger-store.ts';

export const monthFormats = ['CSV', 'IIF'] as const;
export type MonthFormat = (typeof monthFormats)[number];

export const monthContentTypes: Record<MonthFormat, string> = {
  CSV: 'text/csv; charset=utf-8',
  IIF: 'text/plain; charset=utf-8',
};

export function monthFileName(month: Temporal.PlainDate, format: MonthFormat): string {
  return `journals-${month.toString().slice(0, 7)}.${format.toLowerCase()}`;
}

const rowsAtOnce = 5_000;

/** Piece after piece of the file, in flat memory. */
export async function* monthFile(
  read: Read,
  tenant: JobTenant,
  { month, format }: { month: Temporal.PlainDate; format: MonthFormat },
): AsyncGenerator<string> {
  const write = format === 'CSV' ? csvWriter(tenant) : iifWriter(tenant);
  yield write.head;
  const days = { from: month, to: lastDayOf(month) };
  let after: JournalPlace | undefined;
  while (true) {
    const place = { after, limit: rowsAtOnce };
    const rows = await read((tx) => listJournalLines(tx, tenant.tenantId, days, place));
    yield write.rows(rows);
    if (rows.length < rowsAtOnce) break;
    after = rows.at(-1);
  }
  yield write.end();
}

type Writer = { head: string; rows(rows: readonly JournalExportRow[]): string; end(): string };

const names = [
  ...['journalID', 'lineNo', 'postingDate', 'sourceType', 'sourceID', 'description'],
  ...['accountCode', 'component', 'debit', 'credit'],
];

function csvWriter({ currencyDecimals: decimals }: JobTenant): Writer {
  const text = (rows: readonly string[]) => rows.map((line) => `${line}${lineEnd}`).join('');
  return {
    head: text(csvLines([names])),
    rows: (rows) =>
      text(
        csvLines(
          rows.map((row) => {
            const amount = BigInt(row.amount);
            const [debit, credit] = amount > 0n ? [amount, 0n] : [0n, -amount];
            return [
              ...[row.journal_id, row.line_number, wireDay(row.posting_date)],
              ...[row.source_type, row.source_id, row.description, row.account_code, row.component],
              ...[amountText(debit, decimals), amountText(credit, decimals)],
            ];
          }),
        ),
      ),
    end: () => '',
  };
}

const iifHead = [
  ['!TRNS', 'TRNSTYPE', 'DATE', 'ACCNT', 'CLASS', 'AMOUNT', 'DOCNUM', 'MEMO'],
  ['!SPL', 'TRNSTYPE', 'DATE', 'ACCNT', 'CLASS', 'AMOUNT', 'DOCNUM', 'MEMO'],
  ['!ENDTRNS'],
];

/** Intuit's interchange format: a journal is a transaction, whose first line is its head. */
function iifWriter({ currencyDecimals: decimals }: JobTenant): Writer {
  const text = (rows: readonly (readonly string[])[]) =>
    rows.map((cells) => `${cells.join('\t')}${lineEnd}`).join('');
  let open: number | undefined;
  const closing = () => (open === undefined ? [] : [['ENDTRNS']]);
  return {
    head: text(iifHead),
    rows: (rows) =>
      text(
        rows.flatMap((row) => {
          const isFirst = row.journal_id !== open;
          const before = isFirst ? closing() : [];
          open = row.journal_id;
          return [...before, iifLine(isFirst ? 'TRNS' : 'SPL', row, decimals)];
        }),
      ),
    end: () => text(closing()),
  };
}

function iifLine(kind: string, row: JournalExportRow, decimals: number): string[] {
  const [year, month, day] = row.posting_date.split('-');
  const plain = (value: string | null) => (value ?? '').replaceAll(/[\t\r\n"]/g, ' ');
  const amount = amountText(BigInt(row.amount), decimals);
  return [
    ...[kind, 'GENERAL JOURNAL', `${month}/${day}/${year}`, plain(row.account_code)],
    ...[plain(row.component), amount, String(row.journal_id), plain(row.description)],
  ];
}

/** Of the bytes of the file. */
async function hashOfMonth(
  read: Read,
  tenant: JobTenant,
  wanted: { month: Temporal.PlainDate; format: MonthFormat },
): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of monthFile(read, tenant, wanted)) hash.update(piece);
  return hash.digest('hex');
}

/** The nightly job: keeps the hashes of months that were closed since. */
export async function hashClosedMonths(tx: Tx, tenant: JobTenant): Promise<{ hashed: number }> {
  const months = await listUnhashedMonths(tx, tenant.tenantId);
  const read: Read = (work) => work(tx);
  for (const month of months) {
    const hashes: Record<string, string> = {};
    for (const format of monthFormats) {
      hashes[format] = await hashOfMonth(read, tenant, { month, format });
    }
    await updateExportHashes(tx, tenant.tenantId, month, hashes);
  }
  return { hashed: months.length };
}
