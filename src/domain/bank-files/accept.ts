// A bank file is accepted whole or not at all: its lines are stored as Received, those that another
// file has brought as Duplicate. Posting comes after, in chunks.

import { createHash } from 'node:crypto';
import { formatDate } from '../../base/calendar.ts';
import type { Encoding } from '../../base/csv/decode.ts';
import type { Tx } from '../../base/db/pool.ts';
import { AppError } from '../../base/errors.ts';
import { slicing } from '../../base/slices.ts';
import type { Stamp } from '../../base/stamp.ts';
import { takeIds, takeNumbers } from '../tenants/numbers-store.ts';
import type { Tenant } from '../tenants/tenant.ts';
import { readBankCsv } from './bank-csv.ts';
import { readCamt } from './camt.ts';
import {
  countContents,
  findFileByHash,
  insertFile,
  insertLines,
  type KnownAccount,
  listFingerprints,
  listKnownAccounts,
  listMappings,
  lockFiles,
  type NewLine,
  updateFile,
} from './files-store.ts';
import { readMt940 } from './mt940.ts';
import type { BankFormat, Piece, Statement, StatementLine } from './statement.ts';
import { statementsMax } from './statement.ts';

export type SentFile = {
  bankAccountId: number;
  format: BankFormat;
  name: string | null;
  mappingName: string | null;
  encoding: Encoding | null;
  /** May be read more than once. */
  bytes(): AsyncIterable<Uint8Array>;
};

export type Accepted = { bankFileId: number; lines: number; isRepeated: boolean };

type Options = {
  tenant: Pick<Tenant, 'tenantId' | 'currency' | 'currencyDecimals'>;
  today: Temporal.PlainDate;
  stamp: Stamp;
  onProgress?: (lines: number) => void;
};

/** Lines that are stored by one statement. */
const linesAtOnce = 1_000;

export async function acceptFile(tx: Tx, file: SentFile, options: Options): Promise<Accepted> {
  const { tenantId } = options.tenant;
  const accounts = await listKnownAccounts(tx, tenantId);
  if (!accounts.some((one) => one.bank_account_id === file.bankAccountId)) {
    const message = `No bank account has the id ${file.bankAccountId}`;
    throw new AppError('BANK_ACCOUNT_NOT_FOUND', { message, field: 'bankAccountID' });
  }
  const pieces = await readerOf(tx, file, options);
  const sha256 = await hashOf(file);
  await lockFiles(tx, tenantId);
  const { bankAccountId } = file;
  const before = await findFileByHash(tx, tenantId, { bankAccountId, sha256 });
  if (before) return { bankFileId: before.bank_file_id, lines: 0, isRepeated: true };
  const bankFileId = await takeNumbers(tx, tenantId, 'bank-file', 1);
  const head = { bankFileId, bankAccountId, format: file.format, fileName: file.name, sha256 };
  await insertFile(tx, tenantId, head, options.stamp);
  const { lines, duplicates, statements } = await storeLines(tx, pieces, options, {
    bankFileId,
    accountIdOf: accountsByName(accounts, bankAccountId),
  });
  await updateFile(tx, tenantId, bankFileId, { lines, duplicates, statements });
  return { bankFileId, lines, isRepeated: false };
}

async function hashOf(file: SentFile): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of file.bytes()) hash.update(piece);
  return hash.digest('hex');
}

async function readerOf(
  tx: Tx,
  file: SentFile,
  { tenant }: Options,
): Promise<AsyncIterable<Piece>> {
  const { format, mappingName, encoding } = file;
  const money = { currency: tenant.currency, decimals: tenant.currencyDecimals };
  if (format === 'CAMT') return readCamt(file.bytes(), { encoding, money });
  if (format === 'MT940') return readMt940(file.bytes(), { encoding, money });
  if (mappingName === null) {
    const message = 'A CSV file needs mappingName; make-mappings saves one';
    throw new AppError('REQUIRED_FIELD', { message, field: 'mappingName' });
  }
  const wanted = { names: [mappingName], offset: 0, limit: 1 };
  const [mapping] = await listMappings(tx, tenant.tenantId, wanted);
  if (!mapping) {
    const message = `No bank mapping has the name ${mappingName}; make-mappings saves one`;
    throw new AppError('MAPPING_NOT_FOUND', { message, field: 'mappingName' });
  }
  return readBankCsv(file.bytes(), { encoding, money, columns: mapping.columns });
}

/** The bank account that the statement names, otherwise the one that the caller named. */
function accountsByName(
  accounts: readonly KnownAccount[],
  sent: number,
): (name: string | null) => { id: number; key: string } {
  const ids = new Map(accounts.flatMap((one) => one.names.map((name) => [name, one] as const)));
  return (name) => {
    const plain = name?.toUpperCase().replace(/[^A-Z0-9]/g, '') ?? '';
    const found = ids.get(plain)?.bank_account_id;
    if (found !== undefined) return { id: found, key: String(found) };
    return { id: sent, key: plain === '' ? String(sent) : `${sent} ${plain}` };
  };
}

type Place = {
  bankFileId: number;
  accountIdOf: ReturnType<typeof accountsByName>;
};

async function storeLines(
  tx: Tx,
  pieces: AsyncIterable<Piece>,
  options: Options,
  place: Place,
): Promise<{ lines: number; duplicates: number; statements: Statement[] }> {
  const slices = slicing();
  const statements: Statement[] = [];
  let waiting: StatementLine[] = [];
  let lines = 0;
  let duplicates = 0;
  const store = async (batch: readonly StatementLine[]) => {
    const before = lines;
    lines += batch.length;
    duplicates += await storeBatch(tx, batch, options, place, before);
    options.onProgress?.(before + batch.length);
  };
  // While PostgreSQL stores a batch, the next one is read.
  let storing = Promise.resolve();
  try {
    for await (const piece of pieces) {
      waiting.push(...piece.lines);
      statements.push(...piece.statements);
      while (waiting.length >= linesAtOnce) {
        await storing;
        storing = store(waiting.slice(0, linesAtOnce));
        // The failure of a batch is met where it is awaited.
        storing.catch(() => undefined);
        waiting = waiting.slice(linesAtOnce);
      }
      await slices.pause();
    }
  } finally {
    await storing;
  }
  if (waiting.length > 0) await store(waiting);
  return { lines, duplicates, statements: statements.slice(0, statementsMax) };
}

async function storeBatch(
  tx: Tx,
  batch: readonly StatementLine[],
  { tenant, today }: Options,
  { bankFileId, accountIdOf }: Place,
  before: number,
): Promise<number> {
  const { tenantId } = tenant;
  for (const line of batch) assertPast(line, today);
  const accounts = batch.map((line) => accountIdOf(line.account));
  const contents = batch.map((line, index) =>
    line.bankId === null ? contentOf(line, accounts[index]?.key ?? '') : null,
  );
  const wanted = [...new Set(contents.filter((content) => content !== null))];
  const [counts, firstId] = await Promise.all([
    countContents(tx, tenantId, bankFileId, wanted),
    takeIds(tx, tenantId, 'bank-line', batch.length),
  ]);
  const fingerprints = batch.map((line, index) => {
    const content = contents[index] ?? null;
    const { key = '' } = accounts[index] ?? {};
    if (content === null) return hashed([key, line.bankId, line.date, line.amount]);
    const ordinal = (counts.get(content) ?? 0) + 1;
    counts.set(content, ordinal);
    return hashed([content, ordinal]);
  });
  const known = await listFingerprints(tx, tenantId, fingerprints);
  const rows = batch.map(({ fileLine, account, ...line }, index): NewLine => {
    const fingerprint = fingerprints[index] ?? '';
    const status = known.has(fingerprint) ? 'Duplicate' : 'Received';
    known.add(fingerprint);
    const number = before + index + 1;
    const content = contents[index] ?? null;
    const { id: accountId = 0 } = accounts[index] ?? {};
    return {
      ...line,
      id: firstId + index,
      number,
      account: accountId,
      content,
      fingerprint,
      status,
    };
  });
  await insertLines(tx, tenantId, bankFileId, rows);
  return rows.filter((row) => row.status === 'Duplicate').length;
}

function assertPast({ date, fileLine }: StatementLine, today: Temporal.PlainDate): void {
  if (date <= today.toString()) return;
  const shown = formatDate(Temporal.PlainDate.from(date));
  const message = `Line ${fileLine}: the bank's date ${shown} is after today`;
  throw new AppError('DATE_IN_FUTURE', { message, field: `lines[${fileLine}]` });
}

function contentOf({ date, amount, payer, text }: StatementLine, accountKey: string): string {
  return hashed([accountKey, date, amount, payer, text]);
}

/** As many bytes as no two lines of a workspace ever share by chance. */
const hashBytes = 16;

function hashed(parts: readonly (string | number | null)[]): string {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest();
  return digest.subarray(0, hashBytes).toString('hex');
}
